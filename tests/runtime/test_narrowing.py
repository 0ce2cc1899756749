"""Fewer inner units: which of them go, and what is left of the layer and of the speller."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nmspeller import InputError
from nmspeller.models.batch import Batch
from nmspeller.models.bert import from_arrays
from nmspeller.runtime.calibration import round_source
from nmspeller.runtime.narrowing import keep_units, narrow_source
from nmspeller.runtime.reopen import narrow_model
from nmspeller.runtime.weights import Source, read_source

DEAD = [1, 2, 5, 8, 20, 33, 34, 63]


@pytest.fixture
def source(source_folder: Path) -> Source:
    return read_source(source_folder)


def error(weights: np.ndarray, samples: np.ndarray, kept: np.ndarray, narrowed: np.ndarray) -> float:
    """Relative squared error of what the units that stay say, the bias amended, about its mean."""
    spread = samples - samples.mean(axis=0)
    expected, found = spread @ weights.T, spread[:, kept] @ narrowed.T
    return float(np.square(found - expected).mean() / np.square(expected).mean())


def scores(source: Source, ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return from_arrays(source.encoder, source.weights)(Batch(ids))


def test_a_unit_that_never_varies_goes_and_one_of_two_equal_ones() -> None:
    random = np.random.default_rng(0)
    weights = random.standard_normal((8, 16)).astype(np.float32)
    samples = random.standard_normal((400, 16)).astype(np.float32)
    samples[:, 3], samples[:, 9] = 2.0, samples[:, 5]
    kept, narrowed = keep_units(weights, samples, 14)
    assert set(range(16)) - set(kept.tolist()) in ({3, 5}, {3, 9})
    # Damping leaves a fiftieth of the weight that the other of the two should have taken over.
    assert error(weights, samples, kept, narrowed) < 1e-3
    assert error(weights, samples, kept, weights[:, kept]) > 3e-2


def test_what_stays_makes_up_for_what_goes() -> None:
    random = np.random.default_rng(0)
    weights = random.standard_normal((24, 64)).astype(np.float32)
    mixing = random.standard_normal((64, 64)) * 0.9 ** np.arange(64)[:, None]
    samples = (random.standard_normal((1200, 64)) @ mixing).astype(np.float32)
    kept, narrowed = keep_units(weights, samples[:800], 32)
    assert (np.diff(kept) > 0).all()
    assert narrowed.shape == (24, 32)
    largest = np.sort(np.argsort(np.square(weights).sum(axis=0))[32:])
    unseen = samples[800:]
    assert error(weights, unseen, kept, narrowed) < 0.2 * error(weights, unseen, largest, weights[:, largest])


def test_without_its_dead_units_the_speller_says_the_same(source: Source) -> None:
    weights = {name: array.copy() for name, array in source.weights.items()}
    for layer in ("semantic.layers.0", "semantic.layers.1"):
        weights[f"{layer}.up.weight"][DEAD] = 0.0
        weights[f"{layer}.up.bias"][DEAD] = 0.7
        # Damping counts large weights as a loss even where nothing varies.
        weights[f"{layer}.down.weight"][:, DEAD] *= 0.4
    whole = replace(source, weights=weights)
    # Texts of all kinds, or a living unit could be told from the others as well.
    characters = source.vocabulary.tokens[5:]
    texts = ["".join(row) for row in np.random.default_rng(0).choice(characters, (64, 20))]
    narrow = narrow_source(whole, texts, 56)
    assert narrow.encoder == replace(source.encoder, intermediate=56)
    for layer in ("semantic.layers.0", "semantic.layers.1"):
        assert narrow.weights[f"{layer}.down.weight"].shape == (32, 56)
        for part in ("weight", "bias"):
            alive = np.delete(weights[f"{layer}.up.{part}"], DEAD, axis=0)
            np.testing.assert_array_equal(narrow.weights[f"{layer}.up.{part}"], alive)
    ids = torch.randint(5, source.encoder.vocabulary, (2, 12), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(scores(narrow, ids), scores(whole, ids), rtol=0.0, atol=1e-4)
    # The dead units said something all the same, which the bias says now.
    biases = [each.weights["semantic.layers.0.down.bias"] for each in (narrow, whole)]
    assert np.abs(biases[0] - biases[1]).max() > 0.1


def test_a_rounded_speller_is_free_again(source: Source, texts: list[str]) -> None:
    narrow = narrow_source(round_source(source, texts), texts, 16)
    assert narrow.encoder == replace(source.encoder, intermediate=16, rounded=False)
    assert narrow.weights.keys() == source.weights.keys()
    assert torch.isfinite(scores(narrow, torch.full((1, 4), 5))).all()


@pytest.mark.parametrize("width", [-1, 0, 64, 65])
def test_a_width_that_is_none(source: Source, texts: list[str], width: int) -> None:
    with pytest.raises(InputError, match="from 1 to 63"):
        narrow_source(source, texts, width)


@pytest.mark.parametrize("texts", [[], [""]])
def test_without_text_nothing_is_chosen(source: Source, texts: list[str]) -> None:
    with pytest.raises(InputError, match="no text"):
        narrow_source(source, texts, 32)


def test_pytorch_is_missing(
    source_folder: Path, texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nmspeller.models.bert", None)
    with pytest.raises(InputError, match="needs PyTorch"):
        narrow_model(source_folder, tmp_path / "out", texts, 32)
    assert not (tmp_path / "out").exists()
