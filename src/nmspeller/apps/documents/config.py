"""`.nmspeller.toml`, found upwards from a file: language, level, rules, words, what to ignore, formats.

lang = "zh"                          # of messages and reports
level = "careful"
rules = true                         # or the ids of some: ["idiom", "doubled_character"]
words = ["names.txt"]                # files beside this one
replacements = ["house-style.tsv"]
ignore = ["drafts/", "*.min.html"]
[format]
"*.txt" = "markdown"
"""

import glob
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, time
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from nmspeller.apps.documents.files import reason
from nmspeller.apps.documents.prose import FORMATS, OFFICE_FORMATS
from nmspeller.errors import InputError
from nmspeller.messages import LANGUAGES, _
from nmspeller.runtime.policy import Level
from nmspeller.runtime.rule_matches import chosen_rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = ".nmspeller.toml"
_SETTINGS = ("lang", "level", "rules", "words", "replacements", "ignore", "format")
_LEVELS = tuple(level.value for level in Level)


@dataclass(frozen=True)
class Config:
    """The settings of a folder; empty if there is no file."""

    folder: Path = field(default_factory=Path)
    lang: str | None = None
    level: str | None = None
    rules: bool | tuple[str, ...] | None = None
    words: tuple[Path, ...] = ()
    replacements: tuple[Path, ...] = ()
    ignore: tuple[str, ...] = ()
    formats: tuple[tuple[str, str], ...] = ()

    def ignores(self, path: Path) -> bool:
        """Whether the file or a folder that it is in is ignored; the last matching pattern decides."""
        return any(self._ignores_step(step) for step in _steps(path, self.folder))

    def _ignores_step(self, step: "_Step") -> bool:
        for pattern in reversed(self.ignore):
            if _matches(step, pattern.removeprefix("!")):
                return not pattern.startswith("!")
        return False

    def format_of(self, path: Path) -> str:
        """The format of the first matching pattern, `auto` if none matches."""
        steps = list(_steps(path, self.folder))
        for pattern, format in self.formats:
            if any(_matches(step, pattern) for step in steps):
                return format
        return "auto"


def config_for(path: Path) -> Config:
    """The settings of the nearest file, from the folder of `path` upwards."""
    return next(filter(None, map(_config_of_folder, _without_dots(path).parents)), Config())


def forget() -> None:
    """Clear the cache, since files may have changed."""
    _config_of_folder.cache_clear()


@lru_cache(maxsize=4096)
def _config_of_folder(folder: Path) -> Config | None:
    """The settings of the folder's own file, None if it has none."""
    file = folder / FILE_NAME
    try:
        found = file.is_file()
    except OSError:
        found = False
    return _load(file) if found else None


def _load(file: Path) -> Config:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as wrong:
        raise InputError(
            _("{file} cannot be read: {reason}.").format(file=file, reason=reason(wrong))
        ) from None
    except UnicodeDecodeError as wrong:
        raise InputError(
            _("{path} is not UTF-8 (byte {byte}); save it as UTF-8.").format(path=file, byte=wrong.start)
        ) from None
    except (ValueError, RecursionError) as wrong:  # too long a number, too deep a nesting
        raise InputError(_("{file} is not TOML: {wrong}.").format(file=file, wrong=wrong)) from None
    unknown = sorted(set(table) - set(_SETTINGS))
    if unknown:
        raise InputError(
            _("{file} has an unknown setting {name!r}; it may set {names}.").format(
                file=file, name=unknown[0], names=", ".join(_SETTINGS)
            )
        )
    return Config(
        folder=file.parent,
        lang=_choice(file, table, "lang", LANGUAGES),
        level=_choice(file, table, "level", _LEVELS),
        rules=_rules(file, table.get("rules")),
        words=tuple(file.parent / name for name in _strings(file, table, "words")),
        replacements=tuple(file.parent / name for name in _strings(file, table, "replacements")),
        ignore=_strings(file, table, "ignore"),
        formats=_formats(file, table.get("format", {})),
    )


