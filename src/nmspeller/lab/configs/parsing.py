"""Config files and the dataclasses that they describe."""

import collections.abc
import dataclasses
import math
import types
import typing
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nmspeller.errors import InputError

Config = TypeVar("Config")


def check_range(config: Any, *names: str, least: float, most: float = math.inf) -> None:
    """Check that these fields of a config are within a range; None stands for no value.

    Raises:
        InputError: one does not.
    """
    for name in names:
        value = getattr(config, name)
        if value is not None and not least <= value <= most:  # true for nan as well
            bounds = f"at least {least}" if most == math.inf else f"from {least} to {most}"
            raise InputError(f"{name} is {value}; it must be {bounds}.")


def from_mapping(kind: type[Config], values: Mapping[str, Any], where: str = "model") -> Config:
    """Build a (nested) config dataclass from plain values.

    Raises:
        InputError: an unknown name or a value of the wrong type, with its full path.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{where} must be a mapping, not {values!r}.")
    hints = typing.get_type_hints(kind)
    known = [entry.name for entry in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise InputError(f"{where}.{name} is unknown; {where} has {', '.join(known)}.")
    for entry in dataclasses.fields(kind):  # type: ignore[arg-type]
        needed = entry.default is entry.default_factory is dataclasses.MISSING
        if needed and entry.name not in values:
            raise InputError(f"{where} has no {entry.name}; add it.")
    return kind(**{name: _convert(hints[name], value, f"{where}.{name}") for name, value in values.items()})


def to_mapping(config: Any) -> dict[str, Any]:
    """The inverse of `from_mapping`: plain values for JSON and YAML."""
    return {
        entry.name: to_mapping(value) if dataclasses.is_dataclass(value) else _plain(value)
        for entry in dataclasses.fields(config)
        for value in [getattr(config, entry.name)]
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _convert(hint: Any, value: Any, where: str) -> Any:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        if value is None:
            return None
        hint = next(kind for kind in typing.get_args(hint) if kind is not type(None))
    if dataclasses.is_dataclass(hint):
        return from_mapping(typing.cast(type, hint), value, where)
    if typing.get_origin(hint) is tuple:
        kind, *others = typing.get_args(hint)
        if isinstance(value, (list, tuple)) and (others == [...] or len(value) == 1 + len(others)):
            return tuple(_convert(kind, each, where) for each in value)
    elif typing.get_origin(hint) is collections.abc.Mapping:
        if isinstance(value, Mapping):
            kind = typing.get_args(hint)[1]
            return {name: _convert(kind, each, f"{where}.{name}") for name, each in value.items()}
    elif typing.get_origin(hint) is typing.Literal:
        if value in typing.get_args(hint):
            return value
    elif hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, hint) and isinstance(value, bool) == (hint is bool):
        return value
    kind_name = hint.__name__ if isinstance(hint, type) else str(hint)
    raise InputError(f"{where} is {value!r}, but must be {kind_name}.")


def read_yaml(path: str | Path, known: Collection[str] = ()) -> dict[str, Any]:
    """A config file as plain values.

    known: the names that it may contain; any, if none are given.

    Raises:
        InputError: no such file, not YAML with a mapping in it, or an unknown name.
    """
    import yaml  # imported late: models are built without it

    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}.") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(values, dict):
        raise InputError(f"{path} must contain a mapping, such as 'model: …'.")
    for name in values:
        if known and name not in known:
            raise InputError(f"{path} has {name!r}, which is unknown; it may have {', '.join(known)}.")
    return values
