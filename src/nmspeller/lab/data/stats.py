"""Statistics of a set of pairs, as in the paper's appendix: lines, mean length, wrong characters."""

from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import Pair, read_pairs


class SetStatistics(NamedTuple):
    """One set: `erroneous` of its `lines` have `errors` wrong characters; `skipped` lines are not pairs."""

    name: str
    lines: int
    mean_length: float
    errors: int
    erroneous: int
    skipped: int


def count(name: str, pairs: list[Pair], skipped: int = 0) -> SetStatistics:
    """Count one set."""
    return SetStatistics(
        name=name,
        lines=len(pairs),
        mean_length=sum(len(pair.source) for pair in pairs) / len(pairs) if pairs else 0.0,
        errors=sum(a != b for pair in pairs for a, b in zip(pair.source, pair.target, strict=True)),
        erroneous=sum(pair.source != pair.target for pair in pairs),
        skipped=skipped,
    )


def count_folder(folder: str | Path) -> list[SetStatistics]:
    """Count one TSV file, or every one under a folder; training sets come first, as in the paper.

    Raises:
        InputError: there is no TSV file, or one cannot be read.
    """
    folder = Path(folder)
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*.tsv"))
    if not paths:
        raise InputError(f"no TSV files of pairs under {folder}; name a folder that has some.")
    root = folder.parent if folder.is_file() else folder
    found = []
    for path in paths:
        pairs = read_pairs(path, lenient=True)
        name = path.relative_to(root).with_suffix("").as_posix()
        found.append(count(name, pairs, len(pairs.skipped)))
    return sorted(
        found, key=lambda one: (Path(one.name).parent.as_posix(), "train" not in one.name, one.name)
    )
