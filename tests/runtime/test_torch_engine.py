"""The torch engine, on the processor, against the same model exported to ONNX in single precision."""

import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from nmspeller import InputError, Speller
from nmspeller.__main__ import run
from nmspeller.lab.evaluation.speed import measure, measure_pipeline
from nmspeller.lab.export.weights import read_weights
from nmspeller.runtime.device import Device
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.torch_engine import TorchEngine
from nmspeller.text.vocabulary import Vocabulary

CHARACTERS = "我们门去外国可以认识很多的人就借介少绍地得在再他她它对不起气，。！？abc123龘"


def make_texts(count: int, longest: int) -> list[str]:
    random = np.random.default_rng(0)
    return ["".join(random.choice(list(CHARACTERS), random.integers(0, longest))) for _ in range(count)]


@pytest.fixture(scope="module")
def checkpoint_folder(
    source_folder: Path, model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The weights as they were trained, beside the policy of their export."""
    folder = tmp_path_factory.mktemp("checkpoint") / "model"
    shutil.copytree(source_folder, folder)
    shutil.copy(model_folder / "policy.json", folder)
    return folder


@pytest.fixture(scope="module")
def on_torch(checkpoint_folder: Path) -> Speller:
    return Speller(checkpoint_folder, threads=1)


def test_findings_are_those_of_the_export(eager: Speller, on_torch: Speller) -> None:
    texts = make_texts(300, 90)
    expected, found = eager.check_many(texts), on_torch.check_many(texts)
    assert sum(len(answer.edits) for answer in expected) > 300
    for one, other in zip(expected, found, strict=True):
        assert one.text == other.text
        for a, b in zip(one.edits, other.edits, strict=True):
            assert (a.offset, a.source, a.target, a.reason) == (b.offset, b.source, b.target, b.reason)
            assert a.alternatives == b.alternatives
            assert a.probability == pytest.approx(b.probability, abs=1e-4)


def test_alone_and_in_any_batch_a_text_gets_the_same_answer(on_torch: Speller) -> None:
    texts = make_texts(40, 60)
    together = on_torch.check_many(texts)
    assert [on_torch.check(text) for text in texts] == together
    assert on_torch.check_many(texts[::-1]) == together[::-1]


@pytest.mark.parametrize(("threshold", "few"), [(np.inf, False), (np.inf, True), (0.9, True), (0.05, False)])
def test_scores_of_uncertain_positions_are_those_of_onnx(
    source_folder: Path, model_folder: Path, threshold: float, few: bool
) -> None:
    vocabulary = Vocabulary.from_file(source_folder / "vocab.txt")
    engines = (
        OnnxEngine(model_folder / "model.onnx", vocabulary, threads=1),
        TorchEngine(read_weights(source_folder), vocabulary, "cpu", threads=1),
    )
    texts = make_texts(200, 62)
    stops = np.cumsum([len(text) for text in texts])
    starts = np.concatenate(([0], stops[:-1]))
    ids = vocabulary.encode("".join(texts))
    one, other = (
        [
            np.concatenate(part)
            for part in zip(
                *(scores[:5] for scores in e.scores(ids, starts, stops, threshold, few=few)), strict=True
            )
        ]
        for e in engines
    )
    one, other = ([part[np.argsort(parts[1])] for part in parts] for parts in (one, other))
    assert len(one[1]) > 50
    assert (threshold < 1) == (len(one[1]) < len(ids))
    for a, b in zip(one[:2], other[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(one[3:], other[3:], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_the_hash_covers_the_weights_and_their_sizes(
    checkpoint_folder: Path, eager: Speller, tmp_path: Path
) -> None:
    hashes = {eager.model_hash, Speller(checkpoint_folder, threads=1).model_hash}
    for name in ("model.safetensors", "config.json"):
        folder = tmp_path / name
        shutil.copytree(checkpoint_folder, folder)
        content = (folder / name).read_bytes()
        speller = Speller(folder, threads=1)
        (folder / name).write_bytes(content + b" ")
        hashes.add(speller.model_hash)
    assert len(hashes) == 4


def test_a_pickled_speller_stays_on_its_engine(on_torch: Speller) -> None:
    again = pickle.loads(pickle.dumps(on_torch))
    assert again.check("我门去外国") == on_torch.check("我门去外国")


def test_batch_workers_read_on_torch_too(checkpoint_folder: Path, on_torch: Speller, tmp_path: Path) -> None:
    texts = ["".join(text.split()) or "我" for text in make_texts(60, 50)]
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    # One process is enough, which imports torch; test_jobs.py has several write together.
    job = ["batch", str(tmp_path / "in.txt"), str(tmp_path / "out"), "--workers", "1", "--shard-size", "1000"]
    assert run([*job, "--model", str(checkpoint_folder)]) == 0
    written = (tmp_path / "out" / "in.txt").read_text("utf-8").split("\n")[:-1]
    assert written == [answer.text for answer in on_torch.check_many(texts)]
    assert written != texts


def test_what_is_missing_is_said_in_a_sentence(
    checkpoint_folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="no device 'tpu'"):
        Speller(checkpoint_folder, device="tpu")
    with pytest.raises(InputError, match=r"no model\.onnx"):
        Speller(tmp_path, device="cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    for folder in (checkpoint_folder, model_folder):
        with pytest.raises(InputError, match="no CUDA device"):
            Speller(folder, device="cuda")
    monkeypatch.setitem(sys.modules, "nmspeller.lab.models.scoring", None)
    with pytest.raises(InputError, match="needs PyTorch"):
        Speller(checkpoint_folder, device="cuda")


def test_numbers_that_leave_the_range_are_never_passed_over(source_folder: Path) -> None:
    source = read_weights(source_folder)
    source.weights["head.output.bias"][7] = np.nan
    vocabulary = source.vocabulary
    engine = TorchEngine(source, vocabulary, "cpu", threads=1)
    with pytest.raises(InputError, match="range of half precision"):
        list(engine.scores(vocabulary.encode("我们"), np.array([0]), np.array([2]), 0.5))


def test_the_benchmark_counts_both_sides(checkpoint_folder: Path, model_folder: Path) -> None:
    sentences = ["我们门去外国可以认识很多的人"] * 30
    found = measure(checkpoint_folder, sentences, workers=(1,))
    assert found["model"]["sentences_per_second"] > 0
    assert found["model"]["changed_characters"] > 30
    edits = sum(len(answer.edits) for answer in Speller(checkpoint_folder, threads=1).check_many(sentences))
    # Several processes, with unequal shares, read the export: they need not import torch.
    together = measure_pipeline(model_folder, sentences[:-1], Device.CPU, 2)
    assert [(each["workers"], each["edits"]) for each in (*found["pipeline"], together)] == [
        (1, edits),
        (2, edits * 29 // 30),
    ]
