"""From names in YAML to models."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nmspeller.errors import InputError
from nmspeller.lab.models.bert import BertConfig, BertSpeller
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig, from_mapping, to_mapping
from nmspeller.lab.models.dcn import DCN, DCNConfig
from nmspeller.lab.models.dgspeller import DGSpeller, DGSpellerConfig
from nmspeller.lab.models.phmospell import PHMOSpell, PHMOSpellConfig
from nmspeller.lab.models.realise import ReaLiSe, ReaLiSeConfig
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.spellgcn import SpellGCN, SpellGCNConfig
from nmspeller.lab.models.tables import CharacterTables


class Entry(NamedTuple):
    config: type[SpellerConfig]
    model: type[SpellerModel]


SPELLERS: dict[str, Entry] = {
    "bert": Entry(BertConfig, BertSpeller),
    "spellgcn": Entry(SpellGCNConfig, SpellGCN),
    "dcn": Entry(DCNConfig, DCN),
    "phmospell": Entry(PHMOSpellConfig, PHMOSpell),
    "realise": Entry(ReaLiSeConfig, ReaLiSe),
    "dgspeller": Entry(DGSpellerConfig, DGSpeller),
}


def parse(values: Mapping[str, Any], encoder: EncoderConfig | None = None) -> SpellerConfig:
    """The `model:` part of a YAML file → its config; `encoder` gives the sizes that the file leaves out.

    Raises:
        InputError: an unknown speller, name or value.
    """
    if not isinstance(values, Mapping) or "speller" not in values:
        raise InputError(f"the model has no 'speller'; name one of {', '.join(SPELLERS)}.")
    rest = {name: value for name, value in values.items() if name != "speller"}
    if encoder is not None:
        own = rest.get("encoder", {})
        if not isinstance(own, Mapping):
            raise InputError(f"model.encoder must be a mapping, not {own!r}.")
        rest["encoder"] = {**to_mapping(encoder), **own}
    return from_mapping(entry(values["speller"]).config, rest)


def describe(config: SpellerConfig) -> dict[str, Any]:
    """The inverse of `parse`."""
    name = next(name for name, each in SPELLERS.items() if type(config) is each.config)
    return {"speller": name, **to_mapping(config)}


def build(config: SpellerConfig, tables: CharacterTables | None = None) -> SpellerModel:
    """A fresh model; `tables` are needed where `needed_tables(config)` is not empty.

    Raises:
        InputError: tables are needed and not given, or are of another vocabulary.
    """
    model: Any = next(each.model for each in SPELLERS.values() if type(config) is each.config)
    if not model.needs:
        return model(config)
    if tables is None:
        raise InputError(f"{describe(config)['speller']} needs character tables ({', '.join(model.needs)}).")
    tables.check(config.encoder.vocabulary, model.needs)
    return model(config, tables.only(model.needs))


def needed_tables(config: SpellerConfig) -> tuple[str, ...]:
    """Which of `CharacterTables`' arrays this model reads."""
    return next(each.model.needs for each in SPELLERS.values() if type(config) is each.config)


def entry(name: object) -> Entry:
    if not isinstance(name, str) or name not in SPELLERS:
        raise InputError(f"unknown speller {name!r}; use one of {', '.join(SPELLERS)}.")
    return SPELLERS[name]


def read_yaml(path: str | Path, known: Collection[str] = ()) -> dict[str, Any]:
    """A config file as plain values.

    known: the names that it may hold; any, if none are given.

    Raises:
        InputError: no such file, not YAML with a mapping in it, or a name that nobody would read.
    """
    import yaml  # only here: models are built without it

    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot read {path}: {problem}.") from None
    except yaml.YAMLError as problem:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(problem).split())}.") from None
    if not isinstance(values, dict):
        raise InputError(f"{path} must hold a mapping, such as 'model: …'.")
    for name in values:
        if known and name not in known:
            raise InputError(f"{path} has {name!r}, which nobody reads; it may have {', '.join(known)}.")
    return values
