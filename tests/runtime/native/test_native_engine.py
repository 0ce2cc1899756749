"""The native engine with the shipped model: what ONNX Runtime says, and the same in every company."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.errors import InputError
from nmspeller.runtime.decoder import ScoringEngine, Windows
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.native import library
from nmspeller.runtime.native.engine import NativeEngine, NativePrefilter, NativeSession
from nmspeller.runtime.native.onnx_file import OnnxFile
from nmspeller.runtime.native.weights import UnsupportedError
from nmspeller.runtime.pipeline import SHIPPED
from nmspeller.runtime.prefilter import OnnxPrefilter
from nmspeller.text.vocabulary import Vocabulary

pytestmark = pytest.mark.skipif(
    not library.instruction_sets(), reason="the native engine is not compiled, or not for this processor"
)

TEXTS = [
    "我门去外国可以认识很多的人，就可以借少给他们。",
    "今天天汽很好，我门去公圆玩吧！",
    "在在北京工作了三年以后他决定回到家乡",
    "好",
    "这篇文章的作者认为，随着人口老龄化的不断加深，社会养老服务的需求将持续增长，而现有的供给远远不能满足，"
    "因此必需加快发展多层次的养老服务体系，鼓励社会资本参与，提高服务质量。",
]
Said = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.from_file(SHIPPED / "vocab.txt")


@pytest.fixture(scope="module")
def engines(vocabulary: Vocabulary) -> dict[str, NativeEngine]:
    return {
        name: NativeEngine(SHIPPED / "model.onnx", vocabulary, threads=1, instructions=name)
        for name in library.instruction_sets()
    }


@pytest.fixture(scope="module")
def engine(engines: dict[str, NativeEngine]) -> NativeEngine:
    return next(iter(engines.values()))


def everything(
    engine: ScoringEngine, vocabulary: Vocabulary, texts: list[str]
) -> list[dict[str, np.ndarray]]:
    """All that an engine says of each text, by position."""
    encoded = [vocabulary.encode(text) for text in texts]
    ids = np.concatenate([*encoded, np.zeros(0, np.int32)]).astype(np.int32)
    stops = np.cumsum([len(each) for each in encoded])
    starts = stops - [len(each) for each in encoded]
    found = [
        {
            "best": np.zeros((len(each), 5), np.int32),
            "probabilities": np.zeros((len(each), 5), np.float32),
            "source": np.full(len(each), -1, np.float32),
            "tags": np.full((len(each) + 1, 3), -1, np.float32),
        }
        for each in encoded
    ]
    for scores in engine.scores(ids, starts, stops, np.inf, 0.0):
        for number, window in enumerate(scores.windows):
            place = scores.positions[number] - starts[window]
            found[window]["best"][place] = scores.best[number]
            found[window]["probabilities"][place] = scores.probabilities[number]
            found[window]["source"][place] = scores.source_probabilities[number]
        for window, place, *tags in zip(*scores.tags, strict=True):
            found[window]["tags"][place] = tags
    return found


def assert_same(one: list[Said], other: list[Said]) -> None:
    for texts in zip(one, other, strict=True):
        for name in texts[0]:
            np.testing.assert_array_equal(texts[0][name], texts[1][name], err_msg=name)


def test_onnx_runtime_says_nearly_the_same(engine: NativeEngine, vocabulary: Vocabulary) -> None:
    reference = OnnxEngine(SHIPPED / "model.onnx", vocabulary, threads=1)
    for own, other in zip(
        everything(engine, vocabulary, TEXTS), everything(reference, vocabulary, TEXTS), strict=True
    ):
        # Activations are rounded to bytes again and again: a last place of a float can decide about a step.
        assert (own["best"][:, 0] == other["best"][:, 0]).all()
        for name in ("probabilities", "source", "tags"):
            difference = np.abs(own[name] - other[name])
            assert difference.mean() < 0.002, name
            assert difference.max() < 0.1, name


def test_all_instruction_sets_say_exactly_the_same(
    engines: dict[str, NativeEngine], vocabulary: Vocabulary
) -> None:
    if len(engines) == 1:
        pytest.skip("this processor has one instruction set that there are kernels for")
    first, *others = (everything(each, vocabulary, TEXTS) for each in engines.values())
    for other in others:
        assert_same(first, other)


def changed(
    monkeypatch: pytest.MonkeyPatch, vocabulary: Vocabulary, change: Callable[[dict[str, Any]], None]
) -> list[list[Said]]:
    """What each instruction set says with a model whose constants have been changed."""
    file = OnnxFile.read(SHIPPED / "model.onnx")
    change(file.constants)
    with monkeypatch.context() as patch:
        patch.setattr(OnnxFile, "read", lambda path: file)
        sets = library.instruction_sets()
        engines = [NativeEngine(Path(), vocabulary, threads=1, instructions=name) for name in sets]
    return [everything(each, vocabulary, TEXTS) for each in engines]


def test_products_of_the_largest_bytes_are_exact(
    monkeypatch: pytest.MonkeyPatch, vocabulary: Vocabulary
) -> None:
    """The order of the channels between two layers changes nothing but which products are added first."""
    up, down = (f"semantic.layers.0.feed_forward.{name}" for name in ("up", "down"))

    def make_largest(constants: dict[str, Any]) -> None:
        channels, outputs = constants[f"{down}.weight"].shape
        signs = np.where(np.arange(channels) // 2 % 2, np.int8(-127), np.int8(127))  # of pairs
        constants[f"{down}.weight"] = np.repeat(signs[:, None], outputs, 1)
        constants[f"{down}.weight"][signs < 0, ::3] = -128
        constants[f"{down}.weight_scale"] = constants[f"{down}.weight_scale"] / 1000
        constants[f"{up}.bias"] = np.where(np.arange(channels) % 5, np.float32(1000), np.float32(0))

    def change_order(constants: dict[str, Any]) -> None:
        make_largest(constants)
        order = np.arange(len(constants[f"{up}.bias"])).reshape(-1, 4)[:, [0, 2, 1, 3]].ravel()
        constants[f"{up}.weight"] = constants[f"{up}.weight"].take(order, axis=1)
        for name in (f"{up}.weight_scale", f"{up}.bias", f"{down}.weight", f"{down}.inverse_channel_scale"):
            if name in constants:
                constants[name] = constants[name][order]

    first, *others = (
        *changed(monkeypatch, vocabulary, make_largest),
        *changed(monkeypatch, vocabulary, change_order),
    )
    for other in others:
        assert_same(first, other)


def test_all_instruction_sets_say_the_same_with_the_largest_weights(
    monkeypatch: pytest.MonkeyPatch, vocabulary: Vocabulary
) -> None:
    def make_largest(constants: dict[str, Any]) -> None:
        random = np.random.default_rng(0)
        for name, array in constants.items():
            if array.dtype == np.int8:
                constants[name] = random.choice(np.array([-128, -127, 1, 127], np.int8), array.shape)

    first, *others = changed(monkeypatch, vocabulary, make_largest)
    for other in others:
        assert_same(first, other)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_the_answers(
    engine: NativeEngine, vocabulary: Vocabulary, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = NativeEngine(SHIPPED / "model.onnx", vocabulary, threads=threads)
    expected = everything(engine, vocabulary, TEXTS)
    assert_same(everything(many, vocabulary, TEXTS), expected)
    # And where every thread has batches of its own.
    monkeypatch.setattr(NativeSession, "batch_tokens", 32)
    monkeypatch.setattr(NativeSession, "many_batches", 0)
    assert_same(everything(many, vocabulary, TEXTS), expected)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.text(st.sampled_from("我门们去公园玩的得地在再，。！ab1龘"), max_size=40), min_size=1, max_size=6
    )
)
def test_a_text_alone_has_the_answers_it_has_in_company(
    engine: NativeEngine, vocabulary: Vocabulary, texts: list[str]
) -> None:
    alone = [everything(engine, vocabulary, [text])[0] for text in texts]
    assert_same(everything(engine, vocabulary, texts), alone)


def test_several_callers_at_once_do_not_disturb_one_another(vocabulary: Vocabulary) -> None:
    engine = NativeEngine(SHIPPED / "model.onnx", vocabulary, threads=2)
    expected = everything(engine, vocabulary, TEXTS)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: everything(engine, vocabulary, TEXTS), range(24)):
            assert_same(found, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_can_go_on(vocabulary: Vocabulary) -> None:
    engine = NativeEngine(SHIPPED / "model.onnx", vocabulary, threads=2)
    expected = everything(engine, vocabulary, TEXTS[:2])
    child = os.fork()
    if not child:
        found = everything(engine, vocabulary, TEXTS[:2])
        same = ((one["best"] == other["best"]).all() for one, other in zip(found, expected, strict=True))
        os._exit(0 if all(same) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert_same(everything(engine, vocabulary, TEXTS[:2]), expected)


READS_UNTIL_THE_END = """
import threading
from itertools import count
from nmspeller import Speller

