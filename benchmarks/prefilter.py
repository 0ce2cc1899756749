"""What the prefilter misses, and how much it passes over.

    python benchmarks/prefilter.py --clean SENTENCES.txt

measures the shipped model with its prefilter as benchmarks/accuracy.py measured it without, and writes
docs/results/prefilter.json and prefilter.md, where both stand side by side. SENTENCES.txt is the
clean1.txt that benchmarks/clean_text.py writes. `--again` writes the page anew without measuring.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import ROOT, measure_clean, measure_set
from accuracy_report import LEVELS, RULES, TITLES
from nmspeller import Speller
from nmspeller.lab.evaluation import suites
from nmspeller.lab.evaluation.markdown import table
from nmspeller.lab.export.prefilter_calibration import prefilter_scores
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level
from nmspeller.runtime.prefilter import FILE, THRESHOLDS, PrefilterThresholds

HEAD = """\
# What the prefilter costs

Written by `benchmarks/prefilter.py`; no figure is typed by hand. With `--prefilter`, a small speller
(`prefilter.onnx`, {megabytes:.1f} MB) reads everything first, and the model only windows with an error score
above a threshold: the probability of their least likely character is at most {kept}. The thresholds
were chosen on {pairs:,} dev pairs, so that at most {lost:g} % of the sentences in which a level finds
anything are lost there. SHA-256 of all files: `{hash}…`. Sentence-level correction F1 in percent, by the
protocol of [shipped.md](shipped.md), where the figures without it are from; on SIGHAN13 by the 地/得 rule.
Read: the share of sentences that the model reads.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=Path, help="correct sentences that no training saw, one a line")
    parser.add_argument("--again", action="store_true", help="write the page from an earlier prefilter.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    record = options.out / "prefilter.json"
    if not options.again:
        if options.clean is None:
            parser.error("give --clean, the sentences that must stay as they are, or --again")
        result = measure(options.clean)
        record.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    whole = json.loads((options.out / "shipped.json").read_text("utf-8"))
    text = page(json.loads(record.read_text("utf-8")), whole)
    (options.out / "prefilter.md").write_text(text, "utf-8")
    print(text)


def measure(clean: Path) -> dict[str, Any]:
    speller, pipeline, thresholds = (
        Speller(prefilter=True),
        Pipeline(SHIPPED, prefilter=True),
        PrefilterThresholds.read(SHIPPED / THRESHOLDS),
    )
    sources = {name: [pair.source for pair in suites.load(name)] for name in suites.SETS}
    sources["clean"] = clean.read_text("utf-8").split()
    return {
        "hash": speller.model_hash,
        "bytes": (SHIPPED / FILE).stat().st_size,
        "thresholds": {level.value: threshold for level, threshold in thresholds.levels.items()},
        "calibration": thresholds.calibration,
        "read": {name: share_read(pipeline, texts, thresholds) for name, texts in sources.items()},
        "sets": {name: measure_set(speller, name, None) for name in suites.SETS},
        "clean": measure_clean(speller, clean, None),
    }


def share_read(pipeline: Pipeline, texts: list[str], thresholds: PrefilterThresholds) -> dict[str, float]:
    """How many of the texts the model reads at each level, in percent."""
    found = prefilter_scores(pipeline, texts)
    read = {level: len(np.unique(found.text[found.read(thresholds.levels[level])])) for level in Level}
    return {level.value: round(100 * count / len(texts), 1) for level, count in read.items()}


def page(prefiltered: dict[str, Any], whole: dict[str, Any]) -> str:
    found = prefiltered["calibration"]["levels"].values()
    head = HEAD.format(
        megabytes=prefiltered["bytes"] / 1e6,
        kept=", ".join(
            f"{1 - threshold:.3f} (`{level}`)" for level, threshold in prefiltered["thresholds"].items()
        ),
        pairs=prefiltered["calibration"]["pairs"],
        lost=max(level["lost"] for level in found),
        hash=prefiltered["hash"][:16],
    )
    columns = [f"{what}, `{level}`" for level in LEVELS for what in ("F1", "prefilter", "read")]
    rows = [[title(name), *figures(prefiltered, whole, name)] for name in prefiltered["sets"]]
    changed = []
    for level in LEVELS:
        shares = [each["clean"]["levels"][level]["percent"] for each in (whole, prefiltered)]
        changed += [*(f"{share:.2f}" for share in shares), f"{prefiltered['read']['clean'][level]:.0f} %"]
    rows.append(["correct sentences changed", *changed])
    return head + "\n" + table(["", *columns], rows) + "\n"


def title(name: str) -> str:
    return f"{TITLES[name]}, {RULES['both']}" if name == "sighan13" else TITLES[name]


def figures(prefiltered: dict[str, Any], whole: dict[str, Any], name: str) -> list[str]:
    """F1 without and with it, and the share that is read, at each level."""
    cells = []
    for level in LEVELS:
        scores = (next(iter(each["sets"][name][level].values())) for each in (whole, prefiltered))
        cells += [f"{score['sentence']['correction']['f1']:.2f}" for score in scores]
        cells.append(f"{prefiltered['read'][name][level]:.0f} %")
    return cells


if __name__ == "__main__":
    main()
