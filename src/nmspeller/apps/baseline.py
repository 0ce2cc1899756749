"""The known findings of a project, so that a team is told about new ones only.

A baseline is a JSON file to be kept with the project. Its findings are identified by the file's path relative
to the baseline, the wrong text, its replacement and a hash of the characters around it, with a count, so that
changes elsewhere in a file make no difference.
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmspeller.apps.documents import files
from nmspeller.apps.fingerprint import Fingerprint, Known, fingerprint
from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.messages import _
from nmspeller.runtime.findings import Edit, Hint

_VERSION = 1


class Baseline:
    """What a baseline's file says, and what a check has found of it.

    Attributes:
        known: how many findings of this check the baseline has.
    """

    def __init__(self, file: Path, entries: dict[str, Counter[Fingerprint]]) -> None:
        self.file = file
        self.known = 0
        self._entries = entries
        self._known = {name: Known(counts) for name, counts in entries.items()}
        self._left = {name: counts.copy() for name, counts in entries.items()}
        self._checked: set[str] = set()
        self._folder = os.path.dirname(os.path.realpath(file))

    @classmethod
    def read(cls, file: Path) -> "Baseline":
        """The baseline in a file.

        Raises:
            InputError: it cannot be read, or is no baseline.
        """
        if not os.path.lexists(file):
            raise InputError(_("{file} does not exist; write it with --update-baseline.").format(file=file))
        try:
            content = json.loads(files.read(file).decode("utf-8-sig", "surrogateescape"))
            return cls(file, _entries(content))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(
                _(
                    "{file} is damaged or not a baseline; restore it, "
                    "or delete it and write it with --update-baseline."
                ).format(file=file)
            ) from None

    @classmethod
    def read_or_new(cls, file: Path) -> "Baseline":
        """The baseline in a file, or an empty one if there is no file yet."""
        return cls.read(file) if os.path.lexists(file) else cls(file, {})

    def unknown(self, path: Path, text: str, edits: Sequence[Edit]) -> list[Edit]:
        """Those of some edits of a file, whose text is `text`, that the baseline does not have."""
        name, marks = self._name(path), _fingerprints(text, edits)
        return [edit for edit, mark in zip(edits, marks, strict=True) if not self._take(name, mark)]

    def unknown_hints(self, path: Path, text: str, hints: Sequence[Hint]) -> list[Hint]:
        """The same for hints."""
        name, marks = self._name(path), _fingerprints_of_hints(text, hints)
        return [hint for hint, mark in zip(hints, marks, strict=True) if not self._take(name, mark)]

    def _take(self, name: str, mark: Fingerprint) -> bool:
        """Whether the baseline has a finding once more than it was asked for."""
        if name not in self._known:
            return False
        left = self._left[name]
        found = next((one for one in self._known[name].same(mark) if left[one] > 0), None)
        if found is None:
            return False
        left[found] -= 1
        self.known += 1
        return True

    def mark_checked(self, path: Path) -> None:
        """The whole file was checked: what the baseline has beyond its findings is not found any more."""
        self._checked.add(self._name(path))

    @property
    def removable(self) -> int:
        """How many findings of the baseline are gone from the checked files, or with their files."""
        return sum(
            counts.total()
            for name, counts in self._left.items()
            if name in self._checked or self._is_gone(name)
        )

    def set(self, path: Path, text: str, edits: Sequence[Edit], hints: Sequence[Hint] = ()) -> None:
        """Replace what the baseline has of a file by all edits and hints of its text."""
        marks = (*_fingerprints(text, edits), *_fingerprints_of_hints(text, hints))
        self._entries[self._name(path)] = Counter(marks)

    def write(self) -> int:
        """Write the file, without entries of files that are gone; returns the number of findings in it.

        Raises:
            OSError: it cannot be written; the old one stays.
        """
        entries = {
            name: counts
            for name, counts in sorted(self._entries.items())
            if counts and not self._is_gone(name)
        }
        # One line for each entry, so that a version control system can show and merge changes.
        lists = [
            f"  {_json(name)}: [\n" + ",\n".join(map(_line, sorted(counts.items()))) + "\n  ]"
            for name, counts in entries.items()
        ]
        content = f'{{\n "version": {_VERSION},\n "files": {{\n' + ",\n".join(lists) + "\n }\n}\n"
        write_whole(self.file, content.encode("utf-8", "surrogateescape"))
        return sum(counts.total() for counts in entries.values())

    def _name(self, path: Path) -> str:
        """The path relative to the baseline's folder, with slashes on every system."""
        return Path(os.path.relpath(os.path.realpath(path), self._folder)).as_posix()

    def _is_gone(self, name: str) -> bool:
        return not os.path.lexists(os.path.join(self._folder, name))


def _fingerprints(text: str, edits: Sequence[Edit]) -> list[Fingerprint]:
    return [fingerprint(text, edit.offset, edit.offset + edit.length, edit.target, edits) for edit in edits]


def _fingerprints_of_hints(text: str, hints: Sequence[Hint]) -> list[Fingerprint]:
    return [fingerprint(text, hint.offset, hint.stop, hint.rule, ()) for hint in hints]


def _entries(content: Any) -> dict[str, Counter[Fingerprint]]:
    if content["version"] != _VERSION:
        raise ValueError("another version")
    return {name: _counts(entries) for name, entries in content["files"].items()}


def _counts(entries: Any) -> Counter[Fingerprint]:
    counts: Counter[Fingerprint] = Counter()
    for entry in entries:
        values = [entry["source"], entry["target"], entry["context"], entry.get("corrected", "")]
        if not all(isinstance(value, str) for value in values) or not isinstance(entry["count"], int):
            raise ValueError("an entry of another form")
        counts[Fingerprint(*values)] += entry["count"]
    return counts


def _line(entry: tuple[Fingerprint, int]) -> str:
    mark, count = entry
    values = mark._asdict()
    if not mark.corrected:
        del values["corrected"]
    return "   " + _json({**values, "count": count})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
