"""Missing, extra and swapped characters: from tags to changes, and what becomes of their neighbours."""

from dataclasses import replace

import numpy as np
import pytest

from nmspeller.runtime.engine import Scores, TagScores
from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.policy import Thresholds
from nmspeller.runtime.reading import Part
from nmspeller.runtime.tag_decoder import TagDecoder
from nmspeller.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(
    [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"我觉得很好在北京的书。这本abc门们看完了研究不约而同",
        "們",
    ]
)
MASK = VOCABULARY.mask
THRESHOLDS = Thresholds(0.5, 0.5, repeated=0.4, foreign=0.7, missing=0.5, swapped=0.5)


class ScriptedEngine:
    """Knows by heart what is extra or missing where, and what belongs into a gap."""

    longest, characters_per_batch = 100, 1000

    def __init__(self, tags, gaps=()):
        self.tags = dict(tags)  # text → {place: (extra, missing, swapped)}
        self.gaps = dict(gaps)  # text with ? for [MASK] → the characters at the masks, with probabilities
        self.read = []

    def scores(self, ids, starts, stops, most=np.inf, least=np.inf, few=False):
        for window, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            row = ids[start:stop]
            text = "".join("?" if number == MASK else VOCABULARY.tokens[number] for number in row)
            self.read.append(text)
            best = np.repeat(row[:, None], 5, axis=1).astype(np.int32)
            probabilities = np.tile(np.array([0.99, 0.004, 0.003, 0.002, 0.001], np.float32), (len(row), 1))
            masks = np.flatnonzero(row == MASK)
            for place, candidates in zip(masks, self.gaps.get(text, [{}] * len(masks)), strict=True):
                for column, (character, probability) in enumerate(candidates.items()):
                    best[place, column] = VOCABULARY.id(character)
                    probabilities[place, column] = probability
            places = dict.fromkeys(range(len(row) + 1), (0.0, 0.0, 0.0)) if least <= 0 else {}
            places |= self.tags.get(text, {})
            tags = [(window, place, *scores) for place, scores in places.items() if max(scores) >= least]
            columns = [*zip(*tags, strict=True)] or [[]] * 5
            numbers = [np.array(column, np.intp) for column in columns[:2]]
            floats = [np.array(column, np.float32) for column in columns[2:]]
            positions = np.arange(start, stop)
            yield Scores(
                np.full(len(row), window), positions, best, probabilities, probabilities[:, 0],
                TagScores(*numbers, *floats),
            )  # fmt: skip


def find(engine, *parts, thresholds=THRESHOLDS):
    batch = PartBatch(parts, VOCABULARY)
    decoder = TagDecoder(
        engine, VOCABULARY, VOCABULARY.is_hanzi() & (np.arange(len(VOCABULARY)) != VOCABULARY.id("們"))
    )
    tags = []
    for scores in engine.scores(
        batch.ids, batch.windows.starts, batch.windows.stops, np.inf, thresholds.lowest_tag
    ):
        first = batch.windows.starts[scores.tags.windows]
        tags.append(scores.tags._replace(windows=first, places=first + scores.tags.places))
    engine.read.clear()
    found = decoder.find(batch, TagScores.join(tags), thresholds)
    return {
        number: [(one.offset, one.length, one.target) for one in changes] for number, changes in found.items()
    }


def whole(text, locked=()):
    return Part(text, 0, len(text), locked)


def test_a_gap_is_filled_in_by_a_reading_with_a_mask():
    engine = ScriptedEngine({"我觉很好": {2: (0.0, 0.9, 0.0)}}, {"我觉?很好": [{"得": 0.9, "的": 0.05}]})
    assert find(engine, whole("我觉很好")) == {0: [(2, 0, "得")]}
    assert engine.read == ["我觉?很好", "我觉得很好"]


