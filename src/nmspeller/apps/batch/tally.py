"""The counts of a shard while it is corrected, and its entry."""

import base64
import hashlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from nmspeller.apps.batch.formats.jsonl import dump
from nmspeller.apps.batch.plan import Shard
from nmspeller.runtime.correction import Correction
from nmspeller.text.windows import sentences

# The quarantine includes the content of rows up to this size; a longer one is identified by its number.
_QUOTED_BYTES = 1 << 16


class Tally:
    """Counts, times and quarantined rows of one shard."""

    def __init__(self, shard: Shard, file: str) -> None:
        self._shard = shard
        self._file = file
        self._began = time.perf_counter()
        self._seconds: dict[str, float] = {}
        self._quarantine: list[dict[str, Any]] = []
        self._edits: Counter[str] = Counter()
        self._texts = self._changed = self._sentences = self._remembered = 0

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the time of the block to a stage."""
        return timed(self._seconds, stage)

    def checked(self, correction: Correction) -> None:
        """Count a text that was checked."""
        self._texts += 1
        self._changed += bool(correction.edits)
        self._sentences += len(sentences(correction.source))
        self._edits.update(edit.reason.value for edit in correction.edits)

    def remembered(self, count: int) -> None:
        """Count texts whose correction was in the cache."""
        self._remembered += count

    def bad(self, row: int, reason: object, raw: bytes) -> None:
        """Quarantine a row; `row` counts from 0 within the shard."""
        record: dict[str, Any] = {
            "file": self._file,
            "row": self._shard.first_row + row,
            "reason": str(reason),
        }
        if len(raw) <= _QUOTED_BYTES:
            try:
                record["content"] = raw.decode()
            except UnicodeDecodeError:
                record["base64"] = base64.b64encode(raw).decode()
        self._quarantine.append(record)

    def quarantine(self) -> bytes:
        """The quarantined rows, in order, as JSON lines."""
        records = sorted(self._quarantine, key=lambda record: record["row"])
        return "".join(f"{dump(record)}\n" for record in records).encode()

    def entry(self, data: bytes, quarantine: bytes) -> dict[str, Any]:
        """The entry of the finished shard."""
        return {
            "shard": self._shard.number,
            "source": self._shard.source,
            "rows": self._shard.rows,
            "texts": self._texts,
            "sentences": self._sentences,
            "changed": self._changed,
            "edits": dict(sorted(self._edits.items())),
            "remembered": self._remembered,
            "quarantined": len(self._quarantine),
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "quarantine_size": len(quarantine),
            "quarantine_sha256": hashlib.sha256(quarantine).hexdigest(),
            "seconds": time.perf_counter() - self._began,
            "stages": dict(self._seconds),
            "peak_memory": peak_memory(),
        }


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the time of the block to `seconds[name]`."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - began


def peak_memory() -> int:
    """The peak memory of this process in bytes; 0 if the system does not provide it."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass
    if sys.platform == "win32":
        return 0
    import resource

    # macOS counts in bytes, others in KiB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
