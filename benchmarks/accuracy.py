"""How good a model folder is: every evaluation set, clean text, names, and the paper's example sentences.

    python benchmarks/accuracy.py --clean SENTENCES.txt [--model FOLDER] [--card]

writes docs/results/shipped.md and its figures, and with --card the figures in the model's
card.md. Everything goes through `Speller.check_many` at each of the three levels, as a user's text does.
SENTENCES.txt is the clean1.txt that benchmarks/clean_text.py writes. `--again` writes the pages anew from
shipped.json without measuring.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from accuracy_report import page, write_card
from clean_text import has_mistake
from nmspeller import InputError, Speller
from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.example_sentences import CASES
from nmspeller.lab.evaluation.metrics import DropDe, evaluate, percent
from nmspeller.lab.export.remembering_engine import RememberingEngine
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level, Policy
from page import figures_path, write_figures, write_page

Row = TypeVar("Row")

ROOT = Path(__file__).parents[1]
NAMES = ROOT / "tests" / "assets" / "names.tsv"
UNUSUAL = ROOT / "tests" / "assets" / "clean"
SLIPS = ROOT / "tests" / "assets" / "native_slips.tsv"

# SIGHAN13 is read in all three ways in use, so that nobody has to guess which one a figure follows.
DE_RULES: dict[str, DropDe] = {"both": True, "prediction": "prediction", "none": False}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=Path, help="correct sentences that no training saw, one a line")
    parser.add_argument("--model", type=Path, default=SHIPPED, help="the shipped model by default")
    parser.add_argument("--card", action="store_true", help="write the figures into the model's card.md too")
    parser.add_argument("--again", action="store_true", help="write the pages from an earlier shipped.json")
    parser.add_argument("--limit", type=int, help="use so many sentences of each set only, for a trial")
    parser.add_argument("--threads", type=int, help="how many cores to use; all by default")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    record = figures_path("shipped", options.out)
    if options.again:
        result = json.loads(record.read_text("utf-8"))
    else:
        result = measure(options.model, options.clean, options.limit, options.threads)
        write_figures("shipped", result, options.out)
    write_page("shipped", page(result), options.out)
    if options.card:
        write_card(options.model / "card.md", result)
    edited = {level: found["edited_though_listed"] for level, found in result["names"]["levels"].items()}
    if any(edited.values()):
        sys.exit(f"names of the word list were edited: {edited}")


def measure(model: Path, clean: Path | None, limit: int | None, threads: int | None) -> dict[str, Any]:
    speller = Speller(model, threads=threads, rules=False)
    pipeline = speller.checker.model
    assert isinstance(pipeline, Pipeline)
    pipeline.wrap_engine(RememberingEngine)  # the first pass over a text is the same at every level
    return {
        "model": describe(model, pipeline),
        "limit": limit,
        "sets": {name: measure_set(speller, name, limit) for name in suites.names()},
        "clean": measure_clean(speller, clean, limit) if clean else None,
        "names": measure_names(speller, limit),
        "unusual": measure_unusual(speller, limit),
        "slips": measure_slips(speller, limit),
        "cases": measure_cases(speller),
    }


def describe(model: Path, pipeline: Pipeline) -> dict[str, Any]:
    policy = Policy.read(model / "policy.json")
    return {
        "hash": pipeline.model_hash,
        "bytes": (model / "model.onnx").stat().st_size,
        "engine": pipeline.engine_name,
        "passes": policy.passes,
        "window": policy.window,
        "thresholds": {level.value: asdict(policy.levels[level]) for level in Level},
    }


def sample(rows: Sequence[Row], limit: int | None) -> Sequence[Row]:
    """So many rows, spread evenly over all: the first ones of a set are not like the rest."""
    return rows if limit is None else rows[:: -(-len(rows) // limit)]


def measure_set(
    speller: Speller, name: str, limit: int | None = None, wanted: Iterable[Level] = Level
) -> dict[str, Any]:
    """Scores by level and rule about 地 and 得; sets that know no such rule have the one "none"."""
    pairs = sample(suites.load(name), limit)
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    rules = DE_RULES if suites.drops_de(name) else {"none": False}
    levels: dict[str, Any] = {}
    for level in wanted:
        answers = [correction.text for correction in speller.check_many(sources, level=level)]
        scores = {
            rule: evaluate(sources, targets, answers, drop_de=drop_de) for rule, drop_de in rules.items()
        }
        levels[level.value] = {
            rule: {**score.as_dict(), "erroneous": int(score.outcomes.erroneous.sum())}
            for rule, score in scores.items()
        }
        f1 = next(iter(scores.values())).sentence.correction.f1
        say(f"{name}, {level.value}: correction F1 {f1:.2f} on {len(pairs):,} sentences")
    return levels


def measure_clean(
    speller: Speller, path: Path, limit: int | None = None, wanted: Iterable[Level] = Level
) -> dict[str, Any]:
    """How many correct sentences are changed; those with a known mistake are counted apart."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    lines = list(sample(lines, limit))
    sentences = [line for line in lines if not has_mistake(line)]
    wrong = [line for line in lines if has_mistake(line)]
    if not sentences:
        raise InputError(f"{path} holds no sentence; give one a line.")
    levels: dict[str, Any] = {}
    for level in wanted:
        changed, found = (
            sum(bool(each.edits) for each in speller.check_many(texts, level=level))
            for texts in (sentences, wrong)
        )
        levels[level.value] = {
            "changed": changed,
            "percent": percent(changed, len(sentences)),
            "changed_with_mistakes": found,
        }
        say(f"clean sentences, {level.value}: {changed:,} of {len(sentences):,} changed")
    return {"sentences": len(sentences), "with_mistakes": len(wrong), "levels": levels}


