"""`.nmspeller.toml`, found upwards from a file: language, level, rules, words, what to ignore, formats.

lang = "zh"                          # of messages and reports
level = "careful"
rules = ["spelling", "typography"]   # groups and ids of rules; true for both groups, false for none
words = ["names.txt"]                # files beside this one
replacements = ["house-style.tsv"]
ignore = ["drafts/", "*.min.html"]
[format]
"*.txt" = "markdown"
"""

import json
import os
import sys
from dataclasses import dataclass, field
from datetime import date, time
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from nmspeller.apps.documents.files import reason
from nmspeller.apps.documents.prose import FORMATS, OFFICE_FORMATS
from nmspeller.errors import InputError
from nmspeller.messages import LANGUAGES, _
from nmspeller.runtime.policy import Level
from nmspeller.runtime.rule_matches import chosen_rules

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = ".nmspeller.toml"
_MOST_STARS = 3
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
        inside = _relative(path, self.folder)
        if inside is None or not self.ignore:
            return False
        patterns = _patterns(self.ignore)
        # Folders are tested on their own: as for git, no pattern includes a file of an ignored folder again.
        folders = (f"{folder}/" for folder in inside.parents if folder.name)
        return any(map(patterns.match_file, (*folders, str(inside))))

    def format_of(self, path: Path) -> str:
        """The format of the first matching pattern, `auto` if none matches."""
        inside = _relative(path, self.folder)
        for pattern, format in self.formats if inside else ():
            if _patterns((pattern,)).match_file(str(inside)):
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
    except OSError as error:
        raise InputError(
            _("{file} cannot be read: {reason}.").format(file=file, reason=reason(error))
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            _("{path} is not UTF-8 (byte {byte}); save it as UTF-8.").format(path=file, byte=error.start)
        ) from None
    except (ValueError, RecursionError) as error:  # too long a number, too deep a nesting
        raise InputError(_("{file} is not TOML: {wrong}.").format(file=file, wrong=error)) from None
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
        ignore=_checked_patterns(file, _strings(file, table, "ignore")),
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
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


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
    _checked_patterns(file, tuple(pairs))
    return tuple(pairs.items())


def _checked_patterns(file: Path, patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        # Each of them multiplies the time that a name of a hostile project can take.
        if any(part.count("*") > _MOST_STARS for part in pattern.split("/")):
            raise InputError(
                _("{file}: {pattern} has more than {number} * in one name; use fewer.").format(
                    file=file, pattern=_as_in_toml(pattern), number=_MOST_STARS
                )
            )
        try:
            _patterns((pattern,))
        except ValueError:
            raise InputError(
                _("{file}: {pattern} is not a pattern of .gitignore.").format(
                    file=file, pattern=_as_in_toml(pattern)
                )
            ) from None
    return patterns


def _without_dots(path: Path) -> Path:
    """The absolute path; with `..`, the folder before it would count as one that contains the file."""
    return Path(os.path.abspath(path))


def _relative(path: Path, folder: Path) -> PurePosixPath | None:
    """The path from the folder; None if it is not in it."""
    whole = _without_dots(path)
    return PurePosixPath(whole.relative_to(folder).as_posix()) if whole.is_relative_to(folder) else None


@lru_cache(maxsize=4096)
def _patterns(lines: tuple[str, ...]) -> "GitIgnoreSpec":
    # Loaded late: most projects have no patterns.
    from pathspec import GitIgnoreSpec

    # For pathspec, unlike git, `docs/**` is the folder `docs/` as well.
    return GitIgnoreSpec.from_lines(f"{line}/*" if line.endswith("/**") else line for line in lines)
