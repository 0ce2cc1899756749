"""How far the speller's probabilities hold: of edits with about this probability, how many are right?

    python benchmarks/reliability.py PAIRS.tsv [PAIRS.tsv …] [--model FOLDER]

writes docs/results/reliability.json and .png. An edit is the best other character of a position, from a
probability of 0.1 up; give pairs that neither training nor calibration saw.
"""

import argparse
import json
from pathlib import Path

from nmspeller.lab.data.pairs import read_pairs
from nmspeller.lab.evaluation.plots import draw_reliability, reliability
from nmspeller.lab.export.thresholds import candidates
from nmspeller.runtime.pipeline import SHIPPED, Pipeline


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path, nargs="+")
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
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
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "reliability.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    draw_reliability(found.probability, found.right, options.out / "reliability.png")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
