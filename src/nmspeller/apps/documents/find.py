"""From what a person names on the command line to the files that are meant."""

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from nmspeller.apps.documents.config import config_for
from nmspeller.apps.documents.files import reason
from nmspeller.apps.documents.prose import is_prose_file
from nmspeller.errors import InputError

_NOT_OURS = frozenset(
    (
        "__pycache__",
        "bower_components",
        "build",
        "dist",
        "node_modules",
        "site-packages",
        "third_party",
        "vendor",
        "venv",
    )
)


def find(name: str) -> Iterator[Path | InputError]:
    """The files that a file, a folder or a pattern names; what cannot be looked into comes as an error.

    A folder gives its files of known formats, without hidden and vendored ones, in order. Links to folders
    are not followed. What `.nmspeller.toml` ignores is left out.
    """
    path = Path(name)
    try:
        is_folder = path.is_dir()
        exists = is_folder or os.path.lexists(path)
    except (OSError, ValueError) as wrong:
        yield InputError(f"{name!r} cannot be looked up: {wrong}.")
        return
    if is_folder:
        yield from _walk(path)
    elif exists:
        yield from _unless_ignored(path)
    elif glob.has_magic(name):
        yield from _matching(name)
    else:
        yield InputError(f"{name} does not exist.")


def _matching(pattern: str) -> Iterator[Path | InputError]:
    matches = [Path(match) for match in sorted(glob.glob(pattern, recursive=True))]
    if not matches:
        yield InputError(f"No file matches {pattern}.")
    for match in matches:
        if match.is_file():
            yield from _unless_ignored(match)


def _walk(folder: Path) -> Iterator[Path | InputError]:
    problems: list[OSError] = []
    for root, folders, names in os.walk(folder, onerror=problems.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OURS)
        for name in sorted(names):
            if not name.startswith((".", "~$")) and is_prose_file(name):
                yield from _unless_ignored(Path(root, name))
    for problem in problems:
        yield InputError(f"{problem.filename} cannot be looked into: {reason(problem)}.")


def _unless_ignored(path: Path) -> Iterator[Path | InputError]:
    try:
        if not config_for(path).ignores(path):
            yield path
    except InputError as wrong:
        yield wrong
