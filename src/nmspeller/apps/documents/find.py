"""The files that the arguments of a command line name."""

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from nmspeller.apps.documents.config import config_for
from nmspeller.apps.documents.files import reason
from nmspeller.apps.documents.prose import is_prose_file
from nmspeller.errors import InputError
from nmspeller.messages import _

_VENDORED = frozenset(
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
    """The files that a file name, a folder or a pattern stands for; what cannot be read comes as an error.

    A folder gives its files of known formats in order, without hidden and vendored ones. Links to folders
    are not followed. Files that `.nmspeller.toml` ignores are left out.
    """
    for found in _named(name):
        if isinstance(found, InputError):
            yield found
        else:
            yield from _unless_ignored(found)


def _named(name: str) -> Iterator[Path | InputError]:
    if not name:  # an unset shell variable, which `Path` would take for the current folder
        yield InputError(_("The file name is empty; use . for the current folder."))
        return
    path = Path(name)
    try:
        is_folder = path.is_dir()
        exists = is_folder or os.path.lexists(path)
    except (OSError, ValueError) as wrong:
        yield InputError(_("{name!r} cannot be looked up: {problem}.").format(name=name, problem=wrong))
        return
    if is_folder:
        yield from _walk(path)
    elif exists:
        yield path
    elif glob.has_magic(name):
        yield from _matching(name)
    else:
        yield InputError(_("{name} does not exist.").format(name=name))


def _matching(pattern: str) -> Iterator[Path | InputError]:
    found: list[Path | InputError] = []
    for match in map(Path, sorted(glob.glob(pattern, recursive=True))):
        if match.is_file():
            found.append(match)
        elif match.is_dir() and "**" not in pattern:  # `**` already includes the content of folders
            found += _walk(match)
    yield from found or [InputError(_("No file matches {pattern}.").format(pattern=pattern))]


def _walk(folder: Path) -> Iterator[Path | InputError]:
    problems: list[OSError] = []
    for root, folders, names in os.walk(folder, onerror=problems.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _VENDORED)
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith((".", "~$")) and is_prose_file(name) and not _is_special(path):
                yield path
    for problem in problems:
        yield InputError(
            _("{file} cannot be read: {reason}.").format(file=problem.filename, reason=reason(problem))
        )


def _is_special(path: Path) -> bool:
    """Whether it is a pipe, a socket or a device, which may never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def _unless_ignored(path: Path) -> Iterator[Path | InputError]:
    try:
        if not config_for(path).ignores(path):
            yield path
    except InputError as wrong:
        yield wrong
