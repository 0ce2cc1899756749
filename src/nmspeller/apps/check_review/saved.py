"""Interrupted reviews: the decisions on each document, in the user's state folder, to go on with later.

The document itself is not stored, only what a decision is about: the wrong text, its replacement, and a hash
of the characters around it. A decision on a document that has changed since applies where they are the same.
"""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nmspeller.apps.check_review.decisions import Decision, Kind
from nmspeller.apps.fingerprint import Fingerprint
from nmspeller.files import write_whole

_VERSION = 1


@dataclass(frozen=True)
class Saved:
    """A document's decisions; `finished` is the hash of its content when it was reviewed to its end."""

    decisions: tuple[Decision, ...]
    finished: str | None = None


def content_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def load(document: Path) -> Saved:
    """The decisions on a document; none if there was no review, or if the file of it is damaged."""
    try:
        stored = json.loads(_file(document).read_text(encoding="utf-8"))
        if stored["version"] != _VERSION:
            return Saved(())
        decisions = tuple(
            Decision(Kind(kind), Fingerprint(*finding), text) for kind, *finding, text in stored["decisions"]
        )
        return Saved(decisions, stored["finished"])
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return Saved(())


def store(document: Path, saved: Saved) -> None:
    """Keep the decisions on a document.

    Raises:
        OSError: they cannot be written.
    """
    file = _file(document)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = {
        "version": _VERSION,
        "document": os.path.realpath(document),
        "finished": saved.finished,
        "decisions": [[one.kind.value, *one.finding, one.text] for one in saved.decisions],
    }
    write_whole(file, json.dumps(content, ensure_ascii=False).encode())


def forget(document: Path) -> None:
    with suppress(OSError, RuntimeError):
        _file(document).unlink(missing_ok=True)


def _file(document: Path) -> Path:
    """One file for each document, in the folder that the XDG specification names for states."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    name = hashlib.sha256(os.fsencode(os.path.realpath(document))).hexdigest()[:32]
    return folder / "nmspeller" / "reviews" / f"{name}.json"
