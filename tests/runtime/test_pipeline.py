"""A model folder around an engine that knows a few texts by heart: replacements and what tags lead to."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from nmspeller.runtime.checker import Checker
from nmspeller.runtime.engine import Scores, TagScores
from nmspeller.runtime.findings import Reason
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level, Policy, Thresholds
from nmspeller.runtime.reading import Part
from nmspeller.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"我觉得很狠高心兴好在再北京的书。这本决门们看完了"]
)
THRESHOLDS = Thresholds(0.5, 0.5, repeated=0.4, foreign=0.7, missing=0.4, swapped=0.4)
EXTRA, MISSING, SWAPPED = (0.9, 0.0, 0.0), (0.0, 0.9, 0.0), (0.0, 0.0, 0.9)


class ScriptedEngine:
    """Says of each text that it knows what it is told to, and finds every other text correct.

    replaced: {text: {place: target}}; tags: {text: {place: (extra, missing, swapped)}}, None for a model
    without them; gaps: {text with ? for [MASK]: the character there}.
    """

    def __init__(self, replaced, tags=None, gaps=(), *, longest=100, characters_per_batch=1000):
        self.replaced, self.tags, self.gaps = dict(replaced), tags, dict(gaps)
        self.name = "an engine of a test"
        self.longest, self.characters_per_batch = longest, characters_per_batch
        self.read, self.least = [], []

    def scores(self, ids, starts, stops, most=np.inf, least=np.inf, few=False):
        self.least.append(least)
        for window, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            row = ids[start:stop]
            assert len(row) <= self.longest
            tokens = ["?" if number == VOCABULARY.mask else VOCABULARY.tokens[number] for number in row]
            text = "".join(tokens)
            self.read.append(text)
            best = np.repeat(row[:, None], 5, axis=1).astype(np.int32)
            probabilities = np.tile(np.array([0.99, 0.004, 0.003, 0.002, 0.001], np.float32), (len(row), 1))
            source_probabilities = probabilities[:, 0].copy()
            replaced = dict(self.replaced.get(text, {}))
            if text in self.gaps:
                replaced[text.index("?")] = self.gaps[text]
            for place, target in replaced.items():
                best[place, 0], source_probabilities[place] = VOCABULARY.id(target), 0.001
            positions, windows = np.arange(start, stop), np.full(len(row), window)
            scores = Scores(windows, positions, best, probabilities, source_probabilities)
            yield scores if self.tags is None else scores._replace(tags=self._tags(window, text, least))

    def _tags(self, window, text, least):
        places = dict.fromkeys(range(len(text) + 1), (0.0, 0.0, 0.0)) | self.tags.get(text, {})
        rows = [(window, place, *scores) for place, scores in places.items() if max(scores) >= least]
        windows, numbers, *found = zip(*rows, strict=True) if rows else [()] * 5
        floats = (np.array(each, np.float32) for each in found)
        return TagScores(np.array(windows, np.intp), np.array(numbers, np.intp), *floats)


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    def make(engine, **levels):
        (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY.tokens) + "\n", "utf-8")
        thresholds = dict.fromkeys(Level, THRESHOLDS) | {Level(name): each for name, each in levels.items()}
        Policy(thresholds, window=10).write(tmp_path / "policy.json")
        monkeypatch.setattr("nmspeller.runtime.pipeline.weight_files", lambda *_: [])
        monkeypatch.setattr("nmspeller.runtime.pipeline.open_engine", lambda *_, **__: engine)
        return Pipeline(tmp_path)

    return make


def whole(text, locked=()):
    return Part(text, 0, len(text), locked)


def read(pipeline, *parts, level=Level.BALANCED):
    return [
        [(one.offset, one.length, one.target) for one in changes] for changes in pipeline.read(parts, level)
    ]


def corrected(pipeline, text):
    (result,) = Checker(pipeline).check_many([text])
    return result.text


def test_a_model_without_tags_replaces_and_reads_each_part_once(pipeline):
    engine = ScriptedEngine({"我很高心。": {3: "兴"}, "我门": {1: "们"}})
    model = pipeline(engine)
    assert read(model, whole("我很高心。"), whole("书"), whole("我门")) == [
        [(3, 1, "兴")],
        [],
        [(1, 1, "们")],
    ]
    assert engine.read == ["我很高心。", "书", "我门"]


def test_replacements_beside_an_insertion_are_those_of_the_text_with_it(pipeline):
    engine = ScriptedEngine(
        {"我觉很高心。": {1: "决"}, "我觉得很高心。": {5: "兴"}},
        {"我觉很高心。": {2: MISSING}},
        {"我觉?很高心。": "得"},
    )
    model = pipeline(engine)
    assert read(model, whole("我觉很高心。")) == [[(2, 0, "得"), (4, 1, "兴")]]
    assert corrected(model, "我觉很高心。") == "我觉得很高兴。"


def test_replacements_behind_a_deletion_have_their_places_in_the_source(pipeline):
    engine = ScriptedEngine(
        {"在在北京的书门。": {1: "再"}, "在北京的书门。": {5: "们"}}, {"在在北京的书门。": {1: EXTRA}}
    )
    model = pipeline(engine)
    assert read(model, whole("在在北京的书门。")) == [[(1, 1, ""), (6, 1, "们")]]
    assert corrected(model, "在在北京的书门。") == "在北京的书们。"


def test_a_character_that_is_more_surely_wrong_than_extra_is_replaced(pipeline):
    text = "在北京的书门。"
    sure = ScriptedEngine({text: {5: "们"}}, {text: {5: (0.8, 0.0, 0.0)}})
    assert read(pipeline(sure), whole(text)) == [[(5, 1, "们")]]
    surer = ScriptedEngine({}, {text: {5: EXTRA}})
    assert read(pipeline(surer), whole(text)) == [[(5, 1, "")]]


def test_a_swap_is_two_replacements_and_the_rest_is_read_after_it(pipeline):
    engine = ScriptedEngine(
        {"我得觉很高心。": {1: "在"}, "我觉得很高心。": {5: "兴"}}, {"我得觉很高心。": {1: SWAPPED}}
    )
    model = pipeline(engine, careful=Thresholds(0.5, 0.5))
    assert read(model, whole("我得觉很高心。")) == [[(1, 1, "在")]]  # which is surer
    engine.replaced["我得觉很高心。"] = {}
    assert read(model, whole("我得觉很高心。")) == [[(1, 1, "觉"), (2, 1, "得"), (5, 1, "兴")]]
    (result,) = Checker(model).check_many(["我得觉很高心。"])
    assert [(edit.source, edit.target, edit.reason) for edit in result.edits] == [
        ("得觉", "觉得", Reason.SWAPPED),
        ("心", "兴", Reason.SIMILAR_SOUND),
    ]
    assert read(model, whole("我得觉很高心。"), level=Level.CAREFUL) == [[]]


def test_a_replacement_that_agrees_with_a_swap_is_no_objection_to_it(pipeline):
    engine = ScriptedEngine({"我得觉很好。": {1: "觉"}}, {"我得觉很好。": {1: SWAPPED}})
    assert corrected(pipeline(engine), "我得觉很好。") == "我觉得很好。"


@pytest.mark.parametrize(("wrong", "right"), [("狠", "很"), ("心", "高")])
def test_a_character_right_behind_an_insertion_may_be_replaced(pipeline, wrong, right):
    before, between = f"我觉{wrong}好。", f"我觉得{wrong}好。"
    engine = ScriptedEngine({between: {3: right}}, {before: {2: MISSING}}, {f"我觉?{wrong}好。": "得"})
    model = pipeline(engine)
    assert read(model, whole(before)) == [[(2, 0, "得"), (2, 1, right)]]
    assert corrected(model, before) == f"我觉得{right}好。"


def test_what_is_locked_stays_locked_when_the_text_grows(pipeline):
    engine = ScriptedEngine(
        {"我觉得很高心门。": {5: "兴", 6: "们"}}, {"我觉很高心门。": {2: MISSING}}, {"我觉?很高心门。": "得"}
    )
    assert read(pipeline(engine), whole("我觉很高心门。", ((4, 5),))) == [[(2, 0, "得"), (5, 1, "们")]]


def test_a_part_is_read_the_same_alone_and_in_company(pipeline):
    def engine(size):
        return ScriptedEngine(
            {"我门": {1: "们"}, "我觉得很高心。": {5: "兴"}},
            {"我觉很高心。": {2: MISSING}, "在在北京": {1: EXTRA}},
            {"我觉?很高心。": "得"},
            characters_per_batch=size,
        )

    parts = [whole(text) for text in ("我门", "我觉很高心。", "书", "", "在在北京", "我觉很高心。", "我门")]
    alone = [read(pipeline(engine(1000)), part)[0] for part in parts]
    assert [len(changes) for changes in alone] == [1, 2, 0, 0, 1, 2, 1]
    for size in (1, 7, 1000):
        assert read(pipeline(engine(size)), *parts) == alone


def test_parts_that_come_again_are_read_once(pipeline):
    engine = ScriptedEngine({"我门": {1: "们"}})
    model = pipeline(engine)
    locked = whole("我门", ((1, 2),))
    parts = [whole("我门"), whole("书"), whole("我门"), locked, whole("书"), whole("我门")]
    found = read(model, *parts)
    assert engine.read == ["我门", "书", "我门"]  # the last with what is locked
    assert [len(changes) for changes in found] == [1, 0, 1, 0, 0, 1]
    assert found == [read(model, part)[0] for part in parts]


def test_a_level_without_thresholds_for_tags_asks_for_none(pipeline):
    engine = ScriptedEngine({}, {"在在北京": {1: EXTRA}})
    model = pipeline(engine, careful=Thresholds(0.5, 0.5))
    assert read(model, whole("在在北京"), level=Level.CAREFUL) == [[]]
    assert engine.least == [2.0]
    assert read(model, whole("在在北京"), level=Level.BALANCED) == [[(1, 1, "")]]


def test_what_has_no_room_for_its_insertions_keeps_its_replacements(pipeline):
    text = "我觉好。" * 3 + "我很高心"
    gaps = (2, 6, 10)
    engine = ScriptedEngine(
        {text: {15: "兴"}},
        {text: dict.fromkeys(gaps, MISSING)},
        {f"{text[:gap]}?{text[gap:]}": "得" for gap in gaps},
        longest=len(text) + 2,
    )
    assert read(pipeline(engine), whole(text)) == [[(15, 1, "兴")]]


def test_the_hash_depends_on_the_policy(pipeline):
    engine = ScriptedEngine({})
    first = pipeline(engine).model_hash
    assert pipeline(engine).model_hash == first
    assert pipeline(engine, careful=replace(THRESHOLDS, missing=0.9)).model_hash != first


def test_what_is_no_longer_used_is_given_back_at_once(pipeline):
    gc.disable()
    try:
        opened = pipeline(ScriptedEngine({"我狠高心": {1: "很", 3: "兴"}}))
        assert corrected(opened, "我狠高心") == "我很高兴"
        gone = weakref.ref(opened)
        del opened
        assert gone() is None
    finally:
        gc.enable()