def test_two_characters_are_filled_in_where_one_is_not_enough():
    tags = {"这本好": {2: (0.0, 0.9, 0.0)}, "这本?好": {3: (0.0, 0.8, 0.0)}, "这本??好": {4: (0.1, 0.0, 0.0)}}
    engine = ScriptedEngine(tags, {"这本?好": [{"书": 0.9}], "这本??好": [{"书": 0.9}, {"很": 0.8}]})
    assert find(engine, whole("这本好")) == {0: [(2, 0, "书很")]}
    assert engine.read == ["这本?好", "这本??好", "这本书很好"]


def test_something_may_be_missing_at_the_end_of_a_part_and_the_next_part_is_not_meant():
    engine = ScriptedEngine({"看完": {2: (0.0, 0.9, 0.0)}}, {"看完?": [{"了": 0.9}]})
    assert find(engine, whole("我看"), whole("看完"), whole("很好")) == {1: [(2, 0, "了")]}


@pytest.mark.parametrize(("probability", "found"), [(0.29, {}), (0.9, {0: [(2, 0, "得")]})])
def test_what_is_filled_in_must_be_probable(probability, found):
    engine = ScriptedEngine({"我觉很好": {2: (0.0, 1.0, 0.0)}}, {"我觉?很好": [{"得": probability}]})
    assert find(engine, whole("我觉很好")) == found


def test_only_simplified_characters_are_filled_in():
    engine = ScriptedEngine(
        {"我很好": {1: (0.0, 1.0, 0.0)}}, {"我?很好": [{"們": 0.6, "a": 0.2, "们": 0.35}]}
    )
    assert find(engine, whole("我很好"))[0] == [(1, 0, "们")]


@pytest.mark.parametrize(
    ("text", "extra", "found"),
    [
        ("在在北京", {1: 0.5}, {0: [(1, 1, "")]}),  # repeats the character before
        ("在在北京", {0: 0.5}, {0: [(0, 1, "")]}),  # or the one behind
        ("我们我们看", {2: 0.5, 3: 0.6}, {0: [(2, 2, "")]}),  # or a word
        ("在好北京", {1: 0.5}, {}),  # anything else needs more
        ("在好北京", {1: 0.8}, {0: [(1, 1, "")]}),
        ("我研究研究", {3: 0.9, 4: 0.9}, {}),  # a verb that may be said twice
        ("在在北京", {1: 0.3}, {}),
        ("在在北京", {1: 0.9, 2: 0.2}, {0: [(1, 1, "")]}),  # a weak tag beside a strong one is none
    ],
)
def test_a_repetition_is_deleted_more_readily_than_anything_else(text, extra, found):
    engine = ScriptedEngine({text: {place: (score, 0.0, 0.0) for place, score in extra.items()}})
    assert find(engine, whole(text)) == found


def test_what_is_locked_and_what_is_no_hanzi_is_neither_shortened_nor_lengthened():
    tags = {"我们们看abc书": {2: (0.9, 0.0, 0.0), 3: (0.0, 0.9, 0.0), 5: (0.9, 0.9, 0.0), 6: (0.0, 0.9, 0.0)}}
    engine = ScriptedEngine(tags, {"我们们看a?bc书": [{"书": 0.9}], "我们们看ab?c书": [{"书": 0.9}]})
    assert find(engine, whole("我们们看abc书", locked=((0, 3), (4, 7)))) == {}


def test_an_edit_that_leaves_a_tag_beside_it_is_dropped():
    engine = ScriptedEngine({"在在北京": {1: (0.9, 0.0, 0.0)}, "在北京": {0: (0.6, 0.0, 0.0)}})
    assert find(engine, whole("在在北京")) == {}


@pytest.mark.parametrize(
    ("text", "locked", "found"),
    [
        ("我得觉很好", (), {0: [(1, 2, "觉得")]}),
        ("我得觉很好", ((2, 3),), {}),
        ("我得a很好", (), {}),
        ("我得得很好", (), {}),
        ("我得", (), {}),  # there is nothing behind it
    ],
)
def test_neighbours_change_places_that_differ_and_may_change(text, locked, found):
    engine = ScriptedEngine({text: {1: (0.0, 0.0, 0.9)}})
    assert find(engine, whole(text, locked)) == found
    assert engine.read == (["我觉得很好"] if found else [])


