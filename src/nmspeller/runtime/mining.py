"""Hard sentences: those of a corpus that a speller would change although they are most likely right.

A speller that trains on them as they stand learns to leave such sentences alone. A corpus has true mistakes
too, which it must not learn to keep: each character that it would change is hidden and read again, and where
the other character then fits far better than the one that stands there, the sentence is left out.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.data.prepared import PairArrays, Prepared, sentence_windows
from nmspeller.runtime.findings import AnyEngine, Positions

# How likely the other character must be for a sentence to be hard.
_LIKELY = 0.5
# How much better, in log-odds, the other character may fit where nobody sees what stands there.
_BETTER = 5.5
_LONGEST, _JOIN = 120, 0.3
_SENTENCES = 50_000  # that are read in one go


class Doubts(NamedTuple):
    """Characters that a speller would change; start and stop bound their sentences."""

    starts: Positions  # (doubts,)
    stops: Positions  # (doubts,)
    places: Positions  # (doubts,)
    targets: NDArray[np.int32]  # (doubts,)


def hard_sentences(engine: AnyEngine, prepared: Prepared, *, seed: int = 0) -> PairArrays:
    """The prepared corpus's hard sentences, as pairs that are right."""
    text = prepared.corpus()
    random = np.random.default_rng(seed)
    starts, stops = sentence_windows(text, prepared.vocabulary, random, limit=_LONGEST, join=_JOIN)
    kept, dropped = set[tuple[int, int]](), set[tuple[int, int]]()
    for first in range(0, len(starts), _SENTENCES):
        part = slice(first, first + _SENTENCES)
        doubts = _doubts(engine, prepared, text, starts[part], stops[part])
        better = _fits_better(engine, text, doubts, prepared.vocabulary.mask)
        for start, stop, much in zip(doubts.starts.tolist(), doubts.stops.tolist(), better, strict=True):
            (dropped if much > _BETTER else kept).add((start, stop))
    chosen = sorted(kept - dropped)
    rows = [text[start:stop] for start, stop in chosen]
    bounds = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    flat = np.concatenate([*rows, text[:0]])
    return PairArrays(flat, flat, bounds)


def _doubts(
    engine: AnyEngine, prepared: Prepared, text: NDArray[np.uint16], starts: Positions, stops: Positions
) -> Doubts:
    """What the speller would change in these sentences."""
    hanzi = prepared.vocabulary.is_hanzi()
    offset = int(starts[0])
    ids = text[offset : int(stops[-1])].astype(np.int32)
    parts = [Doubts(*(np.zeros(0, np.intp),) * 3, np.zeros(0, np.int32))]
    for scores in engine.scores(ids, starts - offset, stops - offset, 1 - _LIKELY):
        possible = hanzi[scores.best] & (scores.best != ids[scores.positions][:, None])
        first = possible.argmax(axis=1)[:, None]
        likely = np.take_along_axis(scores.probabilities, first, axis=1)[:, 0] >= _LIKELY
        chosen = hanzi[ids[scores.positions]] & possible.any(axis=1) & likely
        targets = np.take_along_axis(scores.best, first, axis=1)[:, 0]
        windows = scores.windows[chosen]
        parts.append(
            Doubts(starts[windows], stops[windows], scores.positions[chosen] + offset, targets[chosen])
        )
    return Doubts._make(np.concatenate(values) for values in zip(*parts, strict=True))


def _fits_better(engine: AnyEngine, text: NDArray[np.uint16], doubts: Doubts, mask: int) -> Iterator[float]:
    """By how much, in log-odds, each target fits better than what stands there, were that not seen."""
    if not len(doubts.places):
        return
    lengths = doubts.stops - doubts.starts
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    ids = np.concatenate([text[a:b] for a, b in zip(doubts.starts, doubts.stops, strict=True)]).astype(
        np.int32
    )
    places = bounds[:-1] + doubts.places - doubts.starts
    originals = ids[places].copy()
    ids[places] = mask
    order = {place: number for number, place in enumerate(places.tolist())}
    better = np.full(len(places), np.inf)
    for scores in engine.scores(ids, bounds[:-1], bounds[1:], 0.5):
        for place, best, probabilities in zip(
            scores.positions.tolist(), scores.best, scores.probabilities, strict=True
        ):
            if place in order:
                number = order[place]
                pair = (doubts.targets[number], originals[number])
                # What is not among the best is at most as likely as the last of them.
                least = max(float(probabilities[-1]), 1e-9)
                own, other = (max(float(probabilities[best == each].sum()), least) for each in pair)
                better[number] = np.log(own / other)
    yield from better.tolist()