def measure_names(speller: Speller, limit: int | None) -> dict[str, Any]:
    """How many names and terms are left as they are, with and without being listed by the user."""
    rows = [line.split("\t") for line in NAMES.read_text("utf-8").splitlines()]
    rows = list(sample(rows, limit))
    sentences, names = [row[0] for row in rows], [row[1] for row in rows]
    levels: dict[str, Any] = {}
    for level in Level:
        alone = speller.check_many(sentences, level=level)
        listed = speller.check_many(sentences, level=level, words=names)
        levels[level.value] = {
            "edited": edited_names(alone, names),
            "edited_though_listed": edited_names(listed, names),
            "changed_sentences": sum(bool(each.edits) for each in alone),
            "changed_sentences_though_listed": sum(bool(each.edits) for each in listed),
        }
        kept = len(names) - len(levels[level.value]["edited"])
        say(f"names, {level.value}: {kept} of {len(names)} kept without a word list")
    return {"file": NAMES.name, "sentences": len(names), "levels": levels}


def measure_unusual(speller: Speller, limit: int | None) -> dict[str, Any]:
    """Of each kind of unusual but correct text, how many terms and sentences of the test half are changed."""
    kinds: dict[str, Any] = {}
    for path in sorted(UNUSUAL.glob("*.tsv")):
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        rows = list(sample([row for row in rows if row[0] == "test"], limit))
        sentences, terms = [row[1] for row in rows], [row[2] for row in rows]
        kinds[path.stem] = {"sentences": len(rows), "levels": {}}
        for level in Level:
            found = speller.check_many(sentences, level=level)
            kinds[path.stem]["levels"][level.value] = {
                "edited": edited_names(found, terms),
                "changed_sentences": sum(bool(each.edits) for each in found),
            }
    return kinds


def measure_slips(speller: Speller, limit: int | None) -> dict[str, Any]:
    """Common slips of native writers: how many sentences of our own list are corrected exactly, by kind."""
    rows = sample([line.split("\t") for line in SLIPS.read_text("utf-8").splitlines()], limit)
    kinds: dict[str, Any] = {}
    for kind in ("replaced", "missing", "extra", "swapped"):
        own = [row for row in rows if kind_of_slip(*row) == kind]
        answers = {level: speller.check_many([source for source, _ in own], level=level) for level in Level}
        kinds[kind] = {
            "sentences": len(own),
            "corrected": {
                level.value: sum(
                    answer.text == target for answer, (_, target) in zip(found, own, strict=True)
                )
                for level, found in answers.items()
            },
        }
    return kinds


def kind_of_slip(source: str, target: str) -> str:
    if len(source) != len(target):
        return "missing" if len(source) < len(target) else "extra"
    return "swapped" if sorted(source) == sorted(target) else "replaced"


def edited_names(corrections: Sequence[Correction], names: Sequence[str]) -> list[list[str]]:
    """The names that did not survive, each with what became of it."""
    edited = []
    for correction, name in zip(corrections, names, strict=True):
        start = correction.source.index(name)
        became = correction.text[start : start + len(name)]
        if became != name:
            edited.append([name, became])
    return edited


def measure_cases(speller: Speller) -> list[dict[str, Any]]:
    """The speller's answers to the paper's example sentences."""
    sentences = [wrong for wrong, _ in CASES]
    answers = {level.value: speller.check_many(sentences, level=level) for level in Level}
    return [
        {
            "input": wrong,
            "wanted": right,
            "answers": {level: found[number].text for level, found in answers.items()},
        }
        for number, (wrong, right) in enumerate(CASES)
    ]


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(str(error))
