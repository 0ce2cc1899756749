"""The phonetic and graphic encoders, and that each character is encoded once."""

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.graphic import GraphicEncoder
from nmspeller.lab.models.phonetic import PhoneticEncoder, Sound
from nmspeller.lab.models.tables import CharacterTables


def test_a_sound_is_the_state_after_the_last_letter():
    letters = torch.from_numpy(CharacterTables.random(20).letters)
    sound = Sound(hidden=16)
    lengths = (letters > 0).sum(dim=1)
    packed = pack_padded_sequence(
        sound.symbols(letters.long()), lengths, batch_first=True, enforce_sorted=False
    )
    _, final = sound.gru(packed)
    torch.testing.assert_close(sound.encode(letters), final[0])


def test_the_graphic_encoder_ends_in_one_normed_vector_per_picture():
    encoder = GraphicEncoder(32, (4, 4, 8, 8), 1e-12).eval()
    pictures = torch.from_numpy(CharacterTables.random(10).bitmaps)
    assert encoder.blocks(pictures.float()).shape == (10, 32, 1, 1)
    encoded = encoder.encode(pictures)
    torch.testing.assert_close(encoded.mean(dim=-1), torch.zeros(10), atol=1e-5, rtol=0)
    assert len(encoder.blocks) == 5


@pytest.fixture
def counted(monkeypatch):
    """How many characters each call of `encode` got."""
    counts: list[int] = []
    for kind in (Sound, GraphicEncoder):
        original = kind.encode

        def encode(self, known, original=original):
            counts.append(len(known))
            return original(self, known)

        monkeypatch.setattr(kind, "encode", encode)
    return counts


def test_training_encodes_each_character_of_a_batch_once(make, counted):
    model = make("realise").train()
    batch = collate([[2, 7, 7, 8, 7, 3], [2, 8, 8, 3]])
    model(batch)
    assert counted == [5, 5]  # [PAD] [CLS] [SEP] 7 8


def test_prediction_encodes_the_vocabulary_once(make, counted, rows):
    model = make("realise").eval()
    batch = collate(rows)
    model.predict(batch)
    model.predict(batch)
    assert counted == [60, 60]


def test_cached_tables_give_the_same_scores(make, rows):
    model = make("dgspeller").eval()
    batch = collate(rows)
    fresh = model(batch)
    with torch.no_grad():
        torch.testing.assert_close(model(batch), fresh, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("change", ["train", "load", "move"])
def test_the_cache_is_cleared_when_weights_change(make, rows, change):
    model = make("realise").eval()
    batch = collate(rows)
    before = model.predict(batch)[1]
    state = {
        name: tensor * 1.5 if "sound.gru" in name else tensor for name, tensor in model.state_dict().items()
    }
    if change == "train":
        with torch.no_grad():
            for parameter in model.phonetic.sound.gru.parameters():
                parameter.mul_(1.5)
        model.train()
        model.eval()
    elif change == "load":
        model.load_state_dict(state)
    else:
        model.to(torch.float64)
        assert model.predict(batch)[1].isfinite().all()
        return
    assert not torch.equal(model.predict(batch)[1], before)


def test_positions_matter_to_the_phonetic_encoder(encoder):
    phonetic = PhoneticEncoder(encoder, layers=1).eval()
    letters = torch.from_numpy(CharacterTables.random(60).letters)
    encoded = phonetic(collate([[2, 9, 9, 3]], pad_multiple=1), letters)[0]
    assert not torch.allclose(encoded[1], encoded[2], atol=1e-4)


def test_tables_are_the_same_after_a_file(tmp_path):
    tables = CharacterTables.random(30)
    tables.save(tmp_path / "tables.npz")
    again = CharacterTables.load(tmp_path / "tables.npz")
    for name in ("letters", "bitmaps", "syllables", "sound", "shape"):
        assert np.array_equal(getattr(again, name), getattr(tables, name))


@pytest.mark.parametrize("content", [b"", b"not a table", None])
def test_bad_table_files_are_an_error(tmp_path, content):
    path = tmp_path / "tables.npz"
    CharacterTables.random(30).save(path)
    path.write_bytes(path.read_bytes()[:-200] if content is None else content)
    with pytest.raises(InputError, match="not a file of character tables"):
        CharacterTables.load(path)


def test_tables_of_another_vocabulary_are_an_error():
    with pytest.raises(InputError, match="'letters' does not fit"):
        CharacterTables.random(30).check(31, ("letters",))
    with pytest.raises(InputError, match="'sound' does not fit"):
        CharacterTables.random(30).check(20, ("sound",))
    with pytest.raises(InputError, match="'bitmaps' does not fit"):
        CharacterTables.random(30).only(("letters",)).check(30, ("bitmaps",))
