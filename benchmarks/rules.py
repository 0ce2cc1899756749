"""How often each rule speaks up in correct text, how often it is right then, and what it finds in wrong text.

    python benchmarks/rules.py DATA [--show RULE] [--judge RULE VERDICTS]

DATA is the folder of the corpus and the pairs. Correct text is 22 million characters out of the middle of the
corpus's first part, which neither scripts/build_rule_words.py nor who wrote the rules has seen before, the
held-out lines of all parts, in documents of up to 30 lines, and the sentences in which the annotators of the
pairs found nothing; the latter two were read while the rules were written.

No corpus is free of mistakes, so a person judges what the rules find: `--show` prints up to 100 matches that
nobody has judged, and `--judge` takes a verdict for each of them in a file, y or n a line, and keeps it by
the match's hash in benchmarks/rules_judged.json; the text itself is not kept. A match is right (y) if the
text breaks the rule as it is explained to the user. Wrong text is tests/runtime/rules/wrong_sentences.tsv.

Writes docs/results/rules.md and its figures (`--again`: the page alone): by rule, matches and judged false
alarms per million characters, precision with the lower end of its 95 % interval (Wilson), recall, seconds
per million characters, and how many times longer ten times the text takes, in time of the processor.
"""

import argparse
import hashlib
import json
import random
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from nmspeller.lab.data.corpus import BLOCK_LINES, corpus_files, is_held_out, read_lines
from nmspeller.runtime.rules import RULES, Rule, RuleMatch, apply_fixes, find
from nmspeller.text.protect import protected_spans
from page import PAGES, read_figures, table, write_figures, write_page

ROOT = Path(__file__).parents[1]
JUDGED = ROOT / "benchmarks/rules_judged.json"
WRONG = ROOT / "tests/runtime/rules/wrong_sentences.tsv"
UNREAD = 10_000_000, 32_000_000
CONTEXT = 12
SAMPLE = 100

HEAD = """\
# Rules

Written by `benchmarks/rules.py`. Matches of each rule in {millions:.1f} million characters of text that is
taken to be correct: news, essays, fiction and technical text. A sample of the matches was read and judged:
right means that the text does break the rule. In parentheses the lower end of the 95 % interval. Recall is
over own wrong sentences (`tests/runtime/rules/wrong_sentences.tsv`). Rules of the group typography are not on
by default, however precise they are.

The forms of `common_word` were looked up in this text, too, and those that proved to be right were dropped.
In 3.1 million characters of other text, sentences that annotators had corrected, 101 of its 105 matches were
mistakes that they had missed; three forms were dropped for the other four.
"""

Judged = dict[str, dict[str, str]]


class Finding(NamedTuple):
    """A match with what stands around it, and the hash of both."""

    digest: str
    shown: str


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--again", action="store_true", help="write the page from an earlier rules.json")
    parser.add_argument("--show", metavar="RULE")
    parser.add_argument("--judge", nargs=2, metavar=("RULE", "VERDICTS"))
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    if options.again:
        write_page("rules", page(read_figures("rules", options.out)), options.out)
        return
    judged: Judged = json.loads(JUDGED.read_text("utf-8")) if JUDGED.exists() else {}
    texts = list(documents(options.data))
    if options.show:
        found = findings(texts, [RULES[options.show]])[options.show]
        print("\n".join(finding.shown for finding in sample(found, judged.get(options.show, {}))))
    elif options.judge:
        rule, verdicts = options.judge
        judged[rule] = {
            **judged.get(rule, {}),
            **judge(findings(texts, [RULES[rule]])[rule], judged.get(rule, {}), verdicts),
        }
        JUDGED.write_text(json.dumps(judged, indent=1, sort_keys=True) + "\n", "utf-8")
    else:
        result = report(texts, judged)
        write_figures("rules", result, options.out)
        write_page("rules", page(result), options.out)
        print(json.dumps(result, indent=1))


def page(found: dict[str, Any]) -> str:
    """docs/results/rules.md."""
    rows = []
    for name, rule in found["rules"].items():
        right = f"{rule['judged_right']} of {rule['judged']}" if rule["judged"] else "none judged"
        least = rule["precision_at_least"]
        rows.append(
            [
                f"`{name}`",
                RULES[name].group.value,
                "on" if RULES[name].on_by_default else "off",
                f"{rule['matches_per_million']:.1f}",
                right + (f" (≥ {100 * least:.0f} %)" if least is not None else ""),
                "–"
                if rule["false_alarms_per_million"] is None
                else f"{rule['false_alarms_per_million']:.2f}",
                f"{100 * rule['recall']:.0f} % of {rule['wrong_sentences']}",
            ]
        )
    head = [
        "rule",
        "group",
        "by default",
        "matches per million",
        "judged right",
        "false alarms per million",
        "recall",
    ]
    return f"{HEAD.format(millions=found['million_characters'])}\n{table(head, rows)}\n"


