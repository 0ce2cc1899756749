"""The engine and the prefilter for GPUs: windows of character ids in, PyTorch's scores out.

This is the one module of the product that may import the laboratory, whose BERT it runs; PyTorch itself is
imported only in `nmspeller.lab.models.scoring`, and only when one of them is made.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.decoder import Windows
from nmspeller.runtime.engine import Floats, Ids, Scores, TagScores
from nmspeller.runtime.prefilter import Prefilter
from nmspeller.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nmspeller.lab.export.weights import SpellerWeights
    from nmspeller.lab.models.scoring import Packed, Pending

Positions = NDArray[np.intp]
AnyPending = TypeVar("AnyPending")

# Enough to keep a GPU's cores busy, few enough for the last batch of many not to be mostly padding.
_TOKENS = {"cuda": 1 << 14, "cpu": 1 << 10}
# Where a few windows are read again, most of a large batch would be padding.
_TOKENS_OF_FEW = 1 << 11
_TYPICAL = 16  # a batch has room for windows of this mean length; more room costs attention time


class BatchShape(NamedTuple):
    """A batch's fixed shape: so many tokens in at most so many windows, none longer than `longest` tokens."""

    tokens: int
    longest: int

    @property
    def windows(self) -> int:
        return max(1, self.tokens // _TYPICAL)

    @property
    def rows(self) -> int:
        """Room for the windows and for the padding behind them, which is cut into rows as well."""
        return self.windows + self.tokens // self.longest + 1


class _Packing:
    """Batches of one shape, about so many tokens, that lie end to end without padding between windows."""

    def __init__(self, source: "SpellerWeights", vocabulary: Vocabulary, tokens: int) -> None:
        if source.encoder.vocabulary != len(vocabulary):
            raise InputError(
                _(
                    "{folder} knows {characters} characters and its vocab.txt {tokens}; use the files of one "
                    "model."
                ).format(folder=source.folder, characters=source.encoder.vocabulary, tokens=len(vocabulary))
            )
        self._specials = vocabulary.cls, vocabulary.sep, vocabulary.pad
        self._tokens = max(tokens, source.encoder.positions)
        self.longest = source.encoder.positions - 2

    def read(
        self, ids: Ids, starts: Positions, stops: Positions, submit: "Callable[[Packed], AnyPending]"
    ) -> "Iterator[_Reading[AnyPending]]":
        """The windows `ids[start:stop]` in batches; the next batch is under way while one is looked at."""
        under_way: deque[_Reading[AnyPending]] = deque()
        for windows, layout in self._batches(stops - starts):
            packed, where = self._pack(ids, starts[windows], stops[windows], layout)
            under_way.append(_Reading(windows, where, submit(packed), packed))
            if len(under_way) > 1:
                yield under_way.popleft()
        yield from under_way

    def _batches(self, lengths: Positions) -> Iterator[tuple[Positions, BatchShape]]:
        """Windows that fill one batch, in order, and the shape they all share."""
        chosen = np.flatnonzero(lengths)
        if not len(chosen):
            return
        layout = BatchShape(self._tokens, _round_up(int(lengths.max()) + 2, self.longest + 2))
        ends = np.concatenate(([0], np.cumsum(lengths[chosen] + 2)))
        first = 0
        while first < len(chosen):
            full = int(np.searchsorted(ends, ends[first] + layout.tokens, side="right")) - 1
            last = min(full, first + layout.windows)
            yield chosen[first:last], layout
            first = last

    def _pack(
        self, ids: Ids, starts: Positions, stops: Positions, layout: BatchShape
    ) -> tuple["Packed", Positions]:
        """The windows as a batch, and each token's place in `ids`, which means nothing outside windows."""
        from nmspeller.lab.models.scoring import Packed

        cls, sep, pad = self._specials
        tokens, longest = layout
        sizes = stops - starts + 2
        rest = tokens - int(sizes.sum())
        padding = [longest] * (rest // longest) + [rest % longest] * bool(rest % longest)
        every_size = np.concatenate((sizes, np.array(padding, np.intp)))
        edges = np.full(layout.rows + 1, tokens, np.int32)
        edges[: len(every_size)] = np.cumsum(every_size) - every_size
        first = edges[: len(every_size)].astype(np.intp)
        row = np.repeat(np.arange(len(every_size)), every_size)
        positions = np.arange(tokens) - first[row]
        used = tokens - rest
        inside = np.zeros(tokens, np.bool_)
        inside[:used] = True
        inside[first[: len(sizes)]] = False
        inside[first[: len(sizes)] + sizes - 1] = False
        where = np.zeros(tokens, np.intp)
        where[:used] = starts[row[:used]] + positions[:used] - 1
        packed = np.full(tokens, pad, np.int64)
        packed[first[: len(sizes)]] = cls
        packed[first[: len(sizes)] + sizes - 1] = sep
        packed[inside] = ids[where[inside]]
        return Packed(packed, positions, row * longest + positions, inside, edges, longest), where


@dataclass(frozen=True)
class _Reading(Generic[AnyPending]):
    """A batch under way, and whose it is."""

    windows: Positions  # (windows,)
    where: Positions  # (tokens,) flat positions
    pending: AnyPending
    packed: "Packed"


class TorchEngine:
    """A model on PyTorch."""

    name = "PyTorch"

    characters_per_batch = 1 << 17
    """How many characters to hand over at a time."""

    def __init__(
        self, source: "SpellerWeights", vocabulary: Vocabulary, device: str, *, threads: int | None = None
    ) -> None:
        scoring = _import_scoring()
        self._packing = _Packing(source, vocabulary, _TOKENS[device])
        self._packing_of_few = _Packing(source, vocabulary, min(_TOKENS[device], _TOKENS_OF_FEW))
        self._scorer = scoring.Scorer(scoring.DeviceModel(source.encoder, source.weights, device, threads))
        self.longest = self._packing.longest
        """How many characters a window may have."""

    @classmethod
    def open(
        cls, folder: Path, vocabulary: Vocabulary, device: str, *, exported: bool, threads: int | None = None
    ) -> "TorchEngine":
        """The model of a folder: of its model.onnx if `exported`, else of its checkpoint."""
        from nmspeller.lab.export.onnx_weights import read_exported
        from nmspeller.lab.export.weights import read_weights

        source = read_exported(folder) if exported else read_weights(folder)
        return cls(source, vocabulary, device, threads=threads)

    def scores(
        self,
        ids: Ids,
        starts: Positions,
        stops: Positions,
        max_source_probability: float = np.inf,
        min_tag_probability: float = np.inf,
        few: bool = False,
    ) -> Iterator[Scores]:
        """As of every engine: see `decoder.ScoringEngine`."""
        packing = self._packing_of_few if few else self._packing
        submit = partial(self._scorer.submit, every_position=max_source_probability == np.inf)
        for reading in packing.read(ids, starts, stops, submit):
            found = reading.pending.result(max_source_probability)
            row = np.searchsorted(reading.packed.edges, found.places, side="right") - 1
            yield Scores(
                reading.windows[row],
                reading.where[found.places],
                found.best,
                found.probabilities,
                found.source_probabilities,
                _tags(reading, found.tags, min_tag_probability),
            )


def _tags(reading: "_Reading[Pending]", tags: "NDArray[np.float32] | None", least: float) -> TagScores:
    """tags: (tokens, 3) of all tokens, of which [CLS] and the padding have no place."""
    if tags is None:
        return TagScores.none()
    tokens = np.flatnonzero(tags.max(axis=1) >= least)
    row = np.searchsorted(reading.packed.edges, tokens, side="right") - 1
    places = tokens - reading.packed.edges[row] - 1
    own = (row < len(reading.windows)) & (places >= 0)
    tokens, row, places = tokens[own], row[own], places[own]
    return TagScores(reading.windows[row], places, *tags[tokens].T)


class TorchPrefilter(Prefilter):
    """A prefilter on PyTorch, in floats: its scores differ from those of the export by the rounding."""

    def __init__(
        self, source: "SpellerWeights", vocabulary: Vocabulary, device: str, *, threads: int | None = None
    ) -> None:
        scoring = _import_scoring()
        self._packing = _Packing(source, vocabulary, _TOKENS[device])
        self._scorer = scoring.SourceScorer(
            scoring.DeviceModel(source.encoder, source.weights, device, threads)
        )
        self.longest = self._packing.longest

    @classmethod
    def open(
        cls, folder: Path, vocabulary: Vocabulary, device: str, *, threads: int | None = None
    ) -> "TorchPrefilter":
        """The prefilter of a folder."""
        from nmspeller.lab.export.onnx_weights import read_prefilter

        return cls(read_prefilter(folder), vocabulary, device, threads=threads)

    def error_scores(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """As of every prefilter."""
        error_scores = np.zeros(len(ids), np.float32)
        for reading in self._packing.read(ids, windows.starts, windows.stops, self._scorer.submit):
            tokens = np.flatnonzero(reading.packed.inside)
            positions = reading.where[tokens]
            window = reading.windows[np.searchsorted(reading.packed.edges, tokens, side="right") - 1]
            counts = (positions >= windows.keep_starts[window]) & (positions < windows.keep_stops[window])
            counts &= allowed[positions]
            error_scores[positions[counts]] = 1 - reading.pending.result()[tokens[counts]]
        return error_scores


def _import_scoring() -> ModuleType:
    try:
        import nmspeller.lab.models.scoring as scoring
    except ImportError as error:
        raise InputError(_("this needs PyTorch: pip install 'nmspeller[train]'.")) from error
    return scoring


def _round_up(longest: int, most: int) -> int:
    """One of a few lengths, so that a model is compiled for few: 128, 256, … and at most `most`."""
    length = 128
    while length < longest:
        length *= 2
    return min(length, most)
