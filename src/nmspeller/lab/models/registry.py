"""From names in YAML to models."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import from_mapping, to_mapping
from nmspeller.lab.models import fake_quantisation
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig
from nmspeller.lab.models.dcn import DCN, DCNConfig
from nmspeller.lab.models.dgspeller import DGSpeller
from nmspeller.lab.models.fusion import MultiModalConfig
from nmspeller.lab.models.phmospell import PHMOSpell, PHMOSpellConfig
from nmspeller.lab.models.realise import ReaLiSe
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.spellgcn import SpellGCN, SpellGCNConfig
from nmspeller.lab.models.tables import CharacterTables


class Entry(NamedTuple):
    config: type[SpellerConfig]
    model: type[SpellerModel]


SPELLERS: dict[str, Entry] = {
    "bert": Entry(SpellerConfig, BertSpeller),
    "spellgcn": Entry(SpellGCNConfig, SpellGCN),
    "dcn": Entry(DCNConfig, DCN),
    "phmospell": Entry(PHMOSpellConfig, PHMOSpell),
    "realise": Entry(MultiModalConfig, ReaLiSe),
    "dgspeller": Entry(MultiModalConfig, DGSpeller),
}


def parse(values: Mapping[str, Any], encoder: EncoderConfig | None = None) -> SpellerConfig:
    """The `model:` part of a YAML file → its config; `encoder` gives the sizes that the file leaves out.

    Raises:
        InputError: an unknown speller, name or value.
    """
    if not isinstance(values, Mapping) or "speller" not in values:
        raise InputError(f"the model has no 'speller'; name one of {', '.join(SPELLERS)}.")
    if encoder is not None:
        own = values.get("encoder", {})
        if not isinstance(own, Mapping):
            raise InputError(f"model.encoder must be a mapping, not {own!r}.")
        values = {**values, "encoder": {**to_mapping(encoder), **own}}
    return from_mapping(entry(values["speller"]).config, values)


def build(config: SpellerConfig, tables: CharacterTables | None = None) -> SpellerModel:
    """A new model, with fake-quantised layers where the config says so.

    tables: needed where `needed_tables(config)` is not empty.

    Raises:
        InputError: tables are needed and not given, or are of another vocabulary.
    """
    kind: Any = entry(config.speller).model
    if config.tags and kind is not BertSpeller:
        raise InputError(f"{config.speller} has no tags, only BERT and NM-BERT do; leave out `tags`.")
    if kind.needs and tables is None:
        raise InputError(f"{config.speller} needs character tables ({', '.join(kind.needs)}).")
    if kind.needs and tables is not None:
        tables.check(config.encoder.vocabulary, kind.needs)
        model: SpellerModel = kind(config, tables.only(kind.needs))
    else:
        model = kind(config)
    if config.encoder.fake_quantised:
        fake_quantisation.apply(model)
    return model


def from_arrays(encoder: EncoderConfig, weights: Mapping[str, NDArray[np.float32]]) -> SpellerModel:
    """A BERT speller of these sizes and weights, in eval mode.

    Raises:
        InputError: the weights are not of these sizes.
    """
    head = "mlm" if "head.dense.weight" in weights else "linear"
    config = SpellerConfig(
        speller="bert", encoder=encoder, head=head, tags=any(name.startswith("tags.") for name in weights)
    )
    model = build(config)
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: array.shape for name, array in weights.items()}
    if own != found:
        name = next(name for name in [*own, *found] if own.get(name) != found.get(name))
        raise InputError(
            f"the weights have {name!r} of shape {found.get(name)}, not {own.get(name)} as in the config."
        )
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return model.eval()


def needed_tables(config: SpellerConfig) -> tuple[str, ...]:
    """Which of the arrays of `CharacterTables` this model uses."""
    return entry(config.speller).model.needs


def entry(name: object) -> Entry:
    if not isinstance(name, str) or name not in SPELLERS:
        raise InputError(f"unknown speller {name!r}; use one of {', '.join(SPELLERS)}.")
    return SPELLERS[name]
