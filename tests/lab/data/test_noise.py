"""What the noise model may do to a sentence, and what never."""

import numpy as np
import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.noise import NoiseModel

SIZE, PLAIN = 40, 30
"""Ids 5 to 29 are misspelt as the next id; from `PLAIN` on, nothing is."""


@pytest.fixture
def noise():
    """Two profiles: one of single characters, one that replaces the word (6, 7) by (20, 21) or (22, 23)."""
    place = np.zeros((2, SIZE), dtype=np.float32)
    place[:, 5:PLAIN] = 0.01
    wrong = np.tile((np.arange(SIZE, dtype=np.uint16)[:, None] + 1), (2, 1, 3))
    cumulative = np.ones((2, SIZE, 3), dtype=np.float32)
    return NoiseModel(
        names=("letters", "words"),
        place=place,
        wrong=wrong,
        wrong_cumulative=cumulative,
        word_share=np.array([0.0, 1.0], dtype=np.float32),
        adjacent=np.zeros(2, dtype=np.float32),
        word_keys=np.array([6 * SIZE + 7], dtype=np.int32),
        word_wrong=np.array([[20 * SIZE + 21, 22 * SIZE + 23]], dtype=np.int32),
        word_cumulative=np.array([[0.5, 1.0]], dtype=np.float32),
    )


def corrupt(noise, right, errors=3.0, profile=0, seed=0):
    count = len(right)
    return noise.corrupt(right, np.full(count, profile), np.full(count, errors), np.random.default_rng(seed))


def test_the_same_seed_gives_the_same_errors(noise):
    right = np.random.default_rng(1).integers(5, SIZE, (50, 60)).astype(np.int32)
    assert (corrupt(noise, right) == corrupt(noise, right)).all()
    assert (corrupt(noise, right) != corrupt(noise, right, seed=1)).any()


def test_what_has_no_place_for_errors_is_never_touched(noise):
    right = np.random.default_rng(1).integers(0, SIZE, (200, 60)).astype(np.int32)
    wrong = corrupt(noise, right, errors=20.0)
    untouchable = (right < 5) | (right >= PLAIN)
    assert (wrong[untouchable] == right[untouchable]).all()
    changed = wrong != right
    assert changed.any()
    assert (wrong[changed] == right[changed] + 1).all()


def test_rows_get_as_many_errors_as_asked(noise):
    right = np.random.default_rng(1).integers(5, PLAIN, (4000, 60)).astype(np.int32)
    for errors in (0.0, 1.41, 4.0):
        found = (corrupt(noise, right, errors=errors) != right).sum(axis=1).mean()
        assert found == pytest.approx(errors, rel=0.05)


def test_an_error_draws_its_neighbour_along(noise):
    right = np.random.default_rng(1).integers(5, PLAIN, (2000, 60)).astype(np.int32)
    alone = (corrupt(noise, right) != right).sum()
    vars(noise)["adjacent"][:] = 1.0
    both = (corrupt(noise, right) != right).sum()
    assert both == pytest.approx(2 * alone, rel=0.1)


def test_words_are_replaced_by_listed_words_alone(noise):
    right = np.tile(np.array([6, 7, 31, 32], dtype=np.int32), (2000, 1))
    wrong = corrupt(noise, right, errors=1.0, profile=1)
    changed = wrong[(wrong != right).any(axis=1)]
    # An error that starts at the second character finds no word there and is a single character's.
    kinds = {tuple(row) for row in changed.tolist()}
    assert {(20, 21, 31, 32), (22, 23, 31, 32)} <= kinds
    assert kinds <= {(20, 21, 31, 32), (22, 23, 31, 32), (6, 8, 31, 32)}


def test_it_is_saved_and_read_again(noise, tmp_path):
    np.savez_compressed(tmp_path / "noise.npz", **noise.arrays())
    again = NoiseModel.load(tmp_path / "noise.npz")
    assert again.names == noise.names
    right = np.random.default_rng(1).integers(5, SIZE, (50, 60)).astype(np.int32)
    assert (corrupt(again, right) == corrupt(noise, right)).all()


def test_damaged_files_and_unknown_profiles_are_input_errors(noise, tmp_path):
    (tmp_path / "noise.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(InputError, match="not a noise model"):
        NoiseModel.load(tmp_path / "noise.npz")
    with pytest.raises(InputError, match="letters, words"):
        noise.profile_index("scanner")
