"""Write docs/results/confusion_coverage.md and its figures: the real errors that each confusion set holds.

    python benchmarks/confusion_coverage.py

The errors are those of the SIGHAN training sets and of the Wang271K slices in the data folder.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from nmspeller.knowledge import confusion
from nmspeller.knowledge.confusion import ConfusionSet
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.pairs import read_pairs
from page import write_figures, write_page

SIZES = (10, 30, 100)
HEADER = """# How much of the real errors each confusion set holds
Written by `python benchmarks/confusion_coverage.py`. Every wrong character of the pairs counts once. *Making
errors*: the wrong character is among the first candidates of the right one. *Correcting*: the right character
is among the first candidates of the wrong one. A table with fewer candidates than asked for gives all it has.

| errors | direction | table | candidates, mean | at 10 | at 30 | at 100 |
|---|---|---|---|---|---|---|
"""


def errors_in(files: Iterable[Path]) -> Counter[tuple[str, str]]:
    """How often each right character was written as each wrong one: (wrong, right)."""
    return Counter(
        (wrong, right)
        for file in files
        for source, target in read_pairs(file)
        for wrong, right in zip(source, target, strict=True)
        if wrong != right
    )


def tables(folder: Path) -> dict[str, ConfusionSet]:
    sounds = confusion.read_pronunciation(folder / "sighan13_pronunciation.txt")
    shapes = confusion.read_lists(folder / "sighan13_shape.txt")
    return {
        "own": confusion.own_set(),
        "wang2018": confusion.read_lists(folder / "wang2018.txt"),
        "sighan13, sound and shape in turn": sounds.interleaved(shapes),
    }


def report(folder: Path) -> list[dict[str, object]]:
    sighan = folder / "sighan" / "simplified"
    errors = {
        "SIGHAN train": errors_in(sighan / f"train{year}.tsv" for year in (13, 14, 15)),
        "Wang slices": errors_in([folder / "wang271k" / "slices_union.tsv"]),
    }
    rows: list[dict[str, object]] = []
    for name, made in errors.items():
        corrected = Counter({(right, wrong): times for (wrong, right), times in made.items()})
        for direction, counted in (("making errors", made), ("correcting", corrected)):
            for table, candidates in tables(folder / "confusion").items():
                mean = sum(map(len, candidates.values())) / len(candidates)
                shares = confusion.coverage(counted, candidates, SIZES)
                rows.append(
                    {
                        "errors": name,
                        "count": sum(counted.values()),
                        "direction": direction,
                        "table": table,
                        "mean_candidates": round(mean, 1),
                        "coverage": {
                            str(size): round(share, 2) for size, share in zip(SIZES, shares, strict=True)
                        },
                    }
                )
    return rows


def main() -> None:
    rows = report(data_folder())
    write_figures("confusion_coverage", rows)
    lines = [
        "| {errors} ({count:,}) | {direction} | {table} | {mean_candidates} | ".format(**row)
        + " | ".join(f"{share:.1f} %" for share in row["coverage"].values())
        + " |\n"
        for row in rows
    ]
    write_page("confusion_coverage", HEADER + "".join(lines))


if __name__ == "__main__":
    main()
