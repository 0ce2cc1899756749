"""The small speller: alone, in a model's folder, and before the model."""

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.exact_products import onnx_runtime_is_exact

from nmspeller import InputError, Speller
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.export.export import calibrate_prefilter_model, export_model, export_prefilter, record_hash
from nmspeller.lab.export.prefilter_calibration import prefilter_scores
from nmspeller.lab.export.weights import read_weights
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.registry import from_arrays
from nmspeller.runtime.decoder import Windows
from nmspeller.runtime.device import Device, open_prefilter
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level, Policy, Thresholds
from nmspeller.runtime.prefilter import FILE, THRESHOLDS, OnnxPrefilter, PrefilterThresholds, highest_scores
from nmspeller.runtime.reading import Part, Reading
from nmspeller.runtime.torch_engine import TorchPrefilter
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
    """A model with a prefilter that holds nothing back yet."""
    folder = shutil.copytree(model_folder, tmp_path_factory.mktemp("prefilter") / "model")
    export_prefilter(small_source, folder)
    return folder


@pytest.fixture
def own_folder(folder: Path, tmp_path: Path) -> Path:
    """The same, to be spoilt."""
    return shutil.copytree(folder, tmp_path / "own")


@pytest.fixture(scope="module")
def prefilter(folder: Path) -> OnnxPrefilter:
    return OnnxPrefilter(folder / FILE, Vocabulary.from_file(folder / "vocab.txt"), threads=1)


def parts_of(texts: list[str]) -> list[Part]:
    return [part for text in texts for part in Reading(text, window=40).parts]


def whole(sentences: list[str]) -> Windows:
    """A window a sentence, all of it kept."""
    stops = np.cumsum([len(sentence) for sentence in sentences])
    starts = stops - [len(sentence) for sentence in sentences]
    return Windows(starts, stops, starts, stops)


def encode(prefiltered: Path, sentences: list[str]) -> np.ndarray:
    return Vocabulary.from_file(prefiltered / "vocab.txt").encode("".join(sentences))


def source_probabilities(small_source: Path, vocabulary: Vocabulary) -> np.ndarray:
    """The sigmoid of the scores of all source characters, by PyTorch."""
    weights = read_weights(small_source)
    model = from_arrays(weights.encoder, weights.weights)
    rows = [
        np.concatenate(([vocabulary.cls], vocabulary.encode(sentence), [vocabulary.sep]))
        for sentence in SENTENCES
    ]
    with torch.no_grad():
        found = [model.source_scores(collate([row])).sigmoid()[0, 1 : len(row) - 1] for row in rows]
    return torch.cat(found).numpy()


def write_threshold(folder: Path, threshold: float) -> None:
    """Let every level hold back what the prefilter thresholds less."""
    PrefilterThresholds(dict.fromkeys(Level, threshold)).write(folder / THRESHOLDS)


def test_the_error_score_is_that_of_the_source_characters_alone(
    small_source: Path, own_folder: Path, texts_or_none: list[str] | None
) -> None:
    export_prefilter(small_source, own_folder, texts=texts_or_none)
    vocabulary = Vocabulary.from_file(own_folder / "vocab.txt")
    prefilter = OnnxPrefilter(own_folder / FILE, vocabulary, threads=1)
    ids, windows = vocabulary.encode("".join(SENTENCES)), whole(SENTENCES)
    kept = source_probabilities(small_source, vocabulary)
    allowed = np.arange(len(ids)) % 3 > 0
    # The first window keeps only its middle, the second only its end.
    windows = windows._replace(
        keep_starts=windows.starts + np.array([4, 9, 0, 0, 0]),
        keep_stops=windows.stops - np.array([5, 0, 0, 0, 0]),
    )
    expected = np.zeros(len(ids))
    for start, stop in zip(windows.keep_starts, windows.keep_stops, strict=True):
        expected[start:stop] = np.where(allowed, 1 - kept, 0)[start:stop]
    found = prefilter.error_scores(ids, allowed, windows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5 if texts_or_none is None else 0.1)
    assert len(set(expected)) > len(ids) / 3


