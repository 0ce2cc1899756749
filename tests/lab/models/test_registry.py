from pathlib import Path

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import read_yaml, to_mapping
from nmspeller.lab.evaluation import paper
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.registry import build, needed_tables, parse
from nmspeller.lab.models.tables import CharacterTables

CONFIGS = Path(__file__).resolve().parents[3] / "src/nmspeller/lab/configs"
SMALL = EncoderConfig(vocabulary=60, hidden=32, layers=1, heads=4, intermediate=64, positions=32, mask_id=4)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("models/*.yaml")), ids=lambda path: path.stem)
def test_every_model_config_builds(path):
    values = read_yaml(path)
    config = parse(values["model"], SMALL)
    assert values["name"] == path.stem
    assert (config.masking is not None) == (path.stem.startswith("nm-") or path.stem == "dnspeller")
    with torch.device("meta"):
        build(config, CharacterTables.random(60))


def test_there_is_a_config_for_each_model_masked_and_not():
    assert len(list(CONFIGS.glob("models/*.yaml"))) == 2 * len(paper.SPELLERS)


@pytest.mark.parametrize("table", paper.TABLES)
def test_every_row_of_the_papers_tables_is_a_config(table):
    assert len(paper.rows(table)) == 18
    for row in paper.rows(table):
        assert row.name == f"{row.test_set}-{row.paper.title.lower()}"
        config = parse(row.model, SMALL)
        assert parse(to_mapping(config)) == config


def test_the_backbone_gives_the_sizes_and_the_file_may_change_them():
    config = parse({"speller": "bert", "encoder": {"dropout": 0.3}}, SMALL)
    assert (config.encoder.hidden, config.encoder.dropout) == (32, 0.3)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "no 'speller'"),
        ({"speller": "gpt"}, "unknown speller"),
        ({"speller": "bert", "masks": {}}, r"model\.masks is unknown"),
        ({"speller": "bert", "masking": "trigram"}, r"model\.masking must be a mapping"),
        ({"speller": "bert", "masking": {"offsets": [0, "left"]}}, r"model\.masking\.offsets is 'left'"),
        ({"speller": "bert", "head": "both"}, "'mlm' or 'linear'"),
        ({"speller": "bert", "head": 3}, r"model\.head is 3"),
        ({"speller": "bert", "encoder": {"layers": True}}, r"encoder\.layers is True"),
        ({"speller": "bert", "encoder": {"hidden": 33}}, "no multiple"),
        ({"speller": "bert", "encoder": {"heads": 0}}, "heads is 0"),
        ({"speller": "bert", "encoder": {"dropout": 2.0}}, "dropout is 2.0"),
        ({"speller": ["bert"]}, "unknown speller"),
        ({"speller": "bert", "encoder": {"mask_id": 60000}}, "outside the vocabulary"),
    ],
)
def test_errors_name_the_mistake(values, sentence):
    with pytest.raises(InputError, match=sentence):
        parse(values)


def test_an_encoder_must_be_a_mapping():
    with pytest.raises(InputError, match=r"model\.encoder must be a mapping"):
        parse({"speller": "bert", "encoder": 5}, SMALL)


def test_an_unknown_name_is_an_error(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("model: {speller: bert}\nrecipie: paper\n")
    assert read_yaml(path)["recipie"] == "paper"
    with pytest.raises(InputError, match="'recipie', which is unknown; it may have model, recipe"):
        read_yaml(path, ("model", "recipe"))


def test_missing_tables_are_an_error():
    config = parse({"speller": "dcn"}, SMALL)
    assert needed_tables(config) == ("syllables",)
    with pytest.raises(InputError, match="needs character tables"):
        build(config)
    with pytest.raises(InputError, match="syllables"):
        build(parse({"speller": "dcn", "syllables": 3}, SMALL), CharacterTables.random(60))


def test_errors_for_bad_yaml_files(tmp_path):
    for content, sentence in ((b"a: [", "not valid YAML"), (b"- a", "mapping"), (b"\xff", "cannot read")):
        path = tmp_path / "config.yaml"
        path.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            read_yaml(path)
    with pytest.raises(InputError, match="cannot read"):
        read_yaml(tmp_path / "absent.yaml")
