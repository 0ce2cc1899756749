"""Decoding of tags: which characters are extra or swapped, and what is missing where.

The model tags characters that are extra, places before which something is missing, and neighbours that have
to change places. A gap is filled in by another reading with [MASK] in it, one or two. Then the part is read
as corrected: an edit beside which the model still finds such an error is dropped. What the readings say is
weighed together.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.damaged_idioms import Gap, gaps, is_swapped_idiom
from nmspeller.runtime.decoder import ScoringEngine
from nmspeller.runtime.edits import Change
from nmspeller.runtime.engine import Floats, Ids, TagScores
from nmspeller.runtime.evidence import Evidence, EvidenceWeights
from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.policy import LEAST_TAG, TAGGED, Thresholds
from nmspeller.runtime.reading import Part
from nmspeller.runtime.reduplication import may_stand_twice
from nmspeller.text.vocabulary import Vocabulary

# A tag that is as probable as this stands: beside an edit that was made, it speaks against the edit.
_STANDS = 0.5
_LEAST_FILLED = 0.3
# A gap takes two more readings, and most of what is less likely to be one is none.
_LEAST_MISSING = 0.2
# Two masks are tried where one leaves something missing.
_STILL_MISSING = 0.1
# Where an idiom comes of it, a weaker tag is enough, and the edit is as sure as this.
_MISSING_IN_IDIOM = 0.4
_SWAPPED_IN_IDIOM = 0.2
_OF_AN_IDIOM = 0.95


class Proposal(NamedTuple):
    """An edit of a part, by its number, of one of the kinds TAGGED, with what speaks for it."""

    part: int
    kind: str
    change: Change
    evidence: Evidence
    of_idiom: bool = False
    """Whether an idiom comes of it."""


class _Row(NamedTuple):
    """What the model says of a row of n characters."""

    best: Ids  # (n, 5)
    probabilities: Floats  # (n, 5)
    own: Floats  # (n,) of the characters that are there
    tags: Floats  # (n + 1, 3): extra, missing before, swapped with the next


@dataclass(frozen=True)
class TagDecoder:
    """Turns tags into changes of parts; `targets` (vocabulary,) marks the ids that may be filled in.

    weights: of the evidence for each kind; one without takes the tag's word for it.
    """

    engine: ScoringEngine
    vocabulary: Vocabulary
    targets: NDArray[np.bool_]
    weights: Mapping[str, EvidenceWeights] = field(default_factory=dict)

    def find(self, batch: PartBatch, tags: TagScores, thresholds: Thresholds) -> dict[int, list[Change]]:
        """The insertions, deletions and swaps in each part that has any, by the part's number, in order.

        tags: as `Decoder.find` gives them.
        """
        least = {kind: getattr(thresholds, kind) for kind in TAGGED}
        tags_needed = {
            kind: self.weights.get(kind, EvidenceWeights()).least_tag(least[kind])
            for kind in TAGGED
            if least[kind] <= 1
        }
        accepted: dict[int, list[Change]] = {}
        for proposal in self.proposals(batch, tags, tags_needed):
            if proposal.change.confidence >= least[proposal.kind]:
                accepted.setdefault(proposal.part, []).append(proposal.change)
        return {part: _apart(changes) for part, changes in accepted.items()}

    def proposals(
        self, batch: PartBatch, tags: TagScores, tags_needed: Mapping[str, float] | None = None
    ) -> Iterator[Proposal]:
        """Every edit that still holds once it is made, by itself.

        tags_needed: the kinds that are wanted, each with the least probability of its tag; all if not given.
        """
        needed = dict.fromkeys(TAGGED, 0.0) if tags_needed is None else tags_needed
        order = np.lexsort((tags.places, tags.windows))
        tags = TagScores._make(values[order] for values in tags)
        # The end of a window is the place where the next part starts: the window's start tells them apart.
        parts = np.searchsorted(batch.offsets, tags.windows, side="right") - 1
        visible: list[Proposal] = []
        unfilled: list[Proposal] = []
        for number, group in groupby(range(len(parts)), lambda index: int(parts[index])):
            chosen = list(group)
            own = TagScores._make(values[chosen] for values in tags)
            here = own._replace(places=own.places - batch.offsets[number])
            visible += [
                *self._deletions(batch, number, here),
                *self._swaps(batch, number, here),
                *self._completed_idioms(batch, number, here),
            ]
            unfilled += self._gaps(batch, number, here)
        # Each takes other readings: what cannot become sure enough is left out before them.
        visible, unfilled = (
            [each for each in found if _may_be_made(each, needed)] for found in (visible, unfilled)
        )
        for proposal in self._verified(batch, [*visible, *self._filled(batch, unfilled)]):
            weights = self.weights.get(proposal.kind, EvidenceWeights())
            confidence = weights.confidence(proposal.evidence)
            if proposal.of_idiom:
                confidence = max(confidence, _OF_AN_IDIOM)
            yield proposal._replace(change=proposal.change._replace(confidence=confidence))

    def _deletions(self, batch: PartBatch, number: int, tags: TagScores) -> Iterator[Proposal]:
        """Runs of characters that the model finds extra."""
        part, offset = batch.parts[number], int(batch.offsets[number])
        hanzi = self.vocabulary.is_hanzi()
        likely = {
            int(place): float(extra)
            for place, extra in zip(tags.places, tags.extra, strict=True)
            if extra >= LEAST_TAG
            and place < len(part.text)
            and batch.allowed[offset + place]
            and hanzi[batch.ids[offset + place]]
        }
        for start, stop in _likeliest_runs(likely):
            size, repeats = stop - start, repeats_neighbours(part.text, start, stop)
            if repeats and may_stand_twice(part.text, start, stop):
                continue
            tag = min(likely[place] for place in range(start, stop))
            change = Change(start, "", tag, tag, length=size)
            yield Proposal(number, "repeated" if repeats else "foreign", change, Evidence(tag))

    def _swaps(self, batch: PartBatch, number: int, tags: TagScores) -> Iterator[Proposal]:
        """Neighbours that the model finds in the wrong order."""
        part, ids = batch.parts[number], self._ids(batch, number)
        start, stop = batch.offsets[number : number + 2]
        may_change = batch.allowed[start:stop] & self.vocabulary.is_hanzi()[ids]
        for place, tag in zip(tags.places.tolist(), tags.swapped.tolist(), strict=True):
            both = part.text[place : place + 2]
            if tag >= LEAST_TAG and both != both[::-1] and may_change[place : place + 2].all():
                change = Change(place, both[::-1], tag, tag, length=2)
                of_idiom = tag >= _SWAPPED_IN_IDIOM and is_swapped_idiom(part.text, place)
                yield Proposal(number, "swapped", change, Evidence(tag), of_idiom)

    def _gaps(self, batch: PartBatch, number: int, tags: TagScores) -> Iterator[Proposal]:
        """Places where something is missing, not inside anything that must not change; not yet filled in."""
        part = batch.parts[number]
        for place, missing in zip(tags.places.tolist(), tags.missing.tolist(), strict=True):
            if missing >= _LEAST_MISSING and not _is_locked(part, place):
                change = Change(place, "", missing, missing, length=0)
                yield Proposal(number, "missing", change, Evidence(missing))

    def _completed_idioms(self, batch: PartBatch, number: int, tags: TagScores) -> Iterator[Proposal]:
        """What idioms lack beside places where the model misses something; the place may be another one."""
        part = batch.parts[number]
        surest: dict[Gap, float] = {}
        for place, missing in zip(tags.places.tolist(), tags.missing.tolist(), strict=True):
            if missing >= _MISSING_IN_IDIOM and len(part.text) < self.engine.longest:
                for gap in gaps(part.text, place):
                    surest[gap] = max(missing, surest.get(gap, 0.0))
        for gap, missing in surest.items():
            if not _is_locked(part, gap.place):
                change = Change(gap.place, gap.character, missing, missing, length=0)
                yield Proposal(number, "missing", change, Evidence(missing), of_idiom=True)

    def _filled(self, batch: PartBatch, gaps: Sequence[Proposal]) -> list[Proposal]:
        """The gaps with what the model reads at one [MASK], or at two where one is not enough."""
        wanted = Counter(gap.part for gap in gaps)
        gaps = [
            gap
            for gap in gaps
            if len(batch.parts[gap.part].text) + 2 * wanted[gap.part] <= self.engine.longest
        ]
        one = self._read([self._with_masks(batch, gap, 1) for gap in gaps])
        short = [
            number
            for number, (gap, row) in enumerate(zip(gaps, one, strict=True))
            if row.tags[gap.change.offset + 1, 1] >= _STILL_MISSING
        ]
        two = dict(
            zip(
                short, self._read([self._with_masks(batch, gaps[number], 2) for number in short]), strict=True
            )
        )
        found = []
        for number, (gap, single) in enumerate(zip(gaps, one, strict=True)):
            place, double = gap.change.offset, two.get(number)
            if double is not None and single.tags[place + 1, 1] > double.tags[place + 1, 0]:
                filling = self._filling(gap, double, 2)
            else:
                filling = self._filling(gap, single, 1)
            if filling is not None:
                found.append(filling)
        return found

    def _with_masks(self, batch: PartBatch, gap: Proposal, size: int) -> Ids:
        masks = [self.vocabulary.mask] * size
        return np.insert(self._ids(batch, gap.part), gap.change.offset, masks).astype(np.int32)

    def _filling(self, gap: Proposal, row: _Row, size: int) -> Proposal | None:
        here = range(gap.change.offset, gap.change.offset + size)
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
        text = "".join(character for character, _ in chosen)
        change = gap.change._replace(target=text, probability=filled, others=others)
        return gap._replace(change=change, evidence=gap.evidence._replace(filled=filled, needed=needed))

    def _verified(self, batch: PartBatch, proposals: list[Proposal]) -> Iterator[Proposal]:
        """Those beside which the model finds nothing extra, missing or swapped once they are made."""
        rows = []
        for proposal in proposals:
            change = proposal.change
            ids, stop = self._ids(batch, proposal.part), change.offset + change.length
            rows.append(
                np.concatenate((ids[: change.offset], self.vocabulary.encode(change.target), ids[stop:]))
            )
        for proposal, row in zip(proposals, self._read(rows), strict=True):
            start = proposal.change.offset
            first, end = max(start - 1, 0), start + len(proposal.change.target)
            extra_or_swapped = row.tags[first : end + 1, ::2].max()
            missing = row.tags[first : end + 2, 1].max()
            settled = 1 - float(max(extra_or_swapped, missing))
            if settled > 1 - _STANDS:
                after = proposal.evidence._replace(
                    target=float(row.own[start:end].min(initial=1)),
                    before=float(row.own[first:start].min(initial=1)),
                    behind=float(row.own[end : end + 1].min(initial=1)),
                    settled=settled,
                )
                yield proposal._replace(evidence=after)

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
        own = np.zeros(len(flat), np.float32)
        tags = [np.zeros((len(row) + 1, 3), np.float32) for row in rows]
        for scores in self.engine.scores(flat, edges[:-1], edges[1:], np.inf, 0.0, few=True):
            best[scores.positions], probabilities[scores.positions] = scores.best, scores.probabilities
            own[scores.positions] = scores.source_probabilities
            for window, place, *found in zip(*scores.tags, strict=True):
                tags[window][place] = found
        return [
            _Row(best[start:stop], probabilities[start:stop], own[start:stop], tags[number])
            for number, (start, stop) in enumerate(pairwise(edges.tolist()))
        ]


def _may_be_made(proposal: Proposal, needed: Mapping[str, float]) -> bool:
    """Whether an edit may become sure enough; without its kind in `needed` it is not wanted."""
    least = needed.get(proposal.kind, 2.0)
    return proposal.evidence.tag >= least or (proposal.of_idiom and least <= 1)


def _is_locked(part: Part, gap: int) -> bool:
    """Whether a gap is inside anything that must not change."""
    return any(start < gap < stop for start, stop in part.locked)


def repeats_neighbours(text: str, start: int, stop: int) -> bool:
    """Whether the same characters stand right before or behind."""
    size = stop - start
    return text[start:stop] in (text[max(0, start - size) : start], text[stop : stop + size])


def _apart(changes: list[Change]) -> list[Change]:
    """The changes in order; of two that touch, the more confident: each was verified without the other."""
    kept: list[Change] = []
    for change in sorted(changes, key=lambda change: change.place):
        if kept and change.offset <= kept[-1].offset + kept[-1].length:
            kept[-1] = max(kept[-1], change, key=lambda change: change.confidence)
        else:
            kept.append(change)
    return kept


def _likeliest_runs(likely: Mapping[int, float]) -> Iterator[tuple[int, int]]:
    """The runs of likely places; of a run with places that are likelier than not, the runs of those."""
    for start, stop in _runs(sorted(likely)):
        strong = [place for place in range(start, stop) if likely[place] >= _STANDS]
        yield from _runs(strong) if strong else [(start, stop)]


def _runs(places: list[int]) -> Iterator[tuple[int, int]]:
    """The start and stop of each run of neighbouring places, which are in order."""
    start = 0
    for number in range(1, len(places) + 1):
        if number == len(places) or places[number] != places[number - 1] + 1:
            yield places[start], places[number - 1] + 1
            start = number
