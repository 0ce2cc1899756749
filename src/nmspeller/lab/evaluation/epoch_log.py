"""What a speller could do after each epoch of its training: JSON lines that grow while it trains."""

import json
from collections.abc import Mapping
from pathlib import Path

FILE = "epochs.jsonl"

Counts = Mapping[str, Mapping[str, int]]
"""By set: how often each letter of the module `outcomes` occurs."""


class EpochLog:
    """A line for each epoch, with the counts of each variant of the speller; see `experiments.Job`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def add(self, epoch: int, counts: Mapping[str, Counts]) -> None:
        """Add an epoch; it replaces itself and later ones, which a resumed training measures again."""
        earlier = [line for line in self._lines() if line["epoch"] < epoch]
        lines = [*earlier, {"epoch": epoch, "counts": counts}]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def read(self, active: str) -> list[Counts]:
        """The counts of one variant, epoch after epoch; empty where none was measured."""
        return [line["counts"][active] for line in self._lines()]

    def _lines(self) -> list[dict]:  # type: ignore[type-arg]
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
