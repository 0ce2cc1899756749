"""Noise of missing, extra, swapped and unlike characters: labels and tags agree with what was done."""

from collections import Counter

import numpy as np
import pytest

from nmspeller.lab.data.alignment import EXTRA, MISSING, align
from nmspeller.lab.data.edit_noise import KINDS, EditNoise, Line
from nmspeller.lab.data.neighbours import Neighbours, count_neighbours
from nmspeller.text.vocabulary import Vocabulary

TEXT = "今天下午我们在学校门口等了很久，可是老师一直没有出来，大家只好自己回家写作业。"
WORDS = [
    "今天",
    "下午",
    "我们",
    "学校",
    "门口",
    "很久",
    "可是",
    "老师",
    "一直",
    "没有",
    "出来",
    "大家",
    "自己",
    "回家",
]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(TEXT)]
    path.write_text("\n".join(tokens) + "\n", encoding="utf-8")
    return Vocabulary.from_file(path)


@pytest.fixture(scope="module")
def neighbours(vocabulary):
    words = [(word, 10) for word in WORDS] + [("在", 50), ("了", 50), ("等", 20)]
    return count_neighbours(vocabulary.encode(TEXT * 3).astype(np.uint16), vocabulary, words)


@pytest.fixture(scope="module")
def noise(neighbours, vocabulary):
    return EditNoise(neighbours, vocabulary, limit=60)


def line_of(vocabulary):
    ids = vocabulary.encode(TEXT).tolist()
    return Line(list(ids), list(ids))


def shares(kind):
    return np.cumsum([float(each == kind) for each in KINDS])


def text(vocabulary, ids):
    return "".join(vocabulary.tokens[number] for number in ids)


def made(noise, vocabulary, kind, count=400):
    """Lines with errors of one kind, and the kind itself as `align` sees it."""
    random = np.random.default_rng(5)
    for _ in range(count):
        line = line_of(vocabulary)
        noise.edit(line, shares(kind), random)
        yield line


@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_tags_keep_the_length_of_what_is_written(noise, vocabulary, kind):
    for line in made(noise, vocabulary, kind):
        assert len(line.ids) == len(line.labels) == len(line.tags) - 1 <= 60


@pytest.mark.parametrize("kind", ["missing", "extra"])
def test_tags_are_those_of_the_alignment_with_the_right_sentence(noise, vocabulary, kind):
    agree = total = 0
    for line in made(noise, vocabulary, kind):
        bit = MISSING if kind == "missing" else EXTRA
        if sum(bool(tag & bit) for tag in line.tags) == 1:  # one error of one character has one reading
            total += 1
            labels, tags = align(text(vocabulary, line.ids), TEXT)
            agree += tags == line.tags and labels == text(vocabulary, line.labels)
    assert total > 100
    assert agree / total > 0.97  # two of them may meet


def test_extra_characters_are_their_own_labels(noise, vocabulary):
    for line in made(noise, vocabulary, "extra"):
        for number, label, tag in zip(line.ids, line.labels, line.tags, strict=False):
            assert number == label or not tag & EXTRA
        kept = [label for label, tag in zip(line.labels, line.tags, strict=False) if not tag & EXTRA]
        assert text(vocabulary, kept) == TEXT


def test_swapped_characters_are_substitutions(noise, vocabulary):
    changed = 0
    for line in made(noise, vocabulary, "swapped"):
        assert text(vocabulary, line.labels) == TEXT
        assert sorted(line.ids) == sorted(line.labels)
        assert not any(line.tags)
        changed += line.ids != line.labels
    assert changed > 350


def test_shares_are_those_of_native_slips(noise, vocabulary):
    repeated = nothing = 0
    for line in made(noise, vocabulary, "extra", 1500):
        extra = [place for place, tag in enumerate(line.tags) if tag & EXTRA]
        if not extra or extra != list(range(extra[0], extra[0] + len(extra))):
            nothing += 1
            continue
        size = len(extra)
        repeated += line.ids[extra[0] - size : extra[0]] == line.ids[extra[0] : extra[0] + size]
    assert 0.36 < repeated / (1500 - nothing) < 0.66  # so short a text has few foreign characters
    gone = Counter(len(TEXT) - len(line.ids) for line in made(noise, vocabulary, "missing", 1500))
    assert 0.45 < gone[1] / 1500 < 0.65  # one error of one character; a third of the rows has two


def test_last_characters_of_words_are_missing_more_often(noise, vocabulary):
    last = first = 0
    for line in made(noise, vocabulary, "missing", 1000):
        lost = Counter(TEXT) - Counter(text(vocabulary, line.ids))
        last += lost["师"]
        first += lost["老"]
    assert last > first > 0


def test_unlike_characters_replace_one_or_two(noise, vocabulary):
    random, counts = np.random.default_rng(0), Counter()
    for _ in range(500):
        line = line_of(vocabulary)
        noise.make_unlike(line, random)
        assert text(vocabulary, line.labels) == TEXT
        counts[sum(a != b for a, b in zip(line.ids, line.labels, strict=True))] += 1
    assert set(counts) <= {0, 1, 2}
    assert 0.25 < counts[2] / 500 < 0.45


def test_masks_in_gaps_are_tagged(noise, vocabulary):
    random, kinds = np.random.default_rng(0), Counter()
    for _ in range(500):
        line = line_of(vocabulary)
        noise.add_masks(line, random)
        masks = [place for place, number in enumerate(line.ids) if number == vocabulary.mask]
        extra = [place for place, tag in enumerate(line.tags) if tag & EXTRA]
        missing = [place for place, tag in enumerate(line.tags) if tag & MISSING]
        assert set(extra) <= set(masks)
        assert all(line.labels[place] == vocabulary.unk for place in extra)
        kinds[len(masks), len(extra), len(missing)] += 1
    assert set(kinds) == {(0, 0, 0), (1, 1, 0), (2, 1, 0), (1, 0, 1)}


def test_short_rows_are_left_alone(noise, vocabulary):
    random = np.random.default_rng(0)
    for size in range(4):
        ids = vocabulary.encode(TEXT[:size]).tolist()
        line = Line(list(ids), list(ids))
        noise.make_unlike(line, random)
        noise.edit(line, shares("missing"), random)
        assert len(line.labels) == size


def test_neighbours_are_counted(neighbours, vocabulary, tmp_path):
    school, gate = (vocabulary.id(character) for character in "校门")
    assert neighbours.after[school, 0] == gate
    assert neighbours.before[gate, 0] == school
    assert neighbours.begin_words(vocabulary.encode("在学校门口")).tolist() == [False, True, False, True]
    assert neighbours.alone[vocabulary.id("在")] == 1
    neighbours.save(tmp_path / "neighbours.npz")
    again = Neighbours.load(tmp_path / "neighbours.npz")
    assert all((value == vars(again)[name]).all() for name, value in vars(neighbours).items())


def test_verbs_that_may_be_said_twice_are_not_repeated(tmp_path):
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"先研究下"]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    vocabulary = Vocabulary.from_file(tmp_path / "vocab.txt")
    ids = vocabulary.encode("先研究下")
    noise = EditNoise(
        count_neighbours(ids.astype(np.uint16), vocabulary, [("研究", 9)]), vocabulary, limit=60
    )
    random, found = np.random.default_rng(0), Counter()
    for _ in range(300):
        line = Line(ids.tolist(), ids.tolist())
        noise.edit(line, shares("extra"), random)
        found[text(vocabulary, line.ids)] += 1
    assert found["先研研究下"]
    assert not any("研究研究" in each for each in found)
