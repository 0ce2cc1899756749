"""What the model changed in parts that it has read, so that a text that is being written is not read anew.

A page or an editor sends the whole text after each change, and only the changed paragraph costs anything. No
text is kept: a part is known by a digest with a secret of this process, and every client by its own digests,
so that the speed of an answer says nothing about the texts of others.
"""

import hashlib
import secrets
from collections.abc import Sequence
from threading import Lock

from nmspeller.runtime.edits import Change
from nmspeller.runtime.reading import Part

Changes = tuple[Change, ...]
# About as many as a million characters have lines; most have no changes and take some 200 bytes.
_MOST_PARTS = 50_000


class PartMemory:
    """The changes of the parts that were read last; used from several threads."""

    def __init__(self, most: int = _MOST_PARTS) -> None:
        self._most = most
        self._secret = secrets.token_bytes(32)
        self._changes: dict[bytes, Changes] = {}  # the least recently used first
        self._lock = Lock()

    def recall(self, client: str, level: str, parts: Sequence[Part]) -> list[Changes | None]:
        """The changes of each part; None where they are not known. (parts,)"""
        digests = [self._digest(client, level, part) for part in parts]
        with self._lock:
            found = [self._changes.pop(digest, None) for digest in dict.fromkeys(digests)]
            known = dict(zip(dict.fromkeys(digests), found, strict=True))
            self._changes.update({digest: one for digest, one in known.items() if one is not None})
        return [known[digest] for digest in digests]

    def keep(self, client: str, level: str, parts: Sequence[Part], changes: Sequence[Changes]) -> None:
        """Remember what a level changes in parts, and forget those that were not asked for longest."""
        digests = [self._digest(client, level, part) for part in parts]
        with self._lock:
            self._changes.update(zip(digests, changes, strict=True))
            while len(self._changes) > self._most:
                del self._changes[next(iter(self._changes))]

    def _digest(self, client: str, level: str, part: Part) -> bytes:
        asked = repr((client, level, part)).encode()
        return hashlib.blake2b(asked, key=self._secret, digest_size=16).digest()
