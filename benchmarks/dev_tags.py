"""Missing, extra and swapped characters on dev pairs: which sentences come out wholly right.

As a speller decodes them: what is extra is deleted; a gap is filled in by a second reading with one [MASK] in
it, or two; and the sentence is read again as corrected, where nothing around the edit may be tagged any more.
Each possible edit is read by itself once, so that any thresholds can be judged afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.alignment import brings_nearer
from nmspeller.lab.data.edit_sets import EditPair
from nmspeller.lab.export.tag_proposals import (
    BETA,
    MOST_CLEAN,
    NEVER,
    TARGETS,
    FoundEdits,
    ScoredEdit,
    f_score,
)
from nmspeller.runtime.policy import Level
from readings import Reader, SentenceReading

_LEAST = 0.1  # the least probability of a tag that is worth a second reading
_HOLDS = 0.5  # an edit is dropped where a tag beside it is still as probable as this afterwards
_LEAST_FILLED = 0.3


@dataclass(frozen=True)
class PossibleEdit:
    """A possible edit: characters `start` to `stop` of a sentence become `text`.

    score: how sure the model is of it; filled: the probability of what is filled in; still: the largest
    probability of a tag beside it afterwards. right: it brings the sentence nearer to its target.
    """

    sentence: int
    kind: str
    start: int
    stop: int
    text: str
    score: float
    filled: float = 1.0
    still: float = 1.0
    right: bool = False

    @property
    def possible(self) -> bool:
        return self.still < _HOLDS and self.filled >= _LEAST_FILLED


@dataclass(frozen=True)
class PairReadings:
    """Dev pairs with all that could be edited in them."""

    pairs: list[EditPair]
    edits: list[PossibleEdit]
    replaced: list[list[tuple[int, str, float]]]  # of each sentence: place, character, confidence


def read_pairs(reader: Reader, pairs: Sequence[EditPair]) -> PairReadings:
    """Everything that the model may edit in these pairs."""
    pairs = [pair for pair in pairs if len(pair.source) <= reader.longest - 4]
    rows = reader.encode([pair.source for pair in pairs])
    readings = reader.read(rows)
    tokens = reader.vocabulary.tokens
    edits = _insertions(reader, rows, readings)
    for number, (pair, each) in enumerate(zip(pairs, readings, strict=True)):
        edits += [*_deletions(number, pair, each), *_exchanges(number, pair, each)]
    replaced = [
        [
            (int(place), tokens[each.other[place]], float(each.confidence[place]))
            for place in np.flatnonzero(each.confidence > 0.02)
        ]
        for each in readings
    ]
    return PairReadings(list(pairs), _verified(reader, pairs, edits), replaced)


def _deletions(number: int, pair: EditPair, reading: SentenceReading) -> Iterable[PossibleEdit]:
    """Runs of characters that may be extra."""
    likely = np.concatenate((reading.tags[:-1, 0] >= _LEAST, [False]))
    start = 0
    for place, is_likely in enumerate(likely.tolist()):
        if not is_likely:
            if place > start:
                run, size = pair.source[start:place], place - start
                around = pair.source[max(start - size, 0) : start], pair.source[place : place + size]
                kind = "repeated" if run in around else "foreign"
                score = float(reading.tags[start:place, 0].min())
                yield PossibleEdit(number, kind, start, place, "", score)
            start = place + 1


def _exchanges(number: int, pair: EditPair, reading: SentenceReading) -> Iterable[PossibleEdit]:
    """Neighbours that may have to change places."""
    for place in np.flatnonzero(reading.tags[:-2, 2] >= _LEAST).tolist():
        both = pair.source[place : place + 2]
        if both != both[::-1]:
            score = float(reading.tags[place, 2])
            yield PossibleEdit(number, "swapped", place, place + 2, both[::-1], score)


def _insertions(
    reader: Reader, rows: Sequence[NDArray[np.int32]], readings: Sequence[SentenceReading]
) -> list[PossibleEdit]:
    """What may be missing, filled in by a reading with one [MASK] or two."""
    places = [
        (number, int(place))
        for number, each in enumerate(readings)
        for place in np.flatnonzero(each.tags[:, 1] >= _LEAST)
    ]
    mask, tokens = reader.vocabulary.mask, reader.vocabulary.tokens
    one, two = (
        reader.read([np.insert(rows[number], place, [mask] * size) for number, place in places])
        for size in (1, 2)
    )
    edits = []
    for (number, place), single, double in zip(places, one, two, strict=True):
        wants_two = single.tags[place + 1, 1] > double.tags[place + 1, 0]
        each, size = (double, 2) if wants_two else (single, 1)
        here = slice(place, place + size)
        text = "".join(tokens[number_of] for number_of in each.best[here])
        filled = float(np.prod(each.likely[here]) ** (1 / size))
        needed = 1 - float(each.tags[here, 0].max())
        score = float(readings[number].tags[place, 1]) * needed * filled**0.5
        edits.append(PossibleEdit(number, "missing", place, place, text, score, filled))
    return edits


def _verified(reader: Reader, pairs: Sequence[EditPair], edits: Sequence[PossibleEdit]) -> list[PossibleEdit]:
    """The edits with what the model says of the sentence after each, and whether each is right."""
    texts = [_apply(pairs[edit.sentence].source, [edit]) for edit in edits]
    verified = []
    for edit, text, reading in zip(edits, texts, reader.read(reader.encode(texts)), strict=True):
        end = edit.start + len(edit.text)
        still = max(
            float(reading.tags[max(edit.start - 1, 0) : end + 1, ::2].max()),
            float(reading.tags[max(edit.start - 1, 0) : end + 2, 1].max()),
        )
        pair = pairs[edit.sentence]
        right = brings_nearer(pair.source, text, pair.target)
        verified.append(replace(edit, still=still, right=right))
    return verified


def _apply(source: str, edits: Iterable[PossibleEdit], replaced: Iterable[tuple[int, str]] = ()) -> str:
    """The sentence with some edits and replacements; next to an edit nothing is replaced."""
    characters = list(source)
    edits = sorted(edits, key=lambda edit: edit.start)
    for place, character in replaced:
        if not any(edit.start - 1 <= place <= edit.stop for edit in edits):
            characters[place] = character
    for edit in reversed(edits):
        characters[edit.start : edit.stop] = edit.text
    return "".join(characters)


def corrected(read: PairReadings, thresholds: Mapping[str, float], confidence: float) -> list[str]:
    """Every sentence as corrected with thresholds of the kinds, and one of replacements; above 1: none."""
    accepted: list[list[PossibleEdit]] = [[] for _ in read.pairs]
    for edit in read.edits:
        if edit.possible and edit.score >= thresholds[edit.kind]:
            accepted[edit.sentence].append(edit)
    return [
        _apply(
            pair.source,
            edits,
            [(place, character) for place, character, sure in replaced if sure >= confidence],
        )
        for pair, edits, replaced in zip(read.pairs, accepted, read.replaced, strict=True)
    ]


def choose_thresholds(read: PairReadings, clean: PairReadings, confidence: float) -> dict[str, float]:
    """Those with the best F0.5, as in `tag_thresholds`."""
    errors = Counter(pair.kind for pair in read.pairs)
    found = FoundEdits(_scored(read), _scored(clean), len(clean.pairs), errors)
    return max(
        reversed(found.proposals(MOST_CLEAN[Level.BALANCED])),
        key=lambda proposal: f_score(measure(read, proposal, confidence), BETA[Level.BALANCED]),
    )


def _scored(read: PairReadings) -> list[ScoredEdit]:
    return [
        ScoredEdit(edit.sentence, edit.kind, edit.score, edit.right) for edit in read.edits if edit.possible
    ]


def measure(read: PairReadings, thresholds: Mapping[str, float], confidence: float) -> dict[str, float]:
    """In percent: sentences of each kind wholly right, sentences changed, and of these the right ones."""
    results = corrected(read, thresholds, confidence)
    changed = [text != pair.source for text, pair in zip(results, read.pairs, strict=True)]
    right = [text == pair.target for text, pair in zip(results, read.pairs, strict=True)]
    figures: dict[str, float] = {}
    for kind in dict.fromkeys(pair.kind for pair in read.pairs):
        own = [is_right for is_right, pair in zip(right, read.pairs, strict=True) if pair.kind == kind]
        if kind != "clean":
            figures[kind] = 100 * sum(own) / len(own)
    figures["changed"] = 100 * sum(changed) / max(len(changed), 1)
    both = sum(a and b for a, b in zip(changed, right, strict=True))
    figures["changed_right"] = 100 * both / max(sum(changed), 1)
    return {name: round(value, 2) for name, value in figures.items()}


def judge(
    reader: Reader, dev: Mapping[str, Sequence[EditPair]], clean: Sequence[str], confidence: float
) -> dict[str, Any]:
    """Thresholds chosen on TARGETS, and with them the figures of every dev set and of clean sentences."""
    sets = {name: read_pairs(reader, pairs) for name, pairs in dev.items()}
    quiet = read_pairs(reader, [EditPair(text, text, "clean") for text in clean])
    target = read_pairs(reader, [pair for name in TARGETS for pair in dev[name]])
    thresholds = choose_thresholds(target, quiet, confidence)
    return {
        "thresholds": {**thresholds, "confidence": confidence},
        "target": measure(target, thresholds, confidence),
        "target_by_tags": measure(target, thresholds, NEVER),
        "sets": {name: measure(read, thresholds, confidence) for name, read in sets.items()},
        "clean_by_tags": measure(quiet, thresholds, NEVER)["changed"],
        "clean_by_all": measure(quiet, thresholds, confidence)["changed"],
        "kinds": {
            kind: sum(pair.kind == kind for pair in target.pairs) for kind in ("extra", "missing", "swap")
        },
        "edits": [asdict(edit) for edit in target.edits],
        "clean_edits": [asdict(edit) for edit in quiet.edits],
    }
