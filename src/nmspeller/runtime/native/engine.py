"""The model and the prefilter on the native engine: windows of ids in, scores out, without padding."""

import ctypes
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.decoder import Windows
from nmspeller.runtime.engine import (
    BEST,
    TAGS,
    Floats,
    Ids,
    OnnxEngine,
    Scores,
    TagScores,
    check_model,
    cores,
    damaged,
)
from nmspeller.runtime.native import library
from nmspeller.runtime.native.onnx_file import OnnxFile
from nmspeller.runtime.native.weights import UnsupportedError, Weights
from nmspeller.runtime.prefilter import COMMAND, Prefilter
from nmspeller.text.vocabulary import Vocabulary

Positions = NDArray[np.intp]


class FlatWindows(NamedTuple):
    """Windows one behind the other, each with [CLS] before and [SEP] behind it."""

    windows: Positions  # (windows,) which of the windows each is
    edges: NDArray[np.int32]  # (windows + 1,) where each begins
    ids: Ids  # (rows,)
    row_window: Positions  # (rows,) which of these windows a row is of
    places: Positions  # (rows,) from the start of the window; -1 is [CLS], and the last is [SEP]
    is_character: NDArray[np.bool_]  # (rows,)


class Answers(NamedTuple):
    """What the model says of each row; of a prefilter only the source probability means anything."""

    best: Ids  # (rows, 5)
    probabilities: Floats  # (rows, 5)
    source_probabilities: Floats  # (rows,)
    tags: Floats  # (rows, 3)


class NativeSession:
    """A model, loaded, and the threads that work on it.

    Raises:
        UnsupportedError: there is no library for this processor, or it cannot run this model.
        InputError: the file is damaged, or of another program or vocabulary.
    """

    batch_tokens = 256
    """Few enough for activations to stay in a core's cache, many to make up for reading all weights."""
    many_batches = 4
    """From so many for each thread on, threads work on batches of their own."""

    def __init__(
        self,
        model: Path,
        vocabulary: Vocabulary,
        *,
        command: str,
        threads: int | None = None,
        instructions: str | None = None,
    ) -> None:
        loaded, instructions = library.load(), instructions or library.best_instruction_set()
        if loaded is None or instructions is None:
            raise UnsupportedError("no library for this processor")
        self._library, self._threads, self.instructions = loaded, threads or cores(), instructions
        self._specials = vocabulary.cls, vocabulary.sep
        try:
            weights = Weights(OnnxFile.read(model))
            check_model(model, weights.file.facts, vocabulary, command=command)
            source = weights.model()
        except (ValueError, KeyError, IndexError, TypeError, StopIteration) as error:
            raise damaged(model, command) from error
        self.has_tags, self.longest = bool(source.blocks), source.longest - 2
        """`longest` is how many characters a window may have."""
        self._model = self._owned(
            loaded.nmspeller_open(source, instructions.encode()), loaded.nmspeller_close
        )
        self._team = self._owned(loaded.nmspeller_team(self._threads), loaded.nmspeller_dismiss)
        self._alone = self._owned(loaded.nmspeller_team(1), loaded.nmspeller_dismiss)

    def _owned(self, made: int | None, close: Callable[[int], Any]) -> int:
        """Something of the library that lives as long as this."""
        if not made:
            raise MemoryError("not enough memory for the model")
        # When the interpreter exits, a daemon thread may still be reading with it, and the system frees all.
        weakref.finalize(self, close, made).atexit = False
        return made

    def read(self, ids: Ids, starts: Positions, stops: Positions) -> Iterator[tuple[FlatWindows, Answers]]:
        """The windows `ids[start:stop]` in batches, each with its answers."""
        if (stops - starts > self.longest).any():
            raise ValueError(f"a window has more than {self.longest} characters")
        batches = list(self._batches(ids, starts, stops - starts))
        if self._threads == 1 or len(batches) < self.many_batches * self._threads:
            for batch in batches:
                yield batch, self._answers(batch, self._team)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            answers = pool.map(lambda batch: self._answers(batch, self._alone), batches)
            yield from zip(batches, answers, strict=True)

    def _answers(self, batch: FlatWindows, team: int) -> Answers:
        rows = len(batch.ids)
        made = Answers(
            np.zeros((rows, BEST), np.int32),
            np.zeros((rows, BEST), np.float32),
            np.zeros(rows, np.float32),
            np.zeros((rows, TAGS), np.float32),
        )
        arrays = (array.ctypes.data for array in made)
        reading = library.Reading(
            batch.ids.ctypes.data, batch.edges.ctypes.data, len(batch.windows), rows, *arrays
        )
        if self._library.nmspeller_read(self._model, team, ctypes.byref(reading)):
            raise MemoryError("not enough memory to read a text")
        return made

    def _batches(self, ids: Ids, starts: Positions, lengths: Positions) -> Iterator[FlatWindows]:
        order = np.flatnonzero(lengths > 0)
        ends = np.cumsum(lengths[order] + 2)
        first, read = 0, 0
        while first < len(order):
            last = max(first + 1, int(np.searchsorted(ends, read + self.batch_tokens, side="right")))
            yield self._batch(ids, order[first:last], starts, lengths)
            first, read = last, int(ends[last - 1])

    def _batch(self, ids: Ids, windows: Positions, starts: Positions, lengths: Positions) -> FlatWindows:
        sizes = lengths[windows] + 2
        edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        row_window = np.repeat(np.arange(len(windows)), sizes)
        places = (np.arange(edges[-1]) - edges[row_window] - 1).astype(np.intp)
        is_character = (places >= 0) & (places < lengths[windows][row_window])
        cls, sep = self._specials
        flat = np.full(edges[-1], sep, np.int32)
        flat[edges[:-1]] = cls
        flat[is_character] = ids[(starts[windows][row_window] + places)[is_character]]
        return FlatWindows(windows, edges, flat, row_window, places, is_character)


