"""The settings of the editor: enable, level, rules, words, model, prefilter, debounce and lang."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.messages import LANGUAGES, _
from nmspeller.runtime.policy import Level


@dataclass(frozen=True)
class EditorSettings:
    """The editor's settings; None means that the project's `.nmspeller.toml` or the default decides.

    `rules` is True for all precise rules, or the ids and groups of some, `words` a file of the user's
    words, `model` a model folder, `prefilter` whether a small model decides what the model reads, `debounce`
    milliseconds without a keystroke before a text is checked, `lang` the language of the messages.
    """

    enable: bool = True
    level: str | None = None
    rules: bool | tuple[str, ...] | None = None
    words: str | None = None
    model: str | None = None
    prefilter: bool = False
    debounce: float = 300
    lang: str | None = None

    @classmethod
    def read(cls, *sources: Any) -> tuple["EditorSettings", list[str]]:
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
                except InputError as error:
                    warnings.append(str(error))
        return cls(**{name: value for name, value in values.items() if value is not None}), warnings


def _checked(name: str, value: Any) -> Any:
    known = [field.name for field in fields(EditorSettings)]
    if name not in known:
        raise InputError(
            _("There is no setting `nmspeller.{name}`; use {names}.").format(
                name=name, names=", ".join(known)
            )
        )
    if value is None:
        return None
    right, wanted = _CHECKS[name](value)
    if not right:
        raise InputError(
            _("The setting `nmspeller.{name}` must be {wanted}, not {value}.").format(
                name=name, wanted=wanted, value=repr(value)
            )
        )
    return tuple(value) if isinstance(value, list) else value


def _switch(value: Any) -> tuple[bool, str]:
    return isinstance(value, bool), _("true or false")


def _milliseconds(value: Any) -> tuple[bool, str]:
    right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 60_000
    return right, _("milliseconds from 0 to 60000")


def _level(value: Any) -> tuple[bool, str]:
    return _one_of(value, [level.value for level in Level])


def _language(value: Any) -> tuple[bool, str]:
    return _one_of(value, LANGUAGES)


def _one_of(value: Any, choices: Sequence[str]) -> tuple[bool, str]:
    return value in choices, _("one of {choices}").format(choices=", ".join(choices))


def _rules(value: Any) -> tuple[bool, str]:
    if isinstance(value, bool):
        return True, ""
    # Loaded late: the rules' word list takes a moment, and most users set true or false.
    from nmspeller.runtime.rules import RULES, Group

    known = [*(group.value for group in Group), *RULES]
    right = isinstance(value, list | tuple) and all(isinstance(rule, str) and rule in known for rule in value)
    return right, _("true, false or a list of {rules}").format(rules=", ".join(known))


def _path(value: Any) -> tuple[bool, str]:
    return isinstance(value, str) and _can_be_a_path(value), _("a path")


def _can_be_a_path(name: str) -> bool:
    """Whether this can be the name of a file or folder, with an existing user in `~user`, if any."""
    if not name.strip() or "\0" in name:
        return False
    try:
        Path(name).expanduser()
    except RuntimeError:
        return False
    return True


_CHECKS: dict[str, Callable[[Any], tuple[bool, str]]] = {
    "enable": _switch,
    "level": _level,
    "rules": _rules,
    "words": _path,
    "model": _path,
    "prefilter": _switch,
    "debounce": _milliseconds,
    "lang": _language,
}
