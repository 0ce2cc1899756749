"""The description of a batch job."""

import hashlib
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.rule_matches import DEFAULT_RULES

SHARD_BYTES = 1 << 20


class Write(str, Enum):
    """What is written for each text."""

    CORRECTED = "corrected"
    EDITS = "edits"
    BOTH = "both"


@dataclass(frozen=True)
class SpellerSettings:
    """How a worker loads its speller; plain values only, since they are sent to other machines."""

    model: str | None = None
    level: str = "balanced"
    words: tuple[str, ...] = ()
    device: str = "cpu"
    prefilter: bool = False
    rules: tuple[str, ...] = DEFAULT_RULES
    # What to import and call: tests use one that needs no model.
    factory: str = "nmspeller.runtime.checker:open_checker"

    def load(self) -> Checker:
        """A speller on one thread: a worker is one process on one core."""
        module, name = self.factory.split(":")
        speller: Checker = getattr(import_module(module), name)(
            self.model,
            level=self.level,
            words=self.words,
            threads=1,
            device=self.device,
            prefilter=self.prefilter,
            rules=self.rules,
        )
        return speller


@dataclass(frozen=True)
class BatchJob:
    """Everything that determines the output; the number of workers and the engine do not."""

    inputs: tuple[str, ...]
    output: str
    column: str = "text"
    write: Write = Write.CORRECTED
    format: str | None = None
    speller: SpellerSettings = SpellerSettings()
    shard_bytes: int = SHARD_BYTES

    def __post_init__(self) -> None:
        if not self.inputs:
            raise InputError(_("give at least one INPUT and then OUTPUT, the folder to write to."))
        if self.shard_bytes < 1:
            raise InputError(_("the size of a shard must be at least 1 byte; leave it out for the default."))

    @property
    def edits_column(self) -> str:
        """The name of the column that edits are written to."""
        return f"{self.column}_edits"

    def options(self) -> dict[str, Any]:
        """What must stay the same when a job resumes, by the names of the command line."""
        words = "\n".join(self.speller.words).encode("utf-8", "surrogatepass")
        return {
            "--column": self.column,
            "--write": self.write.value,
            "--format": self.format,
            "--level": self.speller.level,
            "--device": self.speller.device,
            "--prefilter": self.speller.prefilter,
            "--rules": ",".join(self.speller.rules),
            "--words": hashlib.sha256(words).hexdigest() if self.speller.words else None,
            "--shard-size": self.shard_bytes,
        }