def read():
    for number in count():
        speller.check(f"我们第{number}次去公园玩，天气很好。" * 4)
        begun.set()

speller, begun = Speller(threads=1), threading.Event()
threading.Thread(target=read, daemon=True).start()
begun.wait()
"""


def test_a_program_may_end_while_a_daemon_thread_reads() -> None:
    assert subprocess.run([sys.executable, "-c", READS_UNTIL_THE_END]).returncode == 0


def test_only_what_is_asked_for_is_told(engine: NativeEngine, vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode(TEXTS[0])
    starts, stops = np.array([0]), np.array([len(ids)])
    (scores,) = engine.scores(ids, starts, stops, 0.5, 2.0)
    assert 0 < len(scores.positions) < len(ids)
    assert (scores.source_probabilities <= 0.5).all()
    assert not len(scores.tags.places)
    assert not list(engine.scores(ids, starts, starts))  # an empty window


def test_a_window_that_is_too_long_is_refused(engine: NativeEngine, vocabulary: Vocabulary) -> None:
    ids = np.full(engine.longest + 1, vocabulary.unk, np.int32)
    with pytest.raises(ValueError, match="more than"):
        list(engine.scores(ids, np.array([0]), np.array([len(ids)])))
    assert len(list(engine.scores(ids, np.array([0]), np.array([engine.longest])))) == 1


def test_the_prefilter_scores_as_on_onnx_runtime(vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode("".join(TEXTS))
    stops = np.cumsum([len(text) for text in TEXTS])
    starts = stops - [len(text) for text in TEXTS]
    windows = Windows(starts, stops, starts + (stops - starts > 2), stops)
    allowed = np.arange(len(ids)) % 7 > 0
    own, other = (
        kind(SHIPPED / "prefilter.onnx", vocabulary, threads=1).error_scores(ids, allowed, windows)
        for kind in (NativePrefilter, OnnxPrefilter)
    )
    np.testing.assert_allclose(own, other, atol=0.05)
    assert ((own > 0) == (other > 0)).mean() > 0.99
    assert (own[~allowed] == 0).all()


def test_of_a_damaged_file_one_sentence_is_said(tmp_path: Path, vocabulary: Vocabulary) -> None:
    content = (SHIPPED / "prefilter.onnx").read_bytes()
    name = b"semantic.layers.1.attention.out.weight"
    for damaged in (
        b"",
        b"no model",
        content[:1000],
        content[: len(content) // 2],
        content.replace(name, b"X" * len(name)),
        content.replace(b"attention_norm.bias", b"attention_norm.sibs"),
        content[:-300] + bytes(300),
    ):
        (tmp_path / "model.onnx").write_bytes(damaged)
        with pytest.raises(InputError, match=r"is damaged or is no model|was not written by"):
            NativePrefilter(tmp_path / "model.onnx", vocabulary)


def test_a_constant_of_another_shape_is_found(tmp_path: Path, vocabulary: Vocabulary) -> None:
    onnx = pytest.importorskip("onnx")
    for name in (
        "semantic.layers.0.attention.qkv.weight",
        "head.output.bias",
        "semantic.embeddings.norm.weight",
    ):
        proto = onnx.load(SHIPPED / "prefilter.onnx")
        tensor = next(each for each in proto.graph.initializer if each.name == name)
        array = onnx.numpy_helper.to_array(tensor)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array[:-1].copy(), name))
        onnx.save(proto, tmp_path / "model.onnx")
        with pytest.raises(InputError, match="is damaged"):
            NativePrefilter(tmp_path / "model.onnx", vocabulary)


def test_without_the_library_the_model_is_not_supported(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "load", lambda: None)
    with pytest.raises(UnsupportedError):
        NativeEngine(SHIPPED / "model.onnx", vocabulary)


def test_the_most_threads_are_those_of_the_library() -> None:
    header = Path(__file__).parents[3] / "native" / "sharing.h"
    assert f"#define MOST_MEMBERS {library.MOST_THREADS}\n" in header.read_text("utf-8")


def test_a_variable_leaves_the_library_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    assert library.load() is not None
    monkeypatch.setenv(library.SWITCH, "0")
    assert library.load.__wrapped__() is None
    monkeypatch.setenv(library.SWITCH, "1")
    assert library.load.__wrapped__() is not None
