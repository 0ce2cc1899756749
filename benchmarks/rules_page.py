"""docs/results/rules.md, from the figures of benchmarks/rules.py."""

from typing import Any

from nmspeller.runtime.rules import RULES
from page import table
from rules_text import ENOUGH, FIRST_READING

HEAD = """\
# Rules

Written by `benchmarks/rules.py`. A sample of what each rule finds in running text was read and judged: right
means that the text does break the rule, and that the correction is right. In parentheses the lower end of the
95 % interval. Recall is over own wrong sentences (`tests/runtime/rules/wrong_sentences.tsv`). Rules of the
group typography are not on by default, however precise they are.

## Text that no rule was built with

News, essays, fiction, dialogue and technical text that neither the rules nor their word lists were fitted to;
only the word counts of `idiom` come from it, but for 16 million characters, in which all of its 41 matches
were right. The rules that are on by default, and `term_variants`, were read twice. The first reading, in up
to {first_reading} million characters, showed false alarms, and the rules were mended. The second reading, of
up to {enough} matches in the text after those, is of the rules as they are now. Where a rule was mended after
that, or is too rare for two readings, no unread text was left: an asterisk marks all matches that were judged
before the last mend and are still found, a figure that flatters the rule. Later exceptions
were made for sentences that readers had written, not for this text; those that lost right matches in it were
narrowed again.

{unseen}

Most false alarms were two words that meet (跟|本王, 节约|三百元, 三十公里|上下班), names (的黎波里),
stutters in dialogue, and dates that are spoken of because they are impossible: 15 of the 22 right matches of
`impossible_date` in the first reading are people who mock one carton of milk dated 2月30日. They were counted
as right, because there is no such date.

`doubled_character` was read and mended several times. In all of these readings together 541 of 551 matches of
的的 were right (98.2 %), and 24 of 32 of 了了 and 着着, which it no longer finds. The others now need a
statement around them; of those that were read after this mend, 19 of 19 were right. In 2.8 million characters
of sentences of the pairs, 33 of its 36 matches were right, with 的的 27 of 28; 被|被告 was mended after that.
The rule is just at the limit of 98 %.

Then 7.7 million characters of sentences that annotators had corrected were read, as they were before and
after, of the sets that no rule was built with. A match was judged right where the annotators had made the
same correction, and read otherwise. These are the verdicts on the rules as they were; what was mended
afterwards (快的|的, 或或, 厅级以上, 拨放) counts as wrong. Two of the three false alarms of
`doubled_character` are gone; it was right in 121 of the other 122.

{sentences}

`term_variants` is off: a document of the corpus may have several writers, and 其它 beside 其他 may be meant.

## Text that the rules were also built with

{millions:.1f} million characters of news, essays, fiction and technical text. Exceptions were made, and forms
of `common_word` and other rules were dropped, after this text was read, so its figures flatter the rules. In
3.1 million characters of other text, sentences that annotators had corrected, 101 of the 105 matches of
`common_word` were mistakes that they had missed; three forms were dropped for the other four. Since
`mixed_width` speaks up in texts with as many full-width numbers as half-width ones, 30 of its new matches
were read: 27 were right. The others changed half of ５０％, ３％ and Ｆ—１４; they were mended, and 30 of 30
matches that were drawn after that were right.
"""


def page(found: dict[str, Any]) -> str:
    """docs/results/rules.md."""
    head = HEAD.format(
        enough=ENOUGH,
        first_reading=FIRST_READING // 1_000_000,
        unseen=page_of_unseen(found["unseen"]),
        sentences=page_of_sentences(found["sentences"]),
        millions=found["million_characters"],
    )
    rows = [
        [
            f"`{name}`",
            RULES[name].group.value,
            "on" if RULES[name].on_by_default else "off",
            f"{rule['matches_per_million']:.1f}",
            right_of(rule),
            "–" if rule["false_alarms_per_million"] is None else f"{rule['false_alarms_per_million']:.2f}",
            f"{100 * rule['recall']:.0f} % of {rule['wrong_sentences']}",
        ]
        for name, rule in found["rules"].items()
    ]
    columns = ["rule", "group", "by default", "matches per million", "judged right"]
    return f"{head}\n{table([*columns, 'false alarms per million', 'recall'], rows)}\n"


def page_of_unseen(found: dict[str, Any]) -> str:
    """The table of both readings."""
    rows = [
        [
            f"`{name}`",
            "on" if RULES[name].on_by_default else "off",
            right_of(rule["first_reading"]),
            f"{rule['million_characters']:.0f}",
            f"{rule['matches_per_million']:.2f}",
            right_of(rule) + ("" if rule["is_fresh"] or not rule["judged"] else " \\*"),
        ]
        for name, rule in found.items()
    ]
    columns = ["rule", "by default", "first reading, before the mends", "now: million characters"]
    return table([*columns, "matches per million", "judged right"], rows)


def page_of_sentences(found: dict[str, Any]) -> str:
    """The table of the sentences that annotators corrected."""
    return table(["rule", "judged right"], [[f"`{name}`", right_of(rule)] for name, rule in found.items()])


def right_of(judged: dict[str, Any]) -> str:
    if not judged["judged"]:
        return "none judged"
    least = 100 * judged["precision_at_least"]
    return f"{judged['judged_right']} of {judged['judged']} (≥ {least:.0f} %)"
