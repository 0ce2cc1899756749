"""The start of a training: weights of the right shapes and vocabulary."""

import json
import shutil

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models import checkpoint
from nmspeller.lab.training.start import check_positions, load_teacher, start_model


@pytest.fixture
def permuted(little_start, tmp_path):
    """A checkpoint with the same characters under other ids."""
    folder = tmp_path / "permuted"
    shutil.copytree(little_start, folder)
    tokens = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    tokens[10], tokens[20] = tokens[20], tokens[10]
    (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    return folder


def test_a_start_of_another_vocabulary_is_an_error(little_prepared, permuted):
    with pytest.raises(InputError, match="another vocabulary"):
        start_model({"speller": "bert"}, permuted, vocabulary=little_prepared.vocabulary)


def test_a_teacher_of_another_vocabulary_is_an_error(little_prepared, permuted):
    with pytest.raises(InputError, match="another vocabulary"):
        load_teacher(permuted, little_prepared.vocabulary)


def test_without_a_start_the_vocabulary_is_that_of_the_data(little_prepared):
    small = {"hidden": 8, "heads": 1, "layers": 1, "intermediate": 8, "positions": 128}
    vocabulary = little_prepared.vocabulary
    own = start_model({"speller": "bert", "encoder": small}, None, vocabulary=vocabulary).config.encoder
    assert (own.vocabulary, own.mask_id) == (len(vocabulary), vocabulary.mask)
    small["vocabulary"] = 21128
    with pytest.raises(InputError, match=f"vocabulary: {len(vocabulary)}"):
        start_model({"speller": "bert", "encoder": small}, None, vocabulary=little_prepared.vocabulary)


@pytest.mark.parametrize("sizes", [{"hidden": 64}, {"intermediate": 8}, {"positions": 130}])
def test_weights_of_another_shape_are_an_error(little_start, sizes):
    with pytest.raises(InputError, match="of shape"):
        start_model({"speller": "bert", "encoder": sizes}, little_start)


def test_modalities_must_have_a_phonetic_or_graphic_encoder(little_prepared, little_start):
    with pytest.raises(InputError, match="no phonetic or graphic weights"):
        start_model(
            {"speller": "realise"},
            little_start,
            tables=little_prepared.folder / "characters.npz",
            modalities=little_start,
        )


def test_modalities_do_not_change_a_trained_masking_layer(little_prepared, little_start, tmp_path):
    masked = {"speller": "realise", "masking": {"ngram": "trigram"}}
    tables = little_prepared.folder / "characters.npz"
    trained = start_model(masked, little_start, tables=tables)
    torch.nn.init.constant_(trained.semantic.masking.attention.out.bias, 7.0)
    checkpoint.save(tmp_path, trained, little_prepared.vocabulary.tokens)
    again = start_model(masked, tmp_path, tables=tables, modalities=tmp_path)
    assert (again.semantic.masking.attention.out.bias == 7.0).all()


def test_rows_longer_than_the_models_positions_are_an_error(little_start):
    model, _ = checkpoint.load(little_start)
    positions = json.loads((little_start / "config.yaml").read_text())["model"]["encoder"]["positions"]
    check_positions(model, positions)
    with pytest.raises(InputError, match=str(positions + 1)):
        check_positions(model, positions + 1)