class NativeEngine:
    """The model on the native engine."""

    characters_per_batch = OnnxEngine.characters_per_batch

    def __init__(
        self,
        model: Path,
        vocabulary: Vocabulary,
        *,
        threads: int | None = None,
        instructions: str | None = None,
    ) -> None:
        self._session = NativeSession(
            model, vocabulary, command=OnnxEngine.command, threads=threads, instructions=instructions
        )
        self.name = f"native engine ({self._session.instructions})"
        self.longest = self._session.longest

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
        for batch, answers in self._session.read(ids, starts, stops):
            told = np.flatnonzero(
                batch.is_character & (answers.source_probabilities <= max_source_probability)
            )
            windows = batch.windows[batch.row_window[told]]
            yield Scores(
                windows,
                starts[windows] + batch.places[told],
                answers.best[told],
                answers.probabilities[told],
                answers.source_probabilities[told],
                self._tags(batch, answers.tags, min_tag_probability),
            )

    def _tags(self, batch: FlatWindows, tags: Floats, least: float) -> TagScores:
        if not self._session.has_tags:
            return TagScores.none()
        rows = np.flatnonzero((batch.places >= 0) & (tags.max(axis=1) >= least))
        return TagScores(batch.windows[batch.row_window[rows]], batch.places[rows], *tags[rows].T)


class NativePrefilter(Prefilter):
    """The prefilter on the native engine."""

    def __init__(self, model: Path, vocabulary: Vocabulary, *, threads: int | None = None) -> None:
        self._session = NativeSession(model, vocabulary, command=COMMAND, threads=threads)
        self.longest = self._session.longest

    def error_scores(self, ids: Ids, allowed: NDArray[np.bool_], windows: Windows) -> Floats:
        """As of every prefilter."""
        error_scores = np.zeros(len(ids), np.float32)
        for batch, answers in self._session.read(ids, windows.starts, windows.stops):
            rows = np.flatnonzero(batch.is_character)
            window = batch.windows[batch.row_window[rows]]
            positions = windows.starts[window] + batch.places[rows]
            counts = (positions >= windows.keep_starts[window]) & (positions < windows.keep_stops[window])
            counts &= allowed[positions]
            error_scores[positions[counts]] = 1 - answers.source_probabilities[rows[counts]]
        return error_scores
