"""Where a decision is close, the text is read again by more exact arithmetic on the same weights."""

import math
import pickle
from pathlib import Path

import numpy as np
import onnx
import pytest

from nmspeller import InputError, Speller
from nmspeller.runtime.engine import CLOSE, Engine, Scores
from nmspeller.runtime.export import export_model
from nmspeller.runtime.exported import read_exported
from nmspeller.runtime.findings import Finder, Windows
from nmspeller.runtime.policy import Thresholds
from nmspeller.runtime.torch_engine import TorchEngine
from nmspeller.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> Path:
    return export_model(source_folder, tmp_path_factory.mktemp("exported"), texts=texts)


def log_odds(engine, vocabulary: Vocabulary, text: str) -> np.ndarray:
    """Of every character of a text, that it may stay."""
    ids = vocabulary.encode(text)
    (scores,) = engine.scores(ids, np.array([0]), np.array([len(ids)]))
    kept = np.clip(scores.kept[np.argsort(scores.positions)].astype(np.float64), 1e-6, 1 - 1e-6)
    return np.log(kept / (1 - kept))


def test_it_is_much_nearer_to_floats(folder: Path, texts: list[str]) -> None:
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    exact = log_odds(TorchEngine(read_exported(folder), vocabulary, "cpu", threads=1), vocabulary, texts[0])
    quick, close = (
        np.abs(log_odds(Engine(folder / name, vocabulary, threads=1), vocabulary, texts[0]) - exact).mean()
        for name in ("model.onnx", CLOSE)
    )
    assert close < quick / 2


def test_its_matrices_are_those_of_the_other_file(folder: Path) -> None:
    content = (folder / "model.onnx").read_bytes()
    model = onnx.load(folder / CLOSE, load_external_data=False)
    matrices = [tensor for tensor in model.graph.initializer if len(tensor.dims) == 2]
    # Two layers, the head's own, the table of characters and its scales, the positions.
    assert len(matrices) == 4 * 2 + 1 + 2 + 1
    assert not any(tensor.raw_data for tensor in matrices)
    quick = {tensor.name: tensor for tensor in onnx.load(folder / "model.onnx").graph.initializer}
    for tensor in matrices:
        place = {entry.key: entry.value for entry in tensor.external_data}
        assert place["location"] == "model.onnx"
        start, length = int(place["offset"]), int(place["length"])
        assert length == math.prod(tensor.dims) * (1 if tensor.data_type == onnx.TensorProto.INT8 else 4)
        assert content[start : start + length] == quick[tensor.name].raw_data[:length]


def test_an_export_in_floats_needs_none_and_takes_an_old_one_away(
    source_folder: Path, tmp_path: Path, texts: list[str]
) -> None:
    export_model(source_folder, tmp_path, texts=texts)
    assert (tmp_path / CLOSE).is_file()
    export_model(source_folder, tmp_path)
    assert not (tmp_path / CLOSE).exists()
    assert Speller(tmp_path, threads=1).correct("。") == "。"


def test_files_of_two_exports_are_refused(folder: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    (tmp_path / CLOSE).write_bytes((folder / CLOSE).read_bytes())
    (tmp_path / "model.onnx").write_bytes((folder / "model.onnx").read_bytes() + b"\x00" * 8)
    with pytest.raises(InputError, match="one export"):
        Engine(tmp_path / CLOSE, vocabulary, threads=1)


def test_a_speller_with_both_may_be_pickled(folder: Path, texts: list[str]) -> None:
    speller = Speller(folder, threads=1)
    again = pickle.loads(pickle.dumps(speller))
    assert again.check_many(texts[:4]) == speller.check_many(texts[:4])
    assert again.model_hash == speller.model_hash


class Voice:
    """Gives the character 1 this probability of being a 2 instead, and counts the windows it reads."""

    longest, passage = 100, 1000

    def __init__(self, probabilities: dict[int, float]) -> None:
        self.probabilities, self.read = probabilities, 0

    def scores(self, ids, starts, stops, doubt=np.inf):
        self.read += len(starts)
        for window, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            for place in range(start, stop):
                probability = self.probabilities.get(place, 0.0)
                if 1 - probability <= doubt:
                    yield Scores(
                        np.array([window]),
                        np.array([place]),
                        np.array([[2, 1, 0, 0, 0]], np.int32),
                        np.array([[probability, 1 - probability, 0, 0, 0]], np.float32),
                        np.array([1 - probability], np.float32),
                    )


def test_only_close_decisions_are_made_again() -> None:
    quick, close = Voice({1: 0.87, 4: 0.99, 7: 0.4, 10: 0.89}), Voice({1: 0.89, 10: 0.85, 4: 0.0})
    finder = Finder(quick, np.ones(3, np.bool_), lambda old, _: np.ones(len(old), np.bool_), lambda: close)
    bounds = np.arange(0, 12, 3), np.arange(3, 15, 3)
    found = finder.find(
        np.ones(12, np.int32), np.ones(12, np.bool_), Windows(*bounds, *bounds), Thresholds(0.88, 0.88), 1
    )
    assert (quick.read, close.read) == (4, 2)
    assert found.positions.tolist() == [1, 4]
    assert found.probabilities.tolist() == pytest.approx([0.89, 0.99])
