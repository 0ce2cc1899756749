"""What a model is made of, as frozen dataclasses; no torch, so that exporters read them too."""

import collections.abc
import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nmspeller.errors import InputError

BEST = 5
"""How many candidates a model proposes for a position."""

NGRAMS = {
    "unigram": (0,),
    "left-bigram": (-1, 0),
    "right-bigram": (0, 1),
    "trigram": (-1, 0, 1),
}
"""The paper's four choices of masked positions, as offsets from the current one."""


@dataclass(frozen=True)
class EncoderConfig:
    """The sizes of a BERT encoder; the defaults are BERT-base with Google's Chinese vocabulary.

    fake_quantised: the model is of quantisation-aware training; see `fake_quantisation`.
    """

    vocabulary: int = 21128
    hidden: int = 768
    layers: int = 12
    heads: int = 12
    intermediate: int = 3072
    positions: int = 512
    dropout: float = 0.1
    attention_dropout: float = 0.1
    norm_epsilon: float = 1e-12
    mask_id: int = 103
    fake_quantised: bool = False

    def __post_init__(self) -> None:
        check_range(self, "vocabulary", "hidden", "layers", "heads", "intermediate", "positions", least=1)
        check_range(self, "dropout", "attention_dropout", least=0, most=1)
        if self.hidden % self.heads:
            raise InputError(
                f"hidden size {self.hidden} is no multiple of {self.heads} heads; change either."
            )
        if not 0 <= self.mask_id < self.vocabulary:
            raise InputError(f"mask_id {self.mask_id} is outside the vocabulary of {self.vocabulary} tokens.")


@dataclass(frozen=True)
class MaskingConfig:
    """N-gram masking.

    ngram: one of the paper's four names.
    offsets: any other set of relative positions to mask, instead of an n-gram.
    active: in 'training' only, or 'always'.
    init: 'from_layer0' copies the encoder's first layer; 'identity' starts with attention and feed-forward at
    zero, so that the encoder's input is at first what it was; 'random' is BERT's initialisation.
    """

    ngram: str = "trigram"
    offsets: tuple[int, ...] = ()
    active: str = "training"
    init: str = "from_layer0"

    def __post_init__(self) -> None:
        if not self.offsets and self.ngram not in NGRAMS:
            raise InputError(f"unknown n-gram {self.ngram!r}; use {', '.join(NGRAMS)}, or give offsets.")
        if self.active not in ("training", "always"):
            raise InputError(f"masking is active in 'training' or 'always', not {self.active!r}.")
        if self.init not in ("from_layer0", "identity", "random"):
            raise InputError(
                f"the masking layer starts 'from_layer0', 'identity' or 'random', not {self.init!r}."
            )

    @property
    def masked_offsets(self) -> tuple[int, ...]:
        return tuple(sorted(set(self.offsets or NGRAMS[self.ngram])))


@dataclass(frozen=True)
class SpellerConfig:
    """What all spellers share; a speller with options of its own adds to it.

    speller: the speller's name in the registry.
    head: 'mlm' is BERT's pretrained head; 'linear' is the paper's dense layer.
    tags: two more outputs per position: this character is extra, something is missing before it.
    """

    speller: str
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    masking: MaskingConfig | None = None
    head: str = "mlm"
    tags: bool = False

    def __post_init__(self) -> None:
        if self.head not in ("mlm", "linear"):
            raise InputError(f"the head is 'mlm' or 'linear', not {self.head!r}.")


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
