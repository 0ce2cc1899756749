"""`.nmspeller.toml`, found upwards from a file: level, words, what to ignore, formats.

level = "careful"
words = ["names.txt"]                # files beside this one
replacements = ["house-style.tsv"]
ignore = ["drafts/", "*.min.html"]
[format]
"*.txt" = "markdown"
"""

import sys
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from nmspeller.apps.documents.files import reason
from nmspeller.apps.documents.prose import FORMATS
from nmspeller.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = ".nmspeller.toml"
_SETTINGS = ("level", "words", "replacements", "ignore", "format")
LEVELS = ("careful", "balanced", "thorough")


@dataclass(frozen=True)
class Config:
    """What a folder asks for; empty where there is no file."""

    folder: Path = field(default_factory=Path)
    level: str | None = None
    words: tuple[Path, ...] = ()
    replacements: tuple[Path, ...] = ()
    ignore: tuple[str, ...] = ()
    formats: tuple[tuple[str, str], ...] = ()

    def ignores(self, path: Path) -> bool:
        """Whether a pattern names the file, or a folder that it is in."""
        return any(_matches(path, self.folder, pattern) for pattern in self.ignore)

    def format_of(self, path: Path) -> str:
        """The format the first fitting pattern gives, `auto` where none fits."""
        fitting = (format for pattern, format in self.formats if _matches(path, self.folder, pattern))
        return next(fitting, "auto")


def config_for(path: Path) -> Config:
    """The nearest file's settings, from the folder of `path` upwards."""
    return _config_of_folder(path.absolute().parent)


def forget() -> None:
    """Read every file again when it is next asked for; it may have changed."""
    _config_of_folder.cache_clear()


@lru_cache(maxsize=4096)
def _config_of_folder(folder: Path) -> Config:
    file = folder / FILE_NAME
    try:
        found = file.is_file()
    except OSError:
        found = False
    if found:
        return _load(file)
    return Config() if folder == folder.parent else _config_of_folder(folder.parent)


def _load(file: Path) -> Config:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as wrong:
        raise InputError(f"{file} cannot be read: {reason(wrong)}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise InputError(f"{file} is not TOML: {wrong}.") from None
    unknown = sorted(set(table) - set(_SETTINGS))
    if unknown:
        raise InputError(f"{file} has an unknown setting {unknown[0]!r}; it may set {', '.join(_SETTINGS)}.")
    level = table.get("level")
    if level is not None and level not in LEVELS:
        raise InputError(f"{file}: level is {level!r}, but must be one of {', '.join(LEVELS)}.")
    return Config(
        folder=file.parent,
        level=level,
        words=tuple(file.parent / name for name in _strings(file, table, "words")),
        replacements=tuple(file.parent / name for name in _strings(file, table, "replacements")),
        ignore=_strings(file, table, "ignore"),
        formats=_formats(file, table.get("format", {})),
    )


def _strings(file: Path, table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise InputError(f"{file}: {key} must be a list of strings.")
    return tuple(values)


def _formats(file: Path, value: Any) -> tuple[tuple[str, str], ...]:
    pairs = {"*": value} if isinstance(value, str) else value
    if not isinstance(pairs, dict):
        raise InputError(f"{file}: format must be a name, or a table of patterns and names.")
    for format in pairs.values():
        if format not in (*FORMATS, "auto", "docx"):
            raise InputError(
                f"{file}: {format!r} is not a format; there are auto, {', '.join(FORMATS)} and docx."
            )
    return tuple(pairs.items())


def _matches(path: Path, folder: Path, pattern: str) -> bool:
    """As in `.gitignore`: with a slash it starts at the folder, without one it fits a name at any depth."""
    try:
        parts = path.absolute().relative_to(folder).parts
    except ValueError:
        return False
    wanted = pattern.strip("/")
    if "/" in wanted or pattern.startswith("/"):
        candidates = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    else:
        candidates = list(parts)
    if pattern.endswith("/"):
        candidates = candidates[:-1]
    return any(fnmatchcase(candidate, wanted) for candidate in candidates)