def documents(data: Path) -> Iterator[str]:
    """Correct text."""
    files = corpus_files(data / "corpus")
    lines = list(read_lines(files[0]))
    starts = list(accumulate(map(len, lines)))
    first, last = (bisect(starts, place) for place in UNREAD)
    yield from _blocks((number, lines[number]) for number in range(first, last))
    for path in files:
        numbered = enumerate(read_lines(path))
        yield from _blocks(
            (number, line)
            for number, line in numbered
            if is_held_out(number) and not (path == files[0] and first <= number < last)
        )
    for path in sorted((data / "pairs").glob("*.clean.txt")):
        yield from read_lines(path)


def _blocks(numbered: Iterable[tuple[int, str]]) -> Iterator[str]:
    for _, block in groupby(numbered, lambda each: each[0] // BLOCK_LINES):
        yield "\n".join(line for _, line in block)


def findings(texts: Iterable[str], rules: Iterable[Rule]) -> dict[str, list[Finding]]:
    """By rule, what it finds in all texts; equal findings are counted as often as they occur."""
    found: dict[str, list[Finding]] = {rule.id: [] for rule in rules}
    for text in texts:
        protected = protected_spans(text)
        for rule in found:
            found[rule] += (_finding(text, match) for match in RULES[rule].matches(text, protected))
    return found


def _finding(text: str, match: RuleMatch) -> Finding:
    before = text[max(0, match.offset - CONTEXT) : match.offset]
    after = text[match.stop : match.stop + CONTEXT]
    shown = f"{before}[{match.source}|{match.target}]{after}".replace("\n", "⏎")
    return Finding(hashlib.sha256(f"{match.rule} {shown}".encode(errors="replace")).hexdigest()[:16], shown)


def sample(found: list[Finding], judged: dict[str, str]) -> list[Finding]:
    """Up to 100 different findings that nobody has judged, always the same."""
    new = sorted({finding for finding in found if finding.digest not in judged})
    return random.Random(0).sample(new, min(SAMPLE, len(new)))


def judge(found: list[Finding], judged: dict[str, str], verdicts: str) -> dict[str, str]:
    """The verdicts of a file, by the hash of what was shown."""
    lines = Path(verdicts).read_text("utf-8").split()
    shown = sample(found, judged)
    if len(lines) != len(shown) or not set(lines) <= {"y", "n"}:
        raise SystemExit(f"{verdicts} must have {len(shown)} lines, each y or n.")
    return {finding.digest: verdict for finding, verdict in zip(shown, lines, strict=True)}


def report(texts: list[str], judged: Judged) -> dict[str, object]:
    """What docs/results/data/rules.json holds."""
    millions = sum(map(len, texts)) / 1e6
    found = findings(texts, RULES.values())
    on = [rule for rule in RULES.values() if rule.on_by_default]
    together = sum(len(find(text, protected_spans(text), on)) for text in texts)
    return {
        "million_characters": round(millions, 3),
        "matches_per_million_of_all_that_are_on": round(together / millions, 2),
        "rules": {
            rule.id: {
                "on_by_default": rule.on_by_default,
                **precision(found[rule.id], judged.get(rule.id, {}), millions),
                **recall(rule),
                **speed(texts, rule),
            }
            for rule in RULES.values()
        },
    }


def precision(found: list[Finding], judged: dict[str, str], millions: float) -> dict[str, float | None]:
    """How many matches there are, and how many of those judged (that the rule still finds) are right."""
    verdicts = Counter(judged[finding.digest] for finding in set(found) if finding.digest in judged)
    total, right = verdicts.total(), verdicts["y"]
    share = right / total if total else None
    return {
        "matches": len(found),
        "matches_per_million": round(len(found) / millions, 2),
        "judged": total,
        "judged_right": right,
        "precision": None if share is None else round(share, 4),
        "precision_at_least": round(_wilson_lower(right, total), 4) if total else None,
        "false_alarms_per_million": None if share is None else round(len(found) * (1 - share) / millions, 2),
    }


def _wilson_lower(right: int, total: int, z: float = 1.96) -> float:
    share = right / total
    centre = share + z * z / (2 * total)
    spread = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (centre - spread) / (1 + z * z / total)


def recall(rule: Rule) -> dict[str, float]:
    """How many of the wrong sentences the rule sets right, or hints at where nobody could set them right."""
    rows = [line.split("\t") for line in WRONG.read_text("utf-8").splitlines()]
    caught = written = 0
    for name, wrong, right, *_ in rows:
        if name == rule.id:
            written += 1
            matches = list(rule.matches(wrong, protected_spans(wrong)))
            caught += bool(matches) and apply_fixes(wrong, matches) == (right or wrong)
    return {"wrong_sentences": written, "recall": round(caught / written, 4)}


def speed(texts: list[str], rule: Rule) -> dict[str, float]:
    """Seconds for a million characters in one text, and how much longer that takes than a tenth of it."""
    text = "\n".join(texts[:10_000])[:1_000_000]
    seconds = []
    for length in (len(text) // 10, len(text)):
        protected = protected_spans(text[:length])
        start = time.process_time()
        list(rule.matches(text[:length], protected))
        seconds.append(time.process_time() - start)
    short, long = seconds
    return {"seconds_per_million": round(long, 3), "times_for_ten_times_the_text": round(long / short, 1)}


if __name__ == "__main__":
    main()
