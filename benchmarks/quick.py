"""What a quick speller misses, and how much it passes over.

    python benchmarks/quick.py --clean SENTENCES.txt

measures the shipped model with `quick` as benchmarks/accuracy.py measured it without, and writes
docs/results/quick.json and quick.md, where both stand side by side. SENTENCES.txt is the clean1.txt that
benchmarks/clean_text.py writes. `--again` writes the page anew without measuring.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import ROOT, measure_clean, measure_set
from accuracy_report import LEVELS, RULES, TITLES
from nmspeller import Speller
from nmspeller.evaluation import suites
from nmspeller.evaluation.markdown import table
from nmspeller.runtime.glance import DOUBTS, FILE, Doubts
from nmspeller.runtime.glance_calibration import glances
from nmspeller.runtime.policy import Level
from nmspeller.runtime.reader import SHIPPED, Reader

HEAD = """\
# What being quick costs

Written by `benchmarks/quick.py`; no figure is typed by hand. With `quick`, a small speller (`glance.onnx`,
{megabytes:.1f} MB) reads everything first, and the model only sentences in which that one finds a character
with a probability of at most {kept}. These were chosen on {pairs:,} pairs that no training saw, so that at
most {lost:g} % of the sentences in which a level finds anything are lost there. SHA-256 of all files:
`{hash}…`. Sentence-level correction F1 in percent, by the protocol of [shipped.md](shipped.md), where the
figures without `quick` are from; on SIGHAN13 by the 地/得 rule. Read: the share of sentences that the model
reads.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=Path, help="correct sentences that no training saw, one a line")
    parser.add_argument("--again", action="store_true", help="write the page from an earlier quick.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    record = options.out / "quick.json"
    if not options.again:
        if options.clean is None:
            parser.error("give --clean, the sentences that must stay as they are, or --again")
        result = measure(options.clean)
        record.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    whole = json.loads((options.out / "shipped.json").read_text("utf-8"))
    text = page(json.loads(record.read_text("utf-8")), whole)
    (options.out / "quick.md").write_text(text, "utf-8")
    print(text)


def measure(clean: Path) -> dict[str, Any]:
    speller, reader, doubts = Speller(quick=True), Reader(SHIPPED, quick=True), Doubts.read(SHIPPED / DOUBTS)
    sources = {name: [pair.source for pair in suites.load(name)] for name in suites.SETS}
    sources["clean"] = clean.read_text("utf-8").split()
    return {
        "hash": speller.model_hash,
        "bytes": (SHIPPED / FILE).stat().st_size,
        "doubts": {level.value: doubt for level, doubt in doubts.levels.items()},
        "calibration": doubts.calibration,
        "read": {name: share_read(reader, texts, doubts) for name, texts in sources.items()},
        "sets": {name: measure_set(speller, name, None) for name in suites.SETS},
        "clean": measure_clean(speller, clean, None),
    }


def share_read(reader: Reader, texts: list[str], doubts: Doubts) -> dict[str, float]:
    """How many of the texts the model reads at each level, in percent."""
    glanced = glances(reader, texts)
    read = {level: len(np.unique(glanced.sentence[glanced.read(doubts.levels[level])])) for level in Level}
    return {level.value: round(100 * count / len(texts), 1) for level, count in read.items()}


def page(quick: dict[str, Any], whole: dict[str, Any]) -> str:
    found = quick["calibration"]["levels"].values()
    head = HEAD.format(
        megabytes=quick["bytes"] / 1e6,
        kept=", ".join(f"{1 - doubt:.3f} (`{level}`)" for level, doubt in quick["doubts"].items()),
        pairs=quick["calibration"]["pairs"],
        lost=max(level["lost"] for level in found),
        hash=quick["hash"][:16],
    )
    columns = [f"{what}, `{level}`" for level in LEVELS for what in ("F1", "quick", "read")]
    rows = [[title(name), *figures(quick, whole, name)] for name in quick["sets"]]
    changed = []
    for level in LEVELS:
        shares = [each["clean"]["levels"][level]["percent"] for each in (whole, quick)]
        changed += [*(f"{share:.2f}" for share in shares), f"{quick['read']['clean'][level]:.0f} %"]
    rows.append(["correct sentences changed", *changed])
    return head + "\n" + table(["", *columns], rows) + "\n"


def title(name: str) -> str:
    return f"{TITLES[name]}, {RULES['both']}" if name == "sighan13" else TITLES[name]


def figures(quick: dict[str, Any], whole: dict[str, Any], name: str) -> list[str]:
    """F1 without and with `quick`, and the share that is read, at each level."""
    cells = []
    for level in LEVELS:
        scores = (next(iter(each["sets"][name][level].values())) for each in (whole, quick))
        cells += [f"{score['sentence']['correction']['f1']:.2f}" for score in scores]
        cells.append(f"{quick['read'][name][level]:.0f} %")
    return cells


if __name__ == "__main__":
    main()
