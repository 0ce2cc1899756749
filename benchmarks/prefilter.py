"""What the prefilter misses, and how much it passes over.

    python benchmarks/prefilter.py --clean SENTENCES.txt

measures the shipped model with its prefilter as benchmarks/accuracy.py measured it without, and writes
docs/results/prefilter.md and its figures, where both stand side by side. SENTENCES.txt is the
clean1.txt that benchmarks/clean_text.py writes. `--again` writes the page anew without measuring.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import ROOT, measure_clean, measure_set
from accuracy_report import RULES, TITLES
from nmspeller import Speller
from nmspeller.lab.evaluation import suites
from nmspeller.lab.export.prefilter_calibration import prefilter_scores
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level
from nmspeller.runtime.prefilter import FILE, THRESHOLDS, PrefilterThresholds
from page import figures_path, read_figures, table, write_figures, write_page

LEVEL = Level.BALANCED
HEAD = """\
# What the prefilter costs

Written by `benchmarks/prefilter.py`; no figure is typed by hand. With `--prefilter`, a small speller
(`prefilter.onnx`, {megabytes:.1f} MB) reads everything first, and the model only the windows with an error
score of at least {threshold} (`balanced`). The threshold was chosen on {pairs:,} dev pairs, so that at most
{lost:g} % of the sentences in which the model finds anything are lost there. SHA-256 of all files:
`{hash}…`. Sentence-level correction F1 in percent at `balanced`, by the protocol of
[shipped.md](shipped.md), where the figures without it are from; on SIGHAN13 by the 地/得 rule. Read: the
share of sentences that the model reads. The prefilter is an option, and would be on by default if it lost at
most {most} points on every set and let at most {pass_most:.0f} % of right sentences pass.
"""
MOST_LOST, MOST_PASSED = 0.2, 30.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=Path, help="correct sentences that no training saw, one a line")
    parser.add_argument("--again", action="store_true", help="write the page from an earlier prefilter.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    record = figures_path("prefilter", options.out)
    if not options.again:
        if options.clean is None:
            parser.error("give --clean, the sentences that must stay as they are, or --again")
        result = measure(options.clean)
        write_figures("prefilter", result, options.out)
    whole = read_figures("shipped", options.out)
    text = page(json.loads(record.read_text("utf-8")), whole)
    write_page("prefilter", text, options.out)
    print(text)


def measure(clean: Path) -> dict[str, Any]:
    speller, pipeline, thresholds = (
        Speller(prefilter=True, rules=False),
        Pipeline(SHIPPED, prefilter=True),
        PrefilterThresholds.read(SHIPPED / THRESHOLDS),
    )
    sources = {name: [pair.source for pair in suites.load(name)] for name in suites.names()}
    sources["clean"] = clean.read_text("utf-8").split()
    return {
        "hash": speller.checker.model_hash,
        "bytes": (SHIPPED / FILE).stat().st_size,
        "threshold": thresholds.levels[LEVEL],
        "calibration": thresholds.calibration,
        "read": {name: share_read(pipeline, texts, thresholds) for name, texts in sources.items()},
        "sets": {name: measure_set(speller, name, wanted=[LEVEL]) for name in suites.names()},
        "clean": measure_clean(speller, clean, wanted=[LEVEL]),
    }


def share_read(pipeline: Pipeline, texts: list[str], thresholds: PrefilterThresholds) -> float:
    """How many of the texts the model reads, in percent."""
    found = prefilter_scores(pipeline, texts)
    read = np.unique(found.text[found.read(thresholds.levels[LEVEL])])
    return round(100 * len(read) / len(texts), 1)


def page(prefiltered: dict[str, Any], whole: dict[str, Any]) -> str:
    head = HEAD.format(
        megabytes=prefiltered["bytes"] / 1e6,
        threshold=prefiltered["threshold"],
        pairs=prefiltered["calibration"]["pairs"],
        lost=prefiltered["calibration"]["levels"][LEVEL.value]["lost"],
        hash=prefiltered["hash"][:16],
        most=MOST_LOST,
        pass_most=MOST_PASSED,
    )
    measured = {title(name): (name, f1(whole, name), f1(prefiltered, name)) for name in prefiltered["sets"]}
    changed = (each["clean"]["levels"][LEVEL.value]["percent"] for each in (whole, prefiltered))
    measured["correct sentences changed"] = ("clean", *changed)
    rows = [
        [row, f"{before:.2f}", f"{after:.2f}", f"{after - before:+.2f}", f"{prefiltered['read'][name]:.0f} %"]
        for row, (name, before, after) in measured.items()
    ]
    return head + "\n" + table(["", "without", "with the prefilter", "difference", "read"], rows) + "\n"


def title(name: str) -> str:
    return f"{TITLES[name]}, {RULES['both']}" if name == "sighan13" else TITLES[name]


def f1(measured: dict[str, Any], name: str) -> float:
    scores = next(iter(measured["sets"][name][LEVEL.value].values()))
    return float(scores["sentence"]["correction"]["f1"])


if __name__ == "__main__":
    main()
