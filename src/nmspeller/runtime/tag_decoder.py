"""Decoding of tags: which characters are extra, and what is missing where.

The model tags characters that are extra, and places before which something is missing. A gap is filled in by
another reading with [MASK] in it, one or two. Then the part is read as corrected: an edit beside which the
model still finds a character extra or missing is dropped.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.decoder import ScoringEngine
from nmspeller.runtime.edits import Change
from nmspeller.runtime.engine import Floats, Ids, TagScores
from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.policy import Thresholds
from nmspeller.text.vocabulary import Vocabulary

# An edit is dropped where a tag beside it is still as probable as this afterwards.
_HOLDS = 0.5
_LEAST_FILLED = 0.3


class _Row(NamedTuple):
    """What the model says of a row of n characters."""

    best: Ids  # (n, 5)
    probabilities: Floats  # (n, 5)
    tags: Floats  # (n + 1, 2): extra, missing before


@dataclass(frozen=True)
class TagDecoder:
    """Turns tags into changes of parts; `targets` (vocabulary,) marks the ids that may be filled in."""

    engine: ScoringEngine
    vocabulary: Vocabulary
    targets: NDArray[np.bool_]

    def find(self, batch: PartBatch, tags: TagScores, thresholds: Thresholds) -> dict[int, list[Change]]:
        """The insertions and deletions in each part that has any, by the part's number, in order.

        tags: as `Decoder.find` gives them.
        """
        order = np.lexsort((tags.places, tags.windows))
        tags = TagScores._make(values[order] for values in tags)
        # The end of a window is the place where the next part starts: the window's start tells them apart.
        parts = np.searchsorted(batch.offsets, tags.windows, side="right") - 1
        possible: list[tuple[int, Change]] = []
        for number, group in groupby(range(len(parts)), lambda index: int(parts[index])):
            chosen = list(group)
            own = TagScores._make(values[chosen] for values in tags)
            here = own._replace(places=own.places - batch.offsets[number])
            possible += [(number, change) for change in self._deletions(batch, number, here, thresholds)]
            possible += [(number, gap) for gap in self._gaps(batch, number, here, thresholds)]
        filled = self._filled(batch, possible)
        accepted = [
            (number, change)
            for number, change in filled
            if change.target == "" or change.confidence >= thresholds.missing
        ]
        verified: dict[int, list[Change]] = {}
        for number, change in self._verified(batch, accepted):
            verified.setdefault(number, []).append(change)
        return {number: _apart(changes) for number, changes in verified.items()}

    def _deletions(
        self, batch: PartBatch, number: int, tags: TagScores, thresholds: Thresholds
    ) -> Iterator[Change]:
        """Runs of characters that the model finds extra; one that repeats its neighbours needs less."""
        part, offset = batch.parts[number], int(batch.offsets[number])
        hanzi = self.vocabulary.is_hanzi()
        lowest = min(thresholds.repeated, thresholds.foreign)
        likely = {
            int(place): float(extra)
            for place, extra in zip(tags.places, tags.extra, strict=True)
            if extra >= lowest
            and place < len(part.text)
            and batch.allowed[offset + place]
            and hanzi[batch.ids[offset + place]]
        }
        for start, stop in _runs(sorted(likely)):
            size, run = stop - start, part.text[start:stop]
            repeats = run in (part.text[max(0, start - size) : start], part.text[stop : stop + size])
            score = min(likely[place] for place in range(start, stop))
            if score >= (thresholds.repeated if repeats else thresholds.foreign):
                yield Change(start, "", score, score, length=size)

    def _gaps(
        self, batch: PartBatch, number: int, tags: TagScores, thresholds: Thresholds
    ) -> Iterator[Change]:
        """Places where something is missing, not inside anything that must not change; not yet filled in."""
        part = batch.parts[number]
        for place, missing in zip(tags.places.tolist(), tags.missing.tolist(), strict=True):
            inside = any(start < place < stop for start, stop in part.locked)
            if missing >= thresholds.missing and not inside:
                yield Change(place, "?", missing, missing, length=0)

    def _filled(self, batch: PartBatch, possible: list[tuple[int, Change]]) -> list[tuple[int, Change]]:
        """The gaps with what the model reads at one [MASK] or two; deletions stay as they are."""
        wanted = Counter(number for number, change in possible if not change.length)
        gaps = [
            (number, change)
            for number, change in possible
            if not change.length and len(batch.parts[number].text) + 2 * wanted[number] <= self.engine.longest
        ]
        found = [(number, change) for number, change in possible if change.length]
        mask = self.vocabulary.mask
        rows = [
            np.insert(self._ids(batch, number), gap.offset, [mask] * size).astype(np.int32)
            for size in (1, 2)
            for number, gap in gaps
        ]
        read = self._read(rows)
        for (number, gap), single, double in zip(gaps, read[: len(gaps)], read[len(gaps) :], strict=True):
            place = gap.offset
            wants_two = single.tags[place + 1, 1] > double.tags[place + 1, 0]
            change = self._filling(gap, double if wants_two else single, 2 if wants_two else 1)
            if change is not None:
                found.append((number, change))
        return found

    def _filling(self, gap: Change, row: _Row, size: int) -> Change | None:
        here = range(gap.offset, gap.offset + size)
        chosen: list[tuple[str, float]] = []
        others: tuple[tuple[str, float], ...] = ()
        for place in here:
            candidates = [
                (self.vocabulary.tokens[number], float(probability))
                for number, probability in zip(row.best[place], row.probabilities[place], strict=True)
                if self.targets[number]
            ]
            if not candidates:
                return None
            chosen.append(candidates[0])
            others = tuple(candidates[1:]) if size == 1 else ()
        filled = float(np.prod([probability for _, probability in chosen]) ** (1 / size))
        if filled < _LEAST_FILLED:
            return None
        needed = 1 - float(row.tags[here.start : here.stop, 0].max())
        score = gap.confidence * needed * filled**0.5
        text = "".join(character for character, _ in chosen)
        return Change(gap.offset, text, filled, score, others, length=0)

    def _verified(self, batch: PartBatch, changes: list[tuple[int, Change]]) -> Iterator[tuple[int, Change]]:
        """The changes beside which the model finds nothing extra or missing once they are made."""
        rows = [
            np.concatenate(
                (
                    self._ids(batch, number)[: change.offset],
                    self.vocabulary.encode(change.target),
                    self._ids(batch, number)[change.offset + change.length :],
                )
            )
            for number, change in changes
        ]
        for (number, change), row in zip(changes, self._read(rows), strict=True):
            first, end = max(change.offset - 1, 0), change.offset + len(change.target)
            extra = row.tags[first : end + 1, 0].max()
            missing = row.tags[first : end + 2, 1].max()
            if max(extra, missing) < _HOLDS:
                yield number, change

    @staticmethod
    def _ids(batch: PartBatch, number: int) -> Ids:
        start, stop = batch.offsets[number : number + 2]
        return batch.ids[start:stop]

    def _read(self, rows: Sequence[Ids]) -> list[_Row]:
        """What the model says of whole rows."""
        if not rows:
            return []
        edges = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.intp)))
        flat = np.concatenate(rows)
        best = np.zeros((len(flat), 5), np.int32)
        probabilities = np.zeros((len(flat), 5), np.float32)
        tags = [np.zeros((len(row) + 1, 2), np.float32) for row in rows]
        for scores in self.engine.scores(flat, edges[:-1], edges[1:], np.inf, 0.0):
            best[scores.positions], probabilities[scores.positions] = scores.best, scores.probabilities
            for window, place, extra, missing in zip(*scores.tags, strict=True):
                tags[window][place] = extra, missing
        return [
            _Row(best[start:stop], probabilities[start:stop], tags[number])
            for number, (start, stop) in enumerate(pairwise(edges.tolist()))
        ]


def _apart(changes: list[Change]) -> list[Change]:
    """The changes in order; of two that touch, the more confident: each was verified without the other."""
    kept: list[Change] = []
    for change in sorted(changes, key=lambda change: change.place):
        if kept and change.offset <= kept[-1].offset + kept[-1].length:
            kept[-1] = max(kept[-1], change, key=lambda change: change.confidence)
        else:
            kept.append(change)
    return kept


def _runs(places: list[int]) -> Iterator[tuple[int, int]]:
    """The start and stop of each run of neighbouring places, which are in order."""
    start = 0
    for number in range(1, len(places) + 1):
        if number == len(places) or places[number] != places[number - 1] + 1:
            yield places[start], places[number - 1] + 1
            start = number
