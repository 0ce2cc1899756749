"""How far the speller's probabilities hold: of edits with about this probability, how many are right?

    python benchmarks/reliability.py PAIRS.tsv [PAIRS.tsv …] [--model FOLDER]

writes docs/results/reliability.png and its figures. An edit is the best other character of a position, from a
probability of 0.1 up; give pairs that neither training nor calibration saw.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import read_pairs
from nmspeller.lab.evaluation.plots import new_figure, save
from nmspeller.lab.export.thresholds import candidates
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from page import PAGES, write_figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path, nargs="+")
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    pairs = [pair for path in options.pairs for pair in read_pairs(path)]
    found = candidates(Pipeline(options.model), pairs)
    probability, right, edits = reliability(found.probability, found.right)
    result = {
        "pairs": [path.name for path in options.pairs],
        "sentences": len(pairs),
        "bins": [
            {"probability": round(p, 4), "right": round(share, 4), "edits": count}
            for p, share, count in zip(probability, right, edits, strict=True)
        ],
    }
    write_figures("reliability", result, options.out)
    draw_reliability(found.probability, found.right, options.out / "reliability.png")
    print(json.dumps(result))


def draw_reliability(probabilities: ArrayLike, right: ArrayLike, path: str | Path, *, bins: int = 10) -> None:
    """Draw the share of right edits against their probability: arrays of shape (edits,).

    Raises:
        InputError: there are no edits, or matplotlib is missing.
    """
    sure, share, sizes = reliability(probabilities, right, bins=bins)
    figure, axes = new_figure("probability of the edit", "share of edits that are right")
    axes.plot([0, 1], [0, 1], color="grey", linestyle="--", linewidth=1)
    axes.plot(sure, share, marker="o")
    for x, y, size in zip(sure, share, sizes, strict=True):
        axes.annotate(f"{size:,}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize="small")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    save(figure, path)


def reliability(
    probabilities: ArrayLike, right: ArrayLike, *, bins: int = 10
) -> tuple[list[float], list[float], list[int]]:
    """Mean probability, share right and number of edits in each bin that has any.

    Raises:
        InputError: there are no edits.
    """
    sure, correct = np.asarray(probabilities, dtype=float), np.asarray(right, dtype=float)
    if not len(sure) or len(sure) != len(correct):
        raise InputError("reliability needs some edits, each with a probability and whether it was right.")
    which = np.clip((sure * bins).astype(int), 0, bins - 1)
    sizes = np.bincount(which, minlength=bins)
    used = sizes > 0
    means = np.bincount(which, weights=sure, minlength=bins)[used] / sizes[used]
    shares = np.bincount(which, weights=correct, minlength=bins)[used] / sizes[used]
    return means.tolist(), shares.tolist(), sizes[used].tolist()


if __name__ == "__main__":
    main()