def test_error_scores_do_not_depend_on_the_batch_or_its_order(folder: Path, prefilter: OnnxPrefilter) -> None:
    ids, windows = encode(folder, SENTENCES), whole(SENTENCES)
    allowed = np.ones(len(ids), np.bool_)
    together = prefilter.error_scores(ids, allowed, windows)
    many = np.random.default_rng(0).integers(0, len(SENTENCES), 500)
    np.testing.assert_allclose(
        prefilter.error_scores(ids, allowed, windows.subset(many)), together, atol=1e-6
    )
    for number in range(len(SENTENCES)):
        alone = prefilter.error_scores(ids, allowed, windows.subset(np.array([number])))
        here = slice(windows.starts[number], windows.stops[number])
        np.testing.assert_allclose(alone[here], together[here], atol=1e-6)
        assert not alone[: here.start].any()
        assert not alone[here.stop :].any()


def test_protected_characters_do_not_count_in_the_error_score(folder: Path, prefilter: OnnxPrefilter) -> None:
    ids, windows = encode(folder, SENTENCES), whole(SENTENCES)
    everywhere, nowhere = np.ones(len(ids), np.bool_), np.zeros(len(ids), np.bool_)
    kept_by_others = windows._replace(keep_stops=windows.keep_starts)
    assert prefilter.error_scores(ids, everywhere, windows).all()
    assert not prefilter.error_scores(ids, nowhere, windows).any()
    assert not prefilter.error_scores(ids, everywhere, kept_by_others).any()


def test_the_prefilter_scores_only_chinese_characters(folder: Path) -> None:
    ((_, error_scores),) = Pipeline(folder, threads=1, prefilter=True).prefilter_scores(
        parts_of(["，。！？", "我门", "abc"])
    )
    assert (error_scores > 0).tolist() == [False] * 4 + [True] * 2 + [False] * 3


def test_the_graph_has_one_output(folder: Path) -> None:
    graph = onnx.load(folder / FILE).graph
    assert [output.name for output in graph.output] == ["source_probability"]
    assert "TopK" not in {node.op_type for node in graph.node}


@pytest.mark.parametrize("passes", [1, 2])
def test_the_model_finds_the_same_in_the_windows_that_it_reads(folder: Path, passes: int) -> None:
    pipeline = Pipeline(folder, threads=1, prefilter=True)
    texts, lax = [*SENTENCES, LONG, "", "abc"], Thresholds(0.002, 0.002)
    parts = parts_of(texts)
    ((batch, everything),) = pipeline.detect(parts, lax, passes)
    ((_, error_scores),) = pipeline.prefilter_scores(parts)
    window = np.searchsorted(batch.windows.starts, everything.positions, side="right") - 1
    counts = []
    for threshold in np.unique(error_scores[error_scores > 0])[::9].tolist():
        ((_, found),) = pipeline.detect(parts, replace(lax, prefilter=threshold), passes)
        read = np.array(
            [error_scores[a:b].max() >= threshold for a, b in zip(*batch.windows[:2], strict=True)]
        )
        expected = everything.subset(read[window])
        assert found.positions.tolist() == expected.positions.tolist()
        assert found.targets.tolist() == expected.targets.tolist()
        np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-5)
        counts.append(len(found.positions))
    assert 0 < counts[-1] < counts[0] <= len(everything.positions)


MARKS = st.text(st.sampled_from("我门去外国。！？；，\n \u3000a”"), max_size=400)


@settings(max_examples=300, deadline=None)
@given(st.lists(MARKS, max_size=4), st.data())
def test_a_window_scores_as_its_most_suspicious_character(texts: list[str], data: st.DataObject) -> None:
    vocabulary = Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"我门去外国，。"])
    windows = PartBatch(parts_of(texts), vocabulary).windows
    scores = np.zeros(windows.stops.max(initial=0), np.float32)
    if len(scores):
        places = data.draw(st.lists(st.integers(0, len(scores) - 1), max_size=8))
        scores[places] = np.arange(1, len(places) + 1)
    chosen = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(windows.starts), max_size=len(windows.starts)))
    )
    some = windows.subset(np.flatnonzero(chosen))
    expected = [scores[start:stop].max() for start, stop in zip(some.starts, some.stops, strict=True)]
    assert highest_scores(scores, some).tolist() == expected


def test_the_prefilter_is_an_option_that_a_pickled_speller_keeps(own_folder: Path, eager: Speller) -> None:
    write_threshold(own_folder, 1.0)
    nothing = Speller(own_folder, threads=1, prefilter=True)
    assert eager.check(LONG).edits
    for speller in (nothing, pickle.loads(pickle.dumps(nothing))):
        assert not speller.check(LONG).edits
        assert speller.check(LONG).source == LONG
    assert Speller(own_folder, threads=1).check(LONG) == eager.check(LONG)


