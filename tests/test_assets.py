"""The sentences written for this project: right ones that look odd, and slips of native writers."""

from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "tests/assets"
TRAINING = ROOT / "src/nmspeller/lab/data/clean_sentences"
KINDS = ["names", "slang", "dialect", "numerals", "classical", "terms"]


def lines(path):
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert "\r" not in text
    return text[:-1].split("\n")


def rows(kind):
    return [tuple(line.split("\t")) for line in lines(ASSETS / "clean" / f"{kind}.tsv")]


def training(kind):
    return lines(TRAINING / f"{kind}.txt")


@pytest.mark.parametrize("kind", KINDS)
def test_clean_rows_are_well_formed(kind):
    table = rows(kind)
    assert len(table) >= 200
    assert {len(row) for row in table} == {3}
    for number, (split, sentence, term) in enumerate(table):
        assert split == ("dev", "test")[number % 2]
        assert 8 <= len(sentence) <= 45, sentence
        assert sentence == sentence.strip()
        assert term
        assert term == term.strip()
        assert term in sentence


@pytest.mark.parametrize("kind", KINDS)
def test_training_sentences_are_well_formed(kind):
    sentences = training(kind)
    assert len(sentences) >= 300
    assert len(set(sentences)) == len(sentences)
    for sentence in sentences:
        assert sentence == sentence.strip()
        assert "\t" not in sentence
        assert 5 <= len(sentence) <= 50, sentence


@pytest.mark.parametrize("kind", KINDS)
def test_every_term_is_met_in_one_sentence_only(kind):
    table = rows(kind)
    terms = [term for _, _, term in table]
    assert len(set(terms)) == len(terms)
    for term in terms:
        assert sum(term in sentence for _, sentence, _ in table) == 1, term


@pytest.mark.parametrize("kind", KINDS)
def test_no_term_is_trained_on(kind):
    seen = "\n".join(chain.from_iterable(map(training, KINDS)))
    assert [term for _, _, term in rows(kind) if term in seen] == []


def test_no_sentence_is_written_twice():
    sentences = [sentence for kind in KINDS for sentence in [row[1] for row in rows(kind)] + training(kind)]
    assert len(set(sentences)) == len(sentences)


def test_native_slips_have_one_or_two_wrong_places():
    pairs = [line.split("\t") for line in lines(ASSETS / "native_slips.tsv")]
    assert len(pairs) >= 390
    assert len({source for source, _ in pairs}) == len(pairs)
    unequal = [pair for pair in pairs if len(pair[0]) != len(pair[1])]
    assert len(unequal) >= 120
    for source, target in pairs:
        assert 1 <= distance(source, target) <= 2, source


def distance(source, target):
    """How many characters must be replaced, inserted or deleted."""
    row = range(len(target) + 1)
    for number, character in enumerate(source, start=1):
        before, row = row, [number]
        for column, other in enumerate(target, start=1):
            row.append(min(before[column] + 1, row[-1] + 1, before[column - 1] + (character != other)))
    return row[-1]
