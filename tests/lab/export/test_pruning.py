"""Pruning: what is left does what the whole block did, as far as it can."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nmspeller import InputError
from nmspeller.__main__ import run
from nmspeller.lab.export import pruning
from nmspeller.lab.export.activations import collect_activations
from nmspeller.lab.export.conversion import prepare_qat
from nmspeller.lab.export.pruning import prune
from nmspeller.lab.export.weights import SpellerWeights, read_weights
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.models.registry import from_arrays

BLOCK = "semantic.layers.0.feed_forward"


def doubled(speller: SpellerWeights) -> SpellerWeights:
    """The same function with every neuron twice, each of half the weight, in a random order."""
    width = speller.encoder.intermediate
    order = np.random.default_rng(0).permutation(2 * width) % width
    weights = dict(speller.weights)
    for number in range(speller.encoder.layers):
        block = f"semantic.layers.{number}.feed_forward"
        for name in (f"{block}.up.weight", f"{block}.up.bias"):
            weights[name] = weights[name][order]
        weights[f"{block}.down.weight"] = weights[f"{block}.down.weight"][:, order] / 2
    return replace(speller, encoder=replace(speller.encoder, intermediate=2 * width), weights=weights)


def predictions(speller: SpellerWeights) -> torch.Tensor:
    ids = torch.randint(5, len(speller.vocabulary), (4, 12), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return from_arrays(speller.encoder, speller.weights)(Batch(ids))


def test_neurons_that_say_the_same_are_needed_once(
    source_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_DAMPING", 0)  # it trades exactness on the samples for other text
    source = read_weights(source_folder)
    tokens, random = np.array(source.vocabulary.tokens[5:]), np.random.default_rng(1)
    many = ["".join(random.choice(tokens, 30)) for _ in range(200)]
    whole = doubled(source)
    pruned = prune(whole, many, source.encoder.intermediate)
    assert pruned.encoder == source.encoder
    assert torch.allclose(predictions(pruned), predictions(whole), atol=0.02)
    first = pruned.weights[f"{BLOCK}.up.bias"]
    assert len(np.unique(first)) == len(first)


def test_the_others_take_over_what_is_removed(source_folder: Path, texts: list[str]) -> None:
    source = read_weights(source_folder)
    keep = source.encoder.intermediate // 2
    pruned = prune(source, texts, keep)
    up, down = (source.weights[f"{BLOCK}.{name}.weight"] for name in ("up", "down"))
    inputs = collect_activations(source, texts, names=[f"{BLOCK}.down"])[f"{BLOCK}.down"]
    kept = [int(np.flatnonzero((up == row).all(axis=1))[0]) for row in pruned.weights[f"{BLOCK}.up.weight"]]
    lost = inputs @ down.T - inputs[:, kept] @ down[:, kept].T
    left = inputs @ down.T - inputs[:, kept] @ pruned.weights[f"{BLOCK}.down.weight"].T
    left += source.weights[f"{BLOCK}.down.bias"] - pruned.weights[f"{BLOCK}.down.bias"]
    assert np.square(left).mean() < 0.5 * np.square(lost - lost.mean(axis=0)).mean()


def test_a_pruned_checkpoint_is_exported(
    source_folder: Path, tmp_path: Path, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    quantised = prepare_qat(source_folder, tmp_path / "quantised", texts)
    sentences = tmp_path / "texts.txt"
    sentences.write_text("\n".join(texts), "utf-8")
    out, keep = tmp_path / "out", read_weights(source_folder).encoder.intermediate // 2
    arguments = ["--texts", str(sentences), "--neurons", str(keep), "--out", str(out)]
    assert run(["lab", "prune", str(quantised), *arguments]) == 0
    model, _ = checkpoint.load(out)
    assert model.config.encoder.intermediate == keep
    assert model.config.encoder.fake_quantised
    assert run(["lab", "export", str(out), str(tmp_path / "model")]) == 0
    assert run(["check", "--text", texts[0], "--model", str(tmp_path / "model")]) in (0, 1)


@pytest.mark.parametrize("neurons", [0, -1, 10_000])
def test_as_many_neurons_as_there_are_cannot_be_kept(
    source_folder: Path, texts: list[str], neurons: int
) -> None:
    with pytest.raises(InputError, match="keep fewer of them, and at least one"):
        prune(read_weights(source_folder), texts, neurons)


def test_without_text_nothing_can_be_pruned(source_folder: Path) -> None:
    with pytest.raises(InputError, match="there is no text"):
        prune(read_weights(source_folder), [""], 1)
