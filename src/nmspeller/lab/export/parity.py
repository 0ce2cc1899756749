"""Whether two models make the same edits: what an export costs, counted in sentences."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from nmspeller.runtime.pipeline import Pipeline


class Parity(NamedTuple):
    """How many sentences were checked, and in how many of them two models make the same edits."""

    sentences: int
    same: int

    @property
    def percent(self) -> float:
        """The share of sentences with the same edits."""
        return 100 * self.same / max(self.sentences, 1)


def checkpoint_pipeline(checkpoint: Path, policy: Path) -> Pipeline:
    """A checkpoint on PyTorch, with the given policy, since it has none of its own."""
    with TemporaryDirectory() as folder:
        for path in (*checkpoint.iterdir(), policy):
            link = Path(folder) / path.name
            link.unlink(missing_ok=True)
            link.symlink_to(path.resolve())
        return Pipeline(Path(folder))


def compare(one: Sequence[str], other: Sequence[str]) -> Parity:
    """Compare two models' corrections of the same texts."""
    return Parity(len(one), sum(map(str.__eq__, one, other)))