def test_the_prefilter_is_part_of_the_hash_only_where_it_is_used(own_folder: Path, eager: Speller) -> None:
    write_threshold(own_folder, 0.5)
    hashes = {Speller(own_folder, threads=1, prefilter=True).checker.model_hash}
    write_threshold(own_folder, 0.25)
    hashes.add(Speller(own_folder, threads=1, prefilter=True).checker.model_hash)
    hashes.add(Speller(own_folder, threads=1).checker.model_hash)
    assert len(hashes) == 3
    assert eager.checker.model_hash in hashes


def test_on_pytorch_the_error_scores_are_those_of_the_export(
    own_folder: Path, small_source: Path, texts_or_none: list[str] | None
) -> None:
    export_prefilter(small_source, own_folder, texts=texts_or_none)
    vocabulary = Vocabulary.from_file(own_folder / "vocab.txt")
    exported, on_torch = (
        open_prefilter(own_folder, vocabulary, Device.CPU, threads=1),
        TorchPrefilter.open(own_folder, vocabulary, "cpu", threads=1),
    )
    if texts_or_none and isinstance(exported, OnnxPrefilter) and not onnx_runtime_is_exact():
        pytest.skip("ONNX Runtime's products of bytes overflow on this processor")
    sentences = SENTENCES * 60
    ids, windows = vocabulary.encode("".join(sentences)), whole(sentences)
    windows = windows._replace(keep_starts=windows.starts + 1, keep_stops=windows.stops - 1)
    allowed = np.arange(len(ids)) % 3 > 0
    expected, found = (each.error_scores(ids, allowed, windows) for each in (exported, on_torch))
    assert on_torch.longest == exported.longest
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found == 0, expected == 0)
    np.testing.assert_allclose(found, expected, atol=1e-5 if texts_or_none is None else 0.1)


def test_a_checkpoint_is_prefiltered_too(own_folder: Path, source_folder: Path) -> None:
    by_window = prefilter_scores(Pipeline(own_folder, threads=1, prefilter=True), [LONG]).error_score
    write_threshold(own_folder, float(by_window.max()) - 1e-4)
    exported = Speller(own_folder, threads=1, prefilter=True).check(LONG)
    (own_folder / "model.onnx").unlink()
    for name in ("model.safetensors", "config.json"):
        shutil.copy(source_folder / name, own_folder)
    found = Speller(own_folder, threads=1, prefilter=True).check(LONG)
    assert found.text == exported.text
    assert 0 < len(found.edits) < len(Speller(own_folder, threads=1).check(LONG).edits)


def test_a_folder_without_a_prefilter_gets_one_sentence(model_folder: Path) -> None:
    with pytest.raises(InputError, match=r"holds no prefilter\.onnx; leave the prefilter out"):
        Speller(model_folder, prefilter=True)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("nmspeller prefilter 1", "nmspeller prefilter 0"),
        ('"careful": 0.5', '"careful": NaN'),
        ('"careful": 0.5', '"careful": 2'),
        ('"careful": 0.5', '"careful": null'),
        ('"careful": 0.5,', ""),
        ("{", ""),
    ],
)
def test_a_file_without_valid_thresholds_gets_one_sentence(own_folder: Path, right: str, wrong: str) -> None:
    write_threshold(own_folder, 0.5)
    path = own_folder / THRESHOLDS
    content = path.read_text("utf-8")
    assert right in content
    path.write_text(content.replace(right, wrong, 1), "utf-8")
    with pytest.raises(InputError, match=r"prefilter\.json holds no prefilter thresholds"):
        Speller(own_folder, prefilter=True)


def test_missing_thresholds_get_one_sentence(own_folder: Path) -> None:
    (own_folder / THRESHOLDS).unlink()
    with pytest.raises(InputError, match=r"cannot read .*prefilter\.json"):
        Speller(own_folder, prefilter=True)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_prefilter(own_folder: Path, share: float) -> None:
    content = (own_folder / FILE).read_bytes()
    (own_folder / FILE).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=r"prefilter\.onnx .* `nmspeller lab prefilter`"):
        Speller(own_folder, prefilter=True)
    assert Speller(own_folder).check("我门").source == "我门"


def test_a_prefilter_of_another_vocabulary(own_folder: Path) -> None:
    prefilter = onnx.load(own_folder / FILE)
    next(fact for fact in prefilter.metadata_props if fact.key == "vocabulary").value = "7"
    onnx.save(prefilter, own_folder / FILE)
    with pytest.raises(InputError, match=r"prefilter\.onnx knows 7 characters"):
        Speller(own_folder, prefilter=True)


