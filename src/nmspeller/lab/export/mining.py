"""Hard sentences: those of a corpus that a speller would change although they are most likely right.

A speller that trains on them as they stand learns to leave such sentences alone. A corpus has true mistakes
too, which it must not learn to keep: each character that it would change is hidden and read again, and where
the other character then fits far better than the source character, the sentence is left out.
"""

import numpy as np

from nmspeller.lab.data.prepared import PairArrays, Prepared, sentence_windows
from nmspeller.runtime.decoder import Decoder, Detections, ScoringEngine, Windows
from nmspeller.runtime.engine import Floats, Ids
from nmspeller.runtime.policy import Thresholds

# How likely the other character must be for a sentence to be hard.
_LIKELY = 0.5
# How much better, in log-odds, the other character may fit where the source character is masked.
_BETTER = 5.5
_LONGEST, _JOIN = 120, 0.3
_SENTENCES = 50_000  # that are read in one go


def hard_sentences(engine: ScoringEngine, prepared: Prepared, *, seed: int = 0) -> PairArrays:
    """The prepared corpus's hard sentences, as pairs that are right."""
    text, vocabulary = prepared.corpus(), prepared.vocabulary
    random = np.random.default_rng(seed)
    starts, stops = sentence_windows(text, vocabulary, random, limit=_LONGEST, join=_JOIN)
    # Every candidate is wanted, and its likelihood decides; sound and shape are not asked.
    hanzi = vocabulary.is_hanzi()
    decoder = Decoder(
        engine,
        hanzi,
        hanzi,
        vocabulary.unk,
        lambda originals, _: np.zeros(len(originals), np.bool_),
    )
    kept, dropped = set[int](), set[int]()
    for first in range(0, len(starts), _SENTENCES):
        offset = int(starts[first])
        bounds = [each[first : first + _SENTENCES] - offset for each in (starts, stops)]
        ids = text[offset : offset + int(bounds[1][-1])].astype(np.int32)
        windows = Windows(*bounds, *bounds)
        everywhere = np.ones(len(ids), np.bool_)
        found, _ = decoder.find(ids, everywhere, ~everywhere, windows, Thresholds(0.0, 0.0), passes=1)
        found = found.subset(found.probabilities >= _LIKELY)
        numbers = np.searchsorted(windows.stops, found.positions, side="right")
        better = _fits_better(engine, ids, windows.subset(numbers), found, vocabulary.mask)
        dropped.update((first + numbers[better > _BETTER]).tolist())
        kept.update((first + numbers).tolist())
    rows = [text[starts[number] : stops[number]] for number in sorted(kept - dropped)]
    edges = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    flat = np.concatenate([*rows, text[:0]])
    return PairArrays(flat, flat, edges)


def _fits_better(engine: ScoringEngine, ids: Ids, windows: Windows, found: Detections, mask: int) -> Floats:
    """By how much, in log-odds, each target fits better than the source character where that is masked.

    windows: the one that holds each of the findings. Returns (findings,).
    """
    better = np.full(len(found.positions), np.inf, np.float32)
    # Each window is copied, for one may hold several findings, of which one at a time is hidden.
    edges = np.concatenate(([0], np.cumsum(windows.stops - windows.starts)))
    hidden = np.concatenate(
        [ids[:0], *(ids[start:stop] for start, stop in zip(windows.starts, windows.stops, strict=True))]
    )
    places = edges[:-1] + found.positions - windows.starts
    hidden[places] = mask
    for scores in engine.scores(hidden, edges[:-1], edges[1:], 0.5):
        for number, place, best, probabilities in zip(
            scores.windows, scores.positions, scores.best, scores.probabilities, strict=True
        ):
            if place == places[number]:
                # What is not among the best is at most as likely as the last of them.
                least = max(float(probabilities[-1]), 1e-9)
                pair = found.targets[number], found.originals[number]
                own, other = (max(float(probabilities[best == each].sum()), least) for each in pair)
                better[number] = np.log(own / other)
    return better
