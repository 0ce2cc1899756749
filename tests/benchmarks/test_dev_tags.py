"""Tags on dev pairs: edits found, filled in, verified, and thresholds chosen."""

import numpy as np
import pytest

import dev_tags
from dev_tags import choose_thresholds, corrected, measure, read_pairs
from nmspeller.lab.data.edit_sets import EditPair
from nmspeller.runtime.policy import TAGGED
from nmspeller.text.vocabulary import Vocabulary
from readings import SentenceReading

RIGHT = "我觉得在北京很好今天天气真不错"
CERTAIN = dict.fromkeys(TAGGED, 0.5)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(RIGHT)]
    path.write_text("\n".join(tokens) + "\n", encoding="utf-8")
    return Vocabulary.from_file(path)


class KnowsOneSentence:
    """A reader that knows how RIGHT should read, and tags what one edit away from it is wrong."""

    longest = 60

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def encode(self, sentences):
        return [self.vocabulary.encode(sentence) for sentence in sentences]

    def read(self, rows):
        return [self._read(row) for row in rows]

    def _read(self, row):
        right, size = self.vocabulary.encode(RIGHT), len(row)
        tags = np.full((size + 1, 3), 0.01, np.float32)
        masks = np.flatnonzero(row == self.vocabulary.mask)
        best, likely = row.astype(np.int32), np.full(size, 0.9, np.float32)
        without = row[row != self.vocabulary.mask]
        gap = next(
            (n for n, (a, b) in enumerate(zip(without, right, strict=False)) if a != b),
            min(len(without), len(right)),
        )
        lost = len(right) - len(without)
        if lost < 0:
            tags[gap : gap - lost, 0] = 0.95
        elif lost > len(masks):
            tags[gap + len(masks), 1] = 0.9
        for place, mask in enumerate(masks):
            if place < lost:
                best[mask] = right[gap + place]
            else:
                tags[mask, 0] = 0.9
        return SentenceReading(row, np.zeros(size, np.float32), best, likely, tags)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("我觉得在在北京很好今天天气真不错", "extra"),
        ("我觉得在北京很好今天天气真不错不错", "extra"),
        ("我觉得在北京很今好今天天气真不错", "extra"),
        ("我觉在北京很好今天天气真不错", "missing"),
        ("我觉得在很好今天天气真不错", "missing"),
        ("我觉得在北京很好今天天气真不", "missing"),
    ],
)
def test_sentences_come_out_right(vocabulary, source, kind):
    read = read_pairs(KnowsOneSentence(vocabulary), [EditPair(source, RIGHT, kind)])
    assert corrected(read, CERTAIN, confidence=2.0) == [RIGHT]
    assert all(edit.right and edit.possible for edit in read.edits)
    assert measure(read, CERTAIN, 2.0)[kind] == 100


def test_an_edit_after_which_the_sentence_is_still_tagged_is_dropped(vocabulary):
    reader = KnowsOneSentence(vocabulary)
    read = read_pairs(reader, [EditPair("我觉得在北京很好今天天", RIGHT, "missing")])
    assert read.edits
    assert corrected(read, CERTAIN, 2.0) == ["我觉得在北京很好今天天"]


def test_clean_sentences_stay(vocabulary):
    read = read_pairs(KnowsOneSentence(vocabulary), [EditPair(RIGHT, RIGHT, "clean")])
    assert measure(read, CERTAIN, 2.0) == {"changed": 0, "changed_right": 0}


def test_thresholds_keep_wrong_edits_out(vocabulary):
    edits = [
        dev_tags.PossibleEdit(number, "foreign", 0, 1, "", score, still=0.0, right=right)
        for number, (score, right) in enumerate([(0.9, True), (0.8, True), (0.7, True), (0.3, False)])
    ]
    pairs = [EditPair("啊我", "我", "extra")] * 3 + [EditPair("我在", "我在在", "missing")]
    read = dev_tags.PairReadings(pairs, edits, [[] for _ in pairs])
    clean = dev_tags.PairReadings([EditPair("我", "我", "clean")] * 10, [], [[] for _ in range(10)])
    chosen = choose_thresholds(read, clean, confidence=2.0)
    assert 0.3 < chosen["foreign"] <= 0.7
    alarm = dev_tags.PossibleEdit(0, "foreign", 0, 1, "", 0.75, still=0.0)
    loud = dev_tags.PairReadings(clean.pairs, [alarm], clean.replaced)
    assert choose_thresholds(read, loud, confidence=2.0)["foreign"] > 0.75


def test_neighbours_that_change_places_are_one_edit(vocabulary):
    class Unsure(KnowsOneSentence):
        def _read(self, row):
            reading, right = super()._read(row), self.vocabulary.encode(RIGHT)
            reading.tags[:-2, 2] = 0.3 * ((row[:-1] == right[1:]) & (row[1:] == right[:-1]))
            return reading

    read = read_pairs(Unsure(vocabulary), [EditPair("我得觉在北京很好今天天气真不错", RIGHT, "swap")])
    [edit] = read.edits
    assert (edit.kind, edit.start, edit.text) == ("swapped", 1, "觉得")
    assert edit.right
    assert corrected(read, {**CERTAIN, "swapped": 0.2}, confidence=2.0) == [RIGHT]
    assert corrected(read, CERTAIN, confidence=2.0) == [read.pairs[0].source]
