"""The small speller: alone, in a model's folder, and before the model."""

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from nmspeller import InputError, Speller
from nmspeller.data.pairs import Pair
from nmspeller.runtime.device import Device, glance_file
from nmspeller.runtime.engine import Engine
from nmspeller.runtime.export import calibrate_glance_model, export_glance, export_model
from nmspeller.runtime.findings import Windows
from nmspeller.runtime.glance import FILE, Glance
from nmspeller.runtime.policy import Level, Policy, Thresholds
from nmspeller.runtime.reader import Reader
from nmspeller.text.vocabulary import Vocabulary

SENTENCES = [
    "我门去外国可以认识很多的人。",
    "他在国外得人很少，可以借少？",
    "对不气",
    "我们abc再123去！龘",
    "的地得" * 9,
]
# Of several windows, with whole lines that the model may or may not be given.
LONG = "他在国外得人很少，可以借少？我门去外国可以认识很多的人。" * 4 + "\nabc 123\n" + "对不气，" * 15


@pytest.fixture(scope="module", params=[False, True], ids=["floats", "integers"])
def texts_or_none(request: pytest.FixtureRequest, texts: list[str]) -> list[str] | None:
    return texts if request.param else None


@pytest.fixture(scope="module")
def folder(model_folder: Path, small_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a glance that holds nothing back yet."""
    folder = shutil.copytree(model_folder, tmp_path_factory.mktemp("glance") / "model")
    export_glance(small_source, folder)
    return folder


@pytest.fixture
def own_folder(folder: Path, tmp_path: Path) -> Path:
    """The same, to be spoilt."""
    return shutil.copytree(folder, tmp_path / "own")


@pytest.fixture(scope="module")
def glance(folder: Path) -> Glance:
    return Glance(folder / FILE, Vocabulary.from_file(folder / "vocab.txt"), threads=1)


def whole(sentences: list[str]) -> Windows:
    """A window a sentence, all of it kept."""
    stops = np.cumsum([len(sentence) for sentence in sentences])
    starts = stops - [len(sentence) for sentence in sentences]
    return Windows(starts, stops, starts, stops)


def encode(glanced: Path, sentences: list[str]) -> np.ndarray:
    return Vocabulary.from_file(glanced / "vocab.txt").encode("".join(sentences))


def with_doubt(folder: Path, doubt: float) -> None:
    """Let every level hold back what the glance doubts less."""
    policy = Policy.read(folder / "policy.json")
    levels = {level: replace(thresholds, glance=doubt) for level, thresholds in policy.levels.items()}
    replace(policy, levels=levels).write(folder / "policy.json")


def test_suspicion_is_what_the_whole_small_speller_does_not_keep(
    small_source: Path, own_folder: Path, tmp_path: Path, texts_or_none: list[str] | None
) -> None:
    small = export_model(small_source, tmp_path / "small", texts=texts_or_none)
    export_glance(small_source, own_folder, texts=texts_or_none)
    vocabulary = Vocabulary.from_file(small / "vocab.txt")
    engine = Engine(small / "model.onnx", vocabulary, threads=1)
    glance = Glance(own_folder / FILE, vocabulary, threads=1)
    ids, windows = vocabulary.encode("".join(SENTENCES)), whole(SENTENCES)
    kept = np.ones(len(ids), np.float32)
    for scores in engine.scores(ids, windows.starts, windows.stops):
        kept[scores.positions] = scores.kept
    allowed = np.arange(len(ids)) % 3 > 0
    # The first window keeps only its middle, the second only its end.
    windows = windows._replace(
        keep_starts=windows.starts + np.array([4, 9, 0, 0, 0]),
        keep_stops=windows.stops - np.array([5, 0, 0, 0, 0]),
    )
    expected = [
        max((1 - kept[at] for at in range(start, stop) if allowed[at]), default=0.0)
        for start, stop in zip(windows.keep_starts, windows.keep_stops, strict=True)
    ]
    found = glance.suspicion(ids, allowed, windows)
    assert found.dtype == np.float32
    assert found.tolist() == expected
    assert len(set(expected)) == len(SENTENCES)


def test_suspicion_depends_on_neither_company_nor_order(folder: Path, glance: Glance) -> None:
    ids, windows = encode(folder, SENTENCES), whole(SENTENCES)
    allowed = np.ones(len(ids), np.bool_)
    together = glance.suspicion(ids, allowed, windows)
    many = np.random.default_rng(0).integers(0, len(SENTENCES), 500)
    np.testing.assert_allclose(
        glance.suspicion(ids, allowed, windows.subset(many)), together[many], atol=1e-6
    )
    for number in range(len(SENTENCES)):
        alone = glance.suspicion(ids, allowed, windows.subset(np.array([number])))
        np.testing.assert_allclose(alone, together[[number]], atol=1e-6)


def test_what_may_not_change_is_beyond_doubt(folder: Path, glance: Glance) -> None:
    ids, windows = encode(folder, SENTENCES), whole(SENTENCES)
    assert glance.suspicion(ids, np.zeros(len(ids), np.bool_), windows).tolist() == [0.0] * len(SENTENCES)
    kept_by_others = windows._replace(keep_stops=windows.keep_starts)
    assert not glance.suspicion(ids, np.ones(len(ids), np.bool_), kept_by_others).any()
    assert glance.suspicion(ids, np.ones(len(ids), np.bool_), windows.subset(np.zeros(0, np.intp))).size == 0


def test_a_reader_glances_at_chinese_characters_alone(folder: Path) -> None:
    ((_, suspicion),) = Reader(folder, threads=1).glance_over(["，。！？", "我门", "abc"])
    assert (suspicion > 0).tolist() == [False, True, False]


def test_nothing_but_doubt_leaves_the_graph(folder: Path) -> None:
    graph = onnx.load(folder / FILE).graph
    assert [output.name for output in graph.output] == ["kept"]
    assert "TopK" not in {node.op_type for node in graph.node}


@pytest.mark.parametrize("passes", [1, 2])
def test_windows_that_pass_are_read_as_before_and_no_others(folder: Path, passes: int) -> None:
    reader = Reader(folder, threads=1)
    texts = [*SENTENCES, LONG, "", "abc"]
    ((passage, everything),) = reader.read(texts, Thresholds(0.002, 0.002), passes)
    ((_, suspicion),) = reader.glance_over(texts)
    windows = passage.windows
    assert len(windows.starts) > len(texts)
    for doubt in np.unique(suspicion[suspicion > 0]).tolist():
        ((_, found),) = reader.read(texts, Thresholds(0.002, 0.002, doubt), passes)
        holder = np.searchsorted(windows.keep_starts, everything.positions, side="right") - 1
        expected = everything.subset(suspicion[holder] >= doubt)
        assert found.positions.tolist() == expected.positions.tolist()
        assert found.targets.tolist() == expected.targets.tolist()
    assert 0 < len(expected.positions) < len(everything.positions)


def test_a_speller_takes_its_glance_along(own_folder: Path, eager: Speller) -> None:
    with_doubt(own_folder, 2.0)
    nothing = Speller(own_folder, threads=1)
    assert eager.check(LONG).edits
    for speller in (nothing, pickle.loads(pickle.dumps(nothing))):
        assert not speller.check(LONG).edits
    (own_folder / FILE).unlink()
    assert Speller(own_folder, threads=1).check(LONG) == eager.check(LONG)


def test_a_glance_is_part_of_what_decides(own_folder: Path) -> None:
    with_glance = Speller(own_folder, threads=1).model_hash
    (own_folder / FILE).unlink()
    assert Speller(own_folder, threads=1).model_hash != with_glance


def test_pytorch_does_not_glance(own_folder: Path, source_folder: Path) -> None:
    assert glance_file(own_folder, Device.CPU) == own_folder / FILE
    assert glance_file(own_folder, Device.CUDA) is None
    with_doubt(own_folder, 2.0)
    (own_folder / "model.onnx").unlink()
    for name in ("model.safetensors", "config.json"):
        shutil.copy(source_folder / name, own_folder)
    assert glance_file(own_folder, Device.CPU) is None
    assert Speller(own_folder, threads=1).check(LONG).edits


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_glance(own_folder: Path, share: float) -> None:
    content = (own_folder / FILE).read_bytes()
    (own_folder / FILE).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=r"glance\.onnx .* `nmspeller glance`"):
        Speller(own_folder)


def test_a_glance_of_another_vocabulary(own_folder: Path) -> None:
    glance = onnx.load(own_folder / FILE)
    next(fact for fact in glance.metadata_props if fact.key == "vocabulary").value = "7"
    onnx.save(glance, own_folder / FILE)
    with pytest.raises(InputError, match=r"glance\.onnx knows 7 characters"):
        Speller(own_folder)


def test_a_glance_is_no_model(own_folder: Path) -> None:
    shutil.copy(own_folder / FILE, own_folder / "model.onnx")
    with pytest.raises(InputError, match=r"model\.onnx was not written by `nmspeller export`"):
        Speller(own_folder)


def test_windows_longer_than_the_glance_reads(own_folder: Path, small_source: Path) -> None:
    policy = Policy.read(own_folder / "policy.json")
    replace(policy, window=47).write(own_folder / "policy.json")
    with pytest.raises(InputError, match=r"46 characters, and .*glance\.onnx"):
        Speller(own_folder)
    (own_folder / FILE).unlink()
    with pytest.raises(InputError, match="46 characters at once"):
        export_glance(small_source, own_folder)
    # What would have made the folder useless is not written.
    assert Speller(own_folder).window == 47


def test_a_new_glance_holds_nothing_back_before_it_is_calibrated(
    own_folder: Path, small_source: Path
) -> None:
    with_doubt(own_folder, 0.5)
    before = Policy.read(own_folder / "policy.json")
    export_glance(small_source, own_folder)
    after = Policy.read(own_folder / "policy.json")
    assert [thresholds.glance for thresholds in after.levels.values()] == [0, 0, 0]
    with_doubt(own_folder, 0.5)
    assert Policy.read(own_folder / "policy.json") == before


def test_a_new_model_has_no_glance(own_folder: Path, source_folder: Path) -> None:
    export_model(source_folder, own_folder)
    assert not (own_folder / FILE).exists()


def test_calibrating_loses_few_sentences_and_tells_how_many(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "passage", 100)  # many passages
    texts = [LONG[start : start + length] for start in range(0, 100, 3) for length in (5, 8, 90)]
    unchanged = ["abc", LONG, *SENTENCES]
    policy = Policy.read(own_folder / "policy.json")
    least = dict(zip(Level, (0.3, 0.02, 0.002), strict=True))
    levels = {level: Thresholds(certainty, certainty) for level, certainty in least.items()}
    replace(policy, levels=levels, calibration={"pairs": 1}).write(own_folder / "policy.json")
    written = calibrate_glance_model(own_folder, [Pair(text, text) for text in texts], unchanged)
    assert Policy.read(own_folder / "policy.json") == written
    assert written.calibration["pairs"] == 1
    careful, balanced, thorough = (written.levels[level].glance for level in Level)
    assert careful >= balanced >= thorough
    assert careful > 0
    reader = Reader(own_folder, threads=1)

    def counts(thresholds: Thresholds) -> np.ndarray:
        """How much is found in each text, read by itself."""
        return np.array(
            [len(found.positions) for text in texts for _, found in reader.read([text], thresholds, 1)]
        )

    def suspicions(sentences: list[str]) -> list[np.ndarray]:
        return [suspicion for text in sentences for _, suspicion in reader.glance_over([text])]

    for level, thresholds in written.levels.items():
        assert replace(thresholds, glance=0.0) == levels[level]
        lost = counts(thresholds) < counts(levels[level])
        share = lost.sum() / (counts(levels[level]) > 0).sum()
        assert share <= 0.005
        windows, clean = np.concatenate(suspicions(texts)), [max(each) for each in suspicions(unchanged)]
        assert written.calibration["glance"][level.value] == {
            "threshold": thresholds.glance,
            "lost": round(100 * share, 2),
            "read": round(100 * np.mean(windows >= thresholds.glance), 2),
            "clean_read": round(100 * np.mean(np.array(clean) >= thresholds.glance), 2),
        }


def test_there_is_nothing_to_calibrate_without_a_glance(model_folder: Path) -> None:
    with pytest.raises(InputError, match=r"holds no glance\.onnx"):
        calibrate_glance_model(model_folder, [Pair("我门", "我们")])
