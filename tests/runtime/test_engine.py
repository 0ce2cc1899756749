import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.errors import InputError
from nmspeller.runtime import engine
from nmspeller.runtime.engine import OnnxEngine, _batch_size, cores
from nmspeller.runtime.onnx_runtime import onnxruntime
from nmspeller.text.vocabulary import Vocabulary


@given(st.lists(st.integers(3, 600), min_size=1, max_size=300))
def test_batches_stay_within_the_budget_with_little_padding(widths: list[int]) -> None:
    ascending = np.sort(np.array(widths))
    while len(ascending):
        size = _batch_size(ascending, OnnxEngine.batch_tokens)
        assert size >= 1
        batch, ascending = ascending[:size], ascending[size:]
        assert size == 1 or size * batch[-1] <= OnnxEngine.batch_tokens
        assert batch[-1] <= batch[0] * 9 // 8 + 1


def test_one_length_fills_the_budget() -> None:
    assert _batch_size(np.full(5000, 32), 768) == 24


@pytest.mark.parametrize("threads", [2, 3, 17])
def test_many_batches_are_read_at_once_with_the_same_scores(
    model_folder: Path, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = Vocabulary.from_file(model_folder / "vocab.txt")
    characters = "我们门去外国可以认识很多的人就借介少绍地得在再他她它对不起气"
    random = np.random.default_rng(0)
    lengths = random.integers(1, 38, 300)
    ids = vocabulary.encode("".join(random.choice(list(characters), lengths.sum())))
    stops = np.cumsum(lengths)
    opened: list[int] = []
    session = onnxruntime.InferenceSession

    def watched(model: str, options: onnxruntime.SessionOptions, **others: object) -> object:
        opened.append(options.intra_op_num_threads)
        return session(model, options, **others)

    monkeypatch.setattr(onnxruntime, "InferenceSession", watched)

    def read(engine: OnnxEngine, count: int) -> list[list[np.ndarray]]:
        scores = engine.scores(ids, (stops - lengths)[:count], stops[:count])
        return [[*batch[:5], *batch.tags] for batch in scores]

    expected = read(OnnxEngine(model_folder / "model.onnx", vocabulary, threads=1), 300)
    engine = OnnxEngine(model_folder / "model.onnx", vocabulary, threads=threads)
    read(engine, 10)
    assert opened == [1, threads]
    found = read(engine, 300)
    assert opened == [1, threads, threads // min(threads, OnnxEngine.most_at_once)]
    assert len(found) >= OnnxEngine.many_batches
    for one, other in zip(expected, found, strict=True):
        for values, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(values, same)


def test_of_a_damaged_model_only_one_sentence_is_said(
    model_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "model.onnx"
    content = (model_folder / "model.onnx").read_bytes()
    damaged.write_bytes(content.replace(b"Gather", b"\xddather"))
    with pytest.raises(InputError, match="is damaged or is no model"):
        OnnxEngine(damaged, Vocabulary.from_file(model_folder / "vocab.txt"), threads=1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("content", "expected"),
    [("max 100000", 8), ("200000 100000", 2), ("50000 100000", 1), ("1600000 100000", 8), ("", 8)],
)
def test_a_containers_limit_counts(
    content: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(engine, "CPU_QUOTA", tmp_path / "cpu.max")
    assert cores() == 8  # no such file
    (tmp_path / "cpu.max").write_text(content + "\n")
    assert cores() == expected
