"""The settings of the editor: `enable`, `level`, `words`, `model`, `prefilter` and `debounce`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.runtime.policy import Level


@dataclass(frozen=True)
class Settings:
    """The editor's settings; None means that the project's `.nmspeller.toml` or the default decides.

    `words` is a file of the user's words, `model` a model folder, `prefilter` whether a small model decides
    what the model reads, `debounce` milliseconds without a keystroke before a text is checked.
    """

    enable: bool = True
    level: str | None = None
    words: str | None = None
    model: str | None = None
    prefilter: bool = False
    debounce: float = 300

    @classmethod
    def read(cls, *sources: Any) -> tuple["Settings", list[str]]:
        """The settings of several sources, of which later ones win, and a sentence on each that is invalid.

        An invalid setting is ignored; the others still apply.
        """
        values: dict[str, Any] = {}
        warnings: list[str] = []
        for source in sources:
            if not isinstance(source, Mapping):
                continue
            for name, value in source.items():
                try:
                    values[name] = _checked(name, value)
                except InputError as wrong:
                    warnings.append(str(wrong))
        return cls(**{name: value for name, value in values.items() if value is not None}), warnings


def _checked(name: str, value: Any) -> Any:
    known = [field.name for field in fields(Settings)]
    if name not in known:
        raise InputError(f"There is no setting `nmspeller.{name}`; use {', '.join(known)}.")
    if value is None:
        return None
    if name in ("enable", "prefilter"):
        right, wanted = isinstance(value, bool), "true or false"
    elif name == "debounce":
        right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 60_000
        wanted = "milliseconds from 0 to 60000"
    elif name == "level":
        levels = [level.value for level in Level]
        right, wanted = value in levels, f"one of {', '.join(levels)}"
    else:
        right, wanted = isinstance(value, str) and _can_be_a_path(value), "a path"
    if not right:
        raise InputError(f"The setting `nmspeller.{name}` must be {wanted}, not {value!r}.")
    return value


def _can_be_a_path(name: str) -> bool:
    """Whether this can be the name of a file or folder, with an existing user in `~user`, if any."""
    if not name.strip() or "\0" in name:
        return False
    try:
        Path(name).expanduser()
    except RuntimeError:
        return False
    return True
