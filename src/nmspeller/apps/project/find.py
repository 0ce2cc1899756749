"""The files that the arguments of a command line name."""

import glob
import os
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from nmspeller.apps.documents.files import reason
from nmspeller.apps.documents.prose import is_prose_file
from nmspeller.apps.project.config import config_for
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


class DanglingLink(InputError):
    """A folder has a link that leads nowhere, so that there is nothing to check."""


def find(name: str, skipped: Counter[str] | None = None) -> Iterator[Path | InputError]:
    """The files that a file name, a folder or a pattern stands for; what cannot be read comes as an error.

    A folder gives its files of known formats in order, without hidden and vendored ones. Links to folders
    are not followed. Files that `.nmspeller.toml` ignores are left out. `skipped` counts the suffixes of the
    files in folders that are of no known format.
    """
    for found in _named(name, Counter() if skipped is None else skipped):
        if isinstance(found, InputError):
            yield found
        else:
            yield from _unless_ignored(found)


def _named(name: str, skipped: Counter[str]) -> Iterator[Path | InputError]:
    if not name:  # an unset shell variable, which `Path` would take for the current folder
        yield InputError(_("The file name is empty; use . for the current folder."))
        return
    path = Path(name)
    try:
        is_folder = path.is_dir()
        exists = is_folder or os.path.lexists(path)
    except (OSError, ValueError) as error:
        yield InputError(_("{name!r} cannot be looked up: {problem}.").format(name=name, problem=error))
        return
    if is_folder:
        yield from _walk(path, skipped)
    elif exists:
        yield path
    elif glob.has_magic(name):
        yield from _matching(name, skipped)
    else:
        yield InputError(_("{name} does not exist.").format(name=name))


def _matching(pattern: str, skipped: Counter[str]) -> Iterator[Path | InputError]:
    found: list[Path | InputError] = []
    try:
        matches = sorted(glob.glob(pattern, recursive=True))
    except RecursionError:
        yield InputError(
            _("{pattern} leads to folders that are nested too deeply; name a folder instead.").format(
                pattern=pattern
            )
        )
        return
    for match in map(Path, matches):
        if match.is_file():
            found.append(match)
        elif match.is_dir() and "**" not in pattern:  # `**` already includes the content of folders
            found += _walk(match, skipped)
    yield from found or [InputError(_("No file matches {pattern}.").format(pattern=pattern))]


def _walk(folder: Path, skipped: Counter[str]) -> Iterator[Path | InputError]:
    problems: list[OSError] = []
    waiting = [folder]
    while waiting:  # `os.walk` cannot walk through a thousand nested folders before Python 3.12
        try:
            entries = sorted(os.scandir(waiting.pop()), key=attrgetter("name"))
            folders = [one for one in entries if one.is_dir(follow_symlinks=False)]
        except OSError as error:
            problems.append(error)
            continue
        for one in entries:
            if not one.name.startswith((".", "~$")) and _is_file(one):
                if is_prose_file(one.name):
                    yield _linked(Path(one))
                else:
                    skipped[Path(one.name).suffix.lower()] += 1
        waiting += (Path(one) for one in reversed(folders) if _is_searched(one.name))
    for problem in problems:
        yield InputError(
            _("{file} cannot be read: {reason}.").format(file=problem.filename, reason=reason(problem))
        )


def _linked(path: Path) -> Path | InputError:
    if os.path.exists(path):
        return path
    return DanglingLink(_("{file} is a link that leads nowhere.").format(file=path))


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it can be read: not a folder, nor a pipe, a socket or a device, which may never end."""
    return os.path.isfile(entry) or not os.path.exists(entry)


def _is_searched(folder: str) -> bool:
    return not folder.startswith(".") and folder not in _VENDORED


def _unless_ignored(path: Path) -> Iterator[Path | InputError]:
    try:
        if not config_for(path).ignores(path):
            yield path
    except InputError as error:
        yield error