def test_a_swap_after_which_the_order_still_seems_wrong_is_dropped():
    engine = ScriptedEngine({"我得觉很好": {1: (0.0, 0.0, 0.9)}, "我觉得很好": {2: (0.0, 0.0, 0.6)}})
    assert find(engine, whole("我得觉很好")) == {}


@pytest.mark.parametrize(("extra", "found"), [(0.99, (2, 1, "")), (0.75, (2, 0, "得"))])
@pytest.mark.parametrize("gap", [2, 3])
def test_of_an_insertion_and_a_deletion_that_touch_the_more_confident_is_made(extra, found, gap):
    tags = {2: (extra, 0.0, 0.0)} | ({3: (0.0, 0.9, 0.0)} if gap == 3 else {2: (extra, 0.9, 0.0)})
    masked = "我觉?好在" if gap == 2 else "我觉好?在"
    engine = ScriptedEngine({"我觉好在": tags}, {masked: [{"得": 0.99}]})
    assert find(engine, whole("我觉好在")) == {0: [found if found[1] else (gap, 0, "得")]}


def test_without_thresholds_for_tags_nothing_is_read_again():
    engine = ScriptedEngine({"在在北京": {1: (0.9, 0.0, 0.0)}})
    assert find(engine, whole("在在北京"), thresholds=Thresholds(0.5, 0.5, 0.0)) == {}
    assert engine.read == []


@pytest.mark.parametrize(
    ("text", "tags", "found"),
    [
        ("我不约同看", {4: (0.0, 0.5, 0.0)}, {0: [(3, 0, "而")]}),  # the tag is beside the gap
        ("我不约同看", {3: (0.0, 0.3, 0.0)}, {}),  # too weak a tag
        ("我不约很看", {3: (0.0, 0.5, 0.0)}, {}),  # no idiom comes of it
        ("我不而约同看", {2: (0.0, 0.0, 0.3)}, {0: [(2, 2, "约而")]}),
        ("我不而约同看", {2: (0.0, 0.0, 0.15)}, {}),
        ("我不而约很看", {2: (0.0, 0.0, 0.3)}, {}),
    ],
)
def test_where_an_idiom_comes_of_it_a_weaker_tag_is_enough(text, tags, found):
    thresholds = replace(THRESHOLDS, missing=0.9, swapped=0.9)
    assert find(ScriptedEngine({text: tags}), whole(text), thresholds=thresholds) == found


def test_an_idiom_is_completed_with_no_more_than_one_reading():
    engine = ScriptedEngine({"我不约同看": {3: (0.0, 0.5, 0.0), 4: (0.0, 0.6, 0.0)}})
    assert find(engine, whole("我不约同看"), thresholds=replace(THRESHOLDS, missing=0.9))
    assert engine.read == ["我不约而同看"]


def test_an_idiom_is_not_completed_where_something_is_still_wrong_then():
    tags = {"我不约同看": {3: (0.0, 0.5, 0.0)}, "我不约而同看": {3: (0.6, 0.0, 0.0)}}
    assert find(ScriptedEngine(tags), whole("我不约同看")) == {}


def test_a_locked_idiom_is_not_completed():
    engine = ScriptedEngine({"我不约同看": {3: (0.0, 0.5, 0.0)}})
    assert find(engine, whole("我不约同看", locked=((1, 4),))) == {}


def test_kinds_that_are_not_wanted_complete_no_idiom():
    engine = ScriptedEngine({"我不约同看": {3: (0.0, 0.9, 0.0)}})
    assert find(engine, whole("我不约同看"), thresholds=replace(THRESHOLDS, missing=2.0)) == {}