def _choice(file: Path, table: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str | None:
    value: str | None = table.get(key)
    if value is not None and value not in allowed:
        raise InputError(
            _("{file}: {key} is {value}, but must be one of {names}.").format(
                file=file, key=key, value=_as_in_toml(value), names=", ".join(allowed)
            )
        )
    return value


def _as_in_toml(value: Any) -> str:
    """A value as users wrote it; Python would show a date as `datetime.date(2026, 1, 1)`."""
    if isinstance(value, date | time):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _strings(file: Path, table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise InputError(_("{file}: {key} must be a list of strings.").format(file=file, key=key))
    return tuple(values)


def _rules(file: Path, value: Any) -> bool | tuple[str, ...] | None:
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(_("{file}: rules must be true, false or a list of rule ids.").format(file=file))
    try:
        return tuple(rule.id for rule in chosen_rules(value))
    except InputError as wrong:
        raise InputError(f"{file}: {wrong}") from None


def _formats(file: Path, value: Any) -> tuple[tuple[str, str], ...]:
    pairs = {"*": value} if isinstance(value, str) else value
    if not isinstance(pairs, dict):
        raise InputError(
            _("{file}: format must be a name, or a table of patterns and names.").format(file=file)
        )
    for format in pairs.values():
        if format not in (known := ("auto", *FORMATS, *OFFICE_FORMATS)):
            raise InputError(
                _("{file}: {format} is not a format; there are {names}.").format(
                    file=file, format=_as_in_toml(format), names=", ".join(known)
                )
            )
    return tuple(pairs.items())


def _without_dots(path: Path) -> Path:
    """The absolute path; with `..`, the folder before it would count as one that contains the file."""
    return Path(os.path.abspath(path))


class _Step(NamedTuple):
    """A folder above a file, or the file itself, relative to the folder of the settings."""

    names: tuple[str, ...]
    is_folder: bool


def _steps(path: Path, folder: Path) -> Iterator[_Step]:
    """From the outermost folder to the file; empty for a file outside the folder."""
    whole = _without_dots(path)
    names = whole.relative_to(folder).parts if whole.is_relative_to(folder) else ()
    for depth in range(1, len(names) + 1):
        yield _Step(names[:depth], is_folder=depth < len(names))


def _matches(step: _Step, pattern: str) -> bool:
    """As in `.gitignore`: a pattern with a slash starts at the folder, one without matches at any depth."""
    if pattern.endswith("/") and not step.is_folder:
        return False
    return _all_match(step.names, _globs(pattern.removesuffix("/")))


@lru_cache(maxsize=4096)
def _globs(pattern: str) -> tuple[str, ...]:
    """The pattern split into names, in the syntax of `fnmatch`, which has no backslash and no `[^`."""
    translated = re.sub(r"\\(.)|\[\^", lambda sign: glob.escape(sign[1]) if sign[1] else "[!", pattern)
    first, *rest = translated.split("/")
    if not rest:
        return ("**", first)
    return tuple(rest) if first == "" else (first, *rest)


@lru_cache(maxsize=4096)
def _all_match(names: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    """Whether each name matches its glob; `**` matches any number of names, at the end one or more."""
    reached = {0}  # how many globs the names so far may have matched
    for name in names:
        before = _past_stars(reached, globs)
        reached = {at + 1 for at in before if at < len(globs) and fnmatchcase(name, globs[at])}
        reached |= {at for at in before if globs[at : at + 1] == ("**",)}
    return len(globs) in reached


def _past_stars(reached: set[int], globs: tuple[str, ...]) -> set[int]:
    """The same, and what follows each `**` that matches no further name."""
    past = set(reached)
    for at, one in enumerate(globs[:-1]):
        if one == "**" and at in past:
            past.add(at + 1)
    return past
