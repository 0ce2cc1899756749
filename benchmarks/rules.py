"""How often each rule speaks up in correct text, how often it is right then, and what it finds in wrong text.

    python benchmarks/rules.py DATA [--show RULE] [--judge RULE VERDICTS] [--unseen | --sentences]

DATA is the folder of the corpus and the pairs; rules_text.py says which parts of it are read. One text was
also used for building the rules, the unseen one was not. Documents have up to 30 lines.

No corpus is free of mistakes, so a person judges what the rules find: `--show` prints up to 100 matches that
nobody has judged, and `--judge` takes a verdict for each of them in a file, y or n a line, and keeps it by
the match's hash in benchmarks/rules_judged.json, or with `--unseen` and `--sentences` (those that annotators
corrected) in rules_judged_unseen.json; the text itself is not kept. A match is right (y) if the text breaks
the rule as it is explained to the user and the correction is right. Wrong text is
tests/runtime/rules/wrong_sentences.tsv.

Writes docs/results/rules.md and its figures (`--again`: the page alone): by rule, matches and judged false
alarms per million characters, precision with the lower end of its 95 % interval (Wilson), recall, seconds
per million characters, and how many times longer ten times the text takes, in time of the processor.
"""

import argparse
import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Container, Iterable
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from nmspeller.runtime.rules import RULES, Rule, RuleMatch, apply_fixes, find
from nmspeller.text.protect import protected_spans
from page import PAGES, read_figures, write_figures, write_page
from rules_page import page
from rules_text import ENOUGH, FIRST_READING, seen, sentences, unseen

ROOT = Path(__file__).parents[1]
JUDGED = ROOT / "benchmarks/rules_judged.json"
JUDGED_UNSEEN = ROOT / "benchmarks/rules_judged_unseen.json"
WRONG = ROOT / "tests/runtime/rules/wrong_sentences.tsv"
CONTEXT = 12
SAMPLE = 100

Judged = dict[str, dict[str, str]]


class Finding(NamedTuple):
    """A match with what stands around it, and the hash of both."""

    digest: str
    shown: str


class Reading(NamedTuple):
    """What a rule found in so many characters."""

    found: list[Finding]
    characters: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--again", action="store_true", help="write the page from an earlier rules.json")
    parser.add_argument("--show", metavar="RULE")
    parser.add_argument("--judge", nargs=2, metavar=("RULE", "VERDICTS"))
    parser.add_argument("--unseen", action="store_true", help="show or judge matches of the unseen text")
    parser.add_argument("--out", type=Path, default=PAGES)
    parser.add_argument("--sentences", action="store_true", help="show or judge matches of the sentences")
    options = parser.parse_args()
    judged: Judged = json.loads(JUDGED.read_text("utf-8"))
    judged_unseen: dict[str, Judged] = json.loads(JUDGED_UNSEEN.read_text("utf-8"))
    if options.again:
        figures = read_figures("rules", options.out) | {"sentences": report_of_sentences(judged_unseen)}
        write_figures("rules", figures, options.out)
        write_page("rules", page(figures), options.out)
    elif options.show or options.judge:
        name = options.show or options.judge[0]
        if options.unseen:
            own = judged_unseen["second"].setdefault(name, {})
            found = findings_until_enough(unseen(options.data), [RULES[name]], [name])[name].found
        elif options.sentences:
            own = judged_unseen["sentences"].setdefault(name, {})
            found = findings(sentences(options.data), [RULES[name]])[name]
        else:
            own = judged.setdefault(name, {})
            found = findings(seen(options.data), [RULES[name]])[name]
        if options.show:
            print("\n".join(finding.shown for finding in sample(found, own)))
        else:
            own.update(judge(found, own, options.judge[1]))
            write_judged(JUDGED, judged)
            write_judged(JUDGED_UNSEEN, judged_unseen)
    else:
        result = report(list(seen(options.data)), judged) | {
            "unseen": report_of_unseen(unseen(options.data), judged_unseen),
            "sentences": report_of_sentences(judged_unseen),
        }
        write_figures("rules", result, options.out)
        write_page("rules", page(result), options.out)
        print(json.dumps(result, indent=1))


def write_judged(path: Path, judged: object) -> None:
    path.write_text(json.dumps(judged, indent=1, sort_keys=True) + "\n", "utf-8")


def findings(texts: Iterable[str], rules: Iterable[Rule]) -> dict[str, list[Finding]]:
    """By rule, what it finds in all texts; equal findings are counted as often as they occur."""
    found: dict[str, list[Finding]] = {rule.id: [] for rule in rules}
    for text in texts:
        protected = protected_spans(text)
        for rule in found:
            found[rule] += (_finding(text, match) for match in RULES[rule].matches(text, protected))
    return found


def findings_until_enough(
    placed: Iterable[tuple[int, str]], rules: Iterable[Rule], fresh_for: Container[str]
) -> dict[str, Reading]:
    """By rule, what it finds, and in how many characters.

    Those for which there is fresh text begin after what was read before they were mended, and stop at 200
    matches; the others read everything.
    """
    readings = {rule.id: Reading([], 0) for rule in rules}
    for place, text in placed:
        unfinished = [
            name for name, reading in readings.items() if name not in fresh_for or len(reading.found) < ENOUGH
        ]
        if not unfinished:
            break
        reading_on = [name for name in unfinished if place > FIRST_READING or name not in fresh_for]
        protected = protected_spans(text) if reading_on else []
        for name in reading_on:
            found = [_finding(text, match) for match in RULES[name].matches(text, protected)]
            readings[name] = Reading(readings[name].found + found, readings[name].characters + len(text))
    return readings


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


def report_of_unseen(placed: Iterable[tuple[int, str]], judged: dict[str, Judged]) -> dict[str, object]:
    """For the rules that are on by default or were judged, both readings."""
    first, second = judged["first"], judged["second"]
    rules = [rule for rule in RULES.values() if rule.on_by_default or rule.id in first]
    readings = findings_until_enough(placed, rules, second)
    return {
        name: {
            "million_characters": round(reading.characters / 1e6, 3),
            "is_fresh": name in second,
            **precision(
                reading.found, (second if name in second else first).get(name, {}), reading.characters / 1e6
            ),
            "first_reading": share_right(Counter(first.get(name, {}).values())),
        }
        for name, reading in readings.items()
    }


def report_of_sentences(judged: dict[str, Judged]) -> dict[str, object]:
    """All verdicts, also on matches that the rules no longer have: the mends came after this reading."""
    verdicts = judged["sentences"]
    return {name: share_right(Counter(verdicts[name].values())) for name in RULES if name in verdicts}


def precision(found: list[Finding], judged: dict[str, str], millions: float) -> dict[str, float | None]:
    """How many matches there are, and how many of those judged (that the rule still finds) are right."""
    verdicts = Counter(judged[finding.digest] for finding in set(found) if finding.digest in judged)
    judgement = share_right(verdicts)
    share = judgement["precision"]
    return {
        "matches": len(found),
        "matches_per_million": round(len(found) / millions, 2),
        **judgement,
        "false_alarms_per_million": None if share is None else round(len(found) * (1 - share) / millions, 2),
    }


def share_right(verdicts: Counter[str]) -> dict[str, float | None]:
    """How many verdicts there are, how many of them are y, and the share with the end of its interval."""
    total, right = verdicts.total(), verdicts["y"]
    return {
        "judged": total,
        "judged_right": right,
        "precision": round(right / total, 4) if total else None,
        "precision_at_least": round(_wilson_lower(right, total), 4) if total else None,
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
