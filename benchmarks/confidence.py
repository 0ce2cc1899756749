"""By what measure edits are best accepted: of equally few false alarms, which leaves the most corrections?

    python benchmarks/confidence.py --pairs DEV.tsv [--pairs MORE.tsv] --clean SENTENCES.txt

Compares the probability p of the best other character with p to some power against the probability k of the
character that stands there, p^n / (p^n + k), each with one threshold, one reading, and the shipped model. The
pairs and sentences are those on which the levels are chosen: no training saw them, no test set is among them.
In halves: the threshold is chosen on a random half of pairs and sentences and judged on the other, 60 times.
Writes docs/results/confidence.md and its figures.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.pairs import Pair, read_pairs
from nmspeller.lab.data.sentences import read_sentences
from nmspeller.lab.export.thresholds import Outcome, ScoredCandidates, candidates
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from page import PAGES, write_figures, write_page

Floats = NDArray[np.float64]

SHARES = (0.001, 0.0025, 0.005, 0.008, 0.01, 0.03)
POWERS = (1, 2, 3, 4, 5, 6, 8)
HALVES, SHARE_IN_HALVES = 60, 0.008
_CUTS = 300


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, action="append", required=True)
    parser.add_argument("--clean", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    dev = [pair for path in options.pairs for pair in read_pairs(path)]
    clean = [Pair(sentence, sentence) for sentence in read_sentences(options.clean)]
    found = candidates(Pipeline(options.model), [*dev, *clean])
    is_clean = np.arange(len(dev) + len(clean)) >= len(dev)
    measures: dict[str, Callable[[Floats, Floats], Floats]] = {"p": lambda p, k: p}
    measures |= {f"p^{power} / (p^{power} + k)": _against(power) for power in POWERS}
    result = {
        "dev_pairs": len(dev),
        "clean_sentences": len(clean),
        "measures": {name: judge(measure, found, is_clean) for name, measure in measures.items()},
    }
    write_figures("confidence", result, options.out)
    write_page("confidence", page(result), options.out)
    print(page(result))


def _against(power: int) -> Callable[[Floats, Floats], Floats]:
    return lambda p, k: p**power / (p**power + k)


def judge(
    measure: Callable[[Floats, Floats], Floats], found: ScoredCandidates, is_clean: NDArray[np.bool_]
) -> dict[str, Any]:
    """F1 where at most so many clean sentences are changed, and F1 and changed sentences in halves."""
    p = found.probability.astype(np.float64)
    score = measure(p, np.maximum(found.source_probabilities.astype(np.float64), 1e-12))
    outcomes = [found.outcome(score >= cut) for cut in np.quantile(score, np.linspace(0, 0.9, _CUTS))]
    everything = np.ones(len(is_clean), np.bool_)
    whole = [_best(outcomes, found, is_clean, everything, share) for share in SHARES]
    choose, f1, changed = np.random.default_rng(0), [], []
    for _ in range(HALVES):
        half = choose.random(len(is_clean)) < 0.5
        chosen = _best(outcomes, found, is_clean, half, SHARE_IN_HALVES)
        f1.append(_f1(chosen, found, ~is_clean & ~half))
        changed.append(chosen.changed[is_clean & ~half].mean())
    return {
        "f1": [round(100 * _f1(outcome, found, ~is_clean), 2) for outcome in whole],
        "f1_in_halves": round(100 * float(np.mean(f1)), 2),
        "clean_changed_in_halves": round(100 * float(np.mean(changed)), 3),
    }


def _best(
    outcomes: list[Outcome],
    found: ScoredCandidates,
    is_clean: NDArray[np.bool_],
    among: NDArray[np.bool_],
    share: float,
) -> Outcome:
    """The threshold with the best F1 of those that change few enough clean sentences, `among` some."""
    quiet = [each for each in outcomes if each.changed[is_clean & among].mean() <= share]
    return max(quiet or outcomes[-1:], key=lambda each: _f1(each, found, ~is_clean & among))


def _f1(outcome: Outcome, found: ScoredCandidates, among: NDArray[np.bool_]) -> float:
    wrong = int((found.errors[among] > 0).sum())
    return 2 * int(outcome.corrected[among].sum()) / max(int(outcome.changed[among].sum()) + wrong, 1)


def page(result: dict[str, Any]) -> str:
    head = ["measure", *(f"{100 * share:g} %" for share in SHARES), "in halves", "clean changed there"]
    rows = [
        [name, *(f"{f1:.1f}" for f1 in each["f1"]), f"{each['f1_in_halves']:.1f}",
         f"{each['clean_changed_in_halves']:.2f} %"]
        for name, each in result["measures"].items()
    ]  # fmt: skip
    return "\n".join(
        [
            "# By what measure edits are accepted",
            "",
            f"Written by `benchmarks/confidence.py` on {result['dev_pairs']:,} dev pairs and"
            f" {result['clean_sentences']:,} clean sentences that no",
            "training saw: correction F1 of the best threshold that changes at most so many of the",
            "clean sentences, one reading. p is the probability of the best other character, k that of",
            f"the one that stands there. In halves: chosen at {100 * SHARE_IN_HALVES:g} % on a random half"
            f" and judged on the other, mean of {HALVES}.",
            "",
            *(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)),
            "",
        ]
    )


if __name__ == "__main__":
    main()
