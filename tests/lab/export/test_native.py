"""Int8 exports of tiny models on the native engine: heads of eight channels, panels hardly filled."""

from pathlib import Path

import numpy as np
import pytest
from tests.exact_products import needs_exact_products

from nmspeller.lab.export.export import export_model
from nmspeller.runtime.decoder import ScoringEngine
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.native import library
from nmspeller.runtime.native.engine import NativeEngine
from nmspeller.runtime.native.weights import UnsupportedError
from nmspeller.text.vocabulary import Vocabulary

pytestmark = pytest.mark.skipif(
    not library.instruction_sets(), reason="the native engine is not compiled, or not for this processor"
)


@pytest.fixture(scope="module")
def integer_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> Path:
    return export_model(source_folder, tmp_path_factory.mktemp("integer"), texts=texts)


def probabilities(engine: ScoringEngine, ids: np.ndarray, lengths: list[int]) -> np.ndarray:
    """Of the best characters and of the source character at each position: (positions, 6)"""
    stops = np.cumsum(lengths)
    found = np.full((len(ids), 6), -1, np.float32)
    for scores in engine.scores(ids, stops - lengths, stops):
        found[scores.positions, :5] = scores.probabilities
        found[scores.positions, 5] = scores.source_probabilities
    return found


@needs_exact_products
@pytest.mark.parametrize("threads", [1, 3])
def test_a_tiny_model_computes_what_onnx_runtime_computes(integer_folder: Path, threads: int) -> None:
    vocabulary = Vocabulary.from_file(integer_folder / "vocab.txt")
    lengths = [1, 5, 16, 17, 40, 33]
    ids = np.random.default_rng(0).integers(5, len(vocabulary), sum(lengths)).astype(np.int32)
    model = integer_folder / "model.onnx"
    expected = probabilities(OnnxEngine(model, vocabulary, threads=1), ids, lengths)
    for name in library.instruction_sets():
        engine = NativeEngine(model, vocabulary, threads=threads, instructions=name)
        np.testing.assert_allclose(probabilities(engine, ids, lengths), expected, atol=1e-5)


def test_a_model_of_floats_is_left_to_onnx_runtime(model_folder: Path) -> None:
    with pytest.raises(UnsupportedError, match="floats"):
        NativeEngine(model_folder / "model.onnx", Vocabulary.from_file(model_folder / "vocab.txt"))