def test_a_prefilter_is_no_model(own_folder: Path) -> None:
    shutil.copy(own_folder / FILE, own_folder / "model.onnx")
    record_hash(own_folder)
    with pytest.raises(InputError, match=r"model\.onnx was not written by `nmspeller lab export`"):
        Speller(own_folder)


def test_windows_longer_than_the_prefilter_reads(own_folder: Path, small_source: Path) -> None:
    policy = Policy.read(own_folder / "policy.json")
    replace(policy, window=47).write(own_folder / "policy.json")
    with pytest.raises(InputError, match=r"prefilter\.onnx reads at most 46 characters"):
        Speller(own_folder, prefilter=True)
    (own_folder / FILE).unlink()
    with pytest.raises(InputError, match="46 characters at once"):
        export_prefilter(small_source, own_folder)
    # What would have made the folder useless is not written.
    assert Speller(own_folder).checker.model.window == 47


def test_a_new_prefilter_skips_nothing_before_it_is_calibrated(own_folder: Path, small_source: Path) -> None:
    write_threshold(own_folder, 1.0)
    policy = (own_folder / "policy.json").read_bytes()
    export_prefilter(small_source, own_folder)
    assert PrefilterThresholds.read(own_folder / THRESHOLDS).levels == dict.fromkeys(Level, 0.0)
    assert (own_folder / "policy.json").read_bytes() == policy
    prefiltered, whole = (Speller(own_folder, threads=1, prefilter=use) for use in (True, False))
    assert prefiltered.check(LONG) == whole.check(LONG)


def test_a_new_model_has_no_prefilter(own_folder: Path, source_folder: Path) -> None:
    export_model(source_folder, own_folder)
    assert not any((own_folder / name).exists() for name in (FILE, THRESHOLDS))


def test_calibration_loses_few_sentences_and_records_how_many(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnnxEngine, "characters_per_batch", 100)  # many batches of texts
    texts = [LONG[start : start + length] for start in range(0, 100, 3) for length in (5, 8, 90)]
    unchanged = ["abc", LONG, *SENTENCES]
    policy = Policy.read(own_folder / "policy.json")
    least = dict(zip(Level, (0.3, 0.02, 0.002), strict=True))
    levels = {level: Thresholds(confidence, confidence) for level, confidence in least.items()}
    replace(policy, levels=levels).write(own_folder / "policy.json")
    written = calibrate_prefilter_model(own_folder, [Pair(text, text) for text in texts], unchanged)
    assert PrefilterThresholds.read(own_folder / THRESHOLDS) == written
    assert (written.calibration["pairs"], written.calibration["clean_sentences"]) == (102, 7)
    careful, balanced, thorough = (written.levels[level] for level in Level)
    assert careful >= balanced >= thorough
    assert careful > 0
    pipeline = Pipeline(own_folder, threads=1, prefilter=True)

    def counts(thresholds: Thresholds) -> np.ndarray:
        """How much is found in each text, read by itself."""
        return np.array(
            [
                len(found.positions)
                for text in texts
                for _, found in pipeline.detect(parts_of([text]), thresholds, 1)
            ]
        )

    def error_scores(texts: list[str]) -> list[np.ndarray]:
        """Of the spans of each text."""
        return [prefilter_scores(pipeline, [text]).error_score for text in texts]

    for level, threshold in written.levels.items():
        thresholds = pipeline.policy.levels[level]
        assert thresholds == replace(levels[level], prefilter=threshold)
        lost = counts(thresholds) < counts(levels[level])
        share = lost.sum() / (counts(levels[level]) > 0).sum()
        assert share <= 0.005
        spans, clean = np.concatenate(error_scores(texts)), [max(each) for each in error_scores(unchanged)]
        assert written.calibration["levels"][level.value] == {
            "lost": round(100 * share, 2),
            "read": round(100 * np.mean(spans >= threshold), 2),
            "clean_read": round(100 * np.mean(np.array(clean) >= threshold), 2),
        }


def test_there_is_nothing_to_calibrate_without_a_prefilter(model_folder: Path) -> None:
    with pytest.raises(InputError, match=r"holds no prefilter\.onnx"):
        calibrate_prefilter_model(model_folder, [Pair("我门", "我们")])
