"""The engine: windows of character ids in, the model's scores out, in batches that waste no padding."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.memory import release_free_memory
from nmspeller.text.vocabulary import Vocabulary

FORMAT = "nmspeller model 2"
CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux tells a container its limit: microseconds of each period, in microseconds."""

Ids = NDArray[np.int32]
Floats = NDArray[np.float32]


class TagScores(NamedTuple):
    """The tags of some places, (places,) each.

    Whether the character there is extra, one is missing before it, and whether it is swapped with the next.

    A place is counted from the start of its window; the one behind the last character is the window's end.
    """

    windows: NDArray[np.intp]
    places: NDArray[np.intp]
    extra: Floats
    missing: Floats
    swapped: Floats

    @classmethod
    def none(cls) -> "TagScores":
        numbers, floats = np.zeros(0, np.intp), np.zeros(0, np.float32)
        return cls(numbers, numbers, floats, floats, floats)

    @classmethod
    def join(cls, parts: "list[TagScores]") -> "TagScores":
        return cls._make(np.concatenate(values) for values in zip(cls.none(), *parts, strict=True))


TAGS = len(TagScores._fields) - 2
"""How many tags a place has."""
BEST = 5
"""How many candidates a position has."""


class Scores(NamedTuple):
    """What the model says of some positions of a flat array, best candidates first."""

    windows: NDArray[np.intp]  # (positions,) the window that each was read in
    positions: NDArray[np.intp]  # (positions,) into the flat array
    best: Ids  # (positions, 5)
    probabilities: Floats  # (positions, 5)
    source_probabilities: Floats  # (positions,) of the source characters
    tags: TagScores = TagScores.none()


class PaddedWindows(NamedTuple):
    """Windows of about one length, a row each, the shorter ones padded."""

    windows: NDArray[np.intp]  # (rows,) which of the windows each row is
    inside: NDArray[np.bool_]  # (rows, columns) where a row has a character
    positions: NDArray[np.intp]  # (rows, columns) into the flat array; meaningless where not inside
    ids: Ids  # (rows, columns + 2) with [CLS] before and [SEP] behind each window
    lengths: Ids  # (rows,) the special tokens counted


def check_model(model: Path, facts: Mapping[str, str], vocabulary: Vocabulary, *, command: str) -> None:
    """Check that a file with these facts is a model of today's format, for this vocabulary.

    Raises:
        InputError: it is not; `command` writes such files.
    """
    if facts.get("format") != FORMAT:
        raise InputError(
            _("{model} was not written by `{command}`; make it from the checkpoint with that.").format(
                model=model, command=command
            )
        )
    if int(facts["vocabulary"]) != len(vocabulary):
        raise InputError(
            _(
                "{model} knows {characters} characters and its vocab.txt {tokens}; use the two files of "
                "one export."
            ).format(model=model, characters=facts["vocabulary"], tokens=len(vocabulary))
        )


def damaged(model: Path, command: str) -> InputError:
    """What to tell of a file that cannot be loaded."""
    return InputError(
        _("{model} is damaged or is no model; write it again with `{command}`.").format(
            model=model, command=command
        )
    )


class OnnxSession:
    """An ONNX Runtime session over one file, which windows are handed to in batches."""

    command = "nmspeller lab export"
    """What writes such files."""
    outputs: tuple[str, ...] = ("candidates", "probabilities", "source_probability")
    """The outputs that are computed for each batch."""
    optional_outputs: tuple[str, ...] = ()
    """Those that are computed, too, where the model has them."""
    batch_tokens = 256
    """Few enough for the activations to stay in a core's cache, many enough for products of good size."""
    many_batches = 16
    """From so many on, several are read at once, which takes less work than sharing each among the cores.

    It takes a second copy of the weights, which is made when it is first needed.
    """
    most_at_once = 8
    """How many batches are read at once, at most: each takes some 30 MB."""

    def __init__(self, model: Path, vocabulary: Vocabulary, *, threads: int | None = None) -> None:
        self._model, self._threads = model, threads or cores()
        self._specials = vocabulary.cls, vocabulary.sep, vocabulary.pad
        self._session = self._open(self._threads)
        facts = self._session.get_modelmeta().custom_metadata_map
        offered = {output.name: output.shape[-1] for output in self._session.get_outputs()}
        self._outputs = [*self.outputs, *(name for name in self.optional_outputs if name in offered)]
        has_all = offered.keys() >= set(self._outputs) and offered.get("tags", TAGS) == TAGS
        check_model(model, facts if has_all else {}, vocabulary, command=self.command)
        self.longest = int(facts["positions"]) - 2
        """How many characters a window may have."""

    def _open(self, threads: int) -> Any:
        """A session that runs each batch on so many threads."""
        # Loaded late: `import nmspeller` and `--help` do without it.
        from nmspeller.runtime.onnx_runtime import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        # A thread that waits must give its core away: on a busy machine the others could not finish.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Operators are divided into more pieces than threads, so that no thread waits for a late one.
        options.add_session_config_entry("session.dynamic_block_base", "4")
        # The arena that `onnx_runtime` has registered for all sessions.
        options.add_session_config_entry("session.use_env_allocators", "1")
        # Memory is reserved for each shape of batch otherwise, and there are many.
        options.enable_mem_pattern = False
        # The graph is fused by hand, and the fused addition and normalisation is slower than the two apart.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            # Without a second attempt, which ONNX Runtime would announce on standard output.
            session = onnxruntime.InferenceSession(
                str(self._model), options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except Exception as error:  # ONNX Runtime has no narrower class in common.
            raise damaged(self._model, self.command) from error
        release_free_memory()
        return session

    @cached_property
    def _session_for_many(self) -> Any:
        """One that leaves cores to other batches."""
        return self._open(self._threads // self._at_once)

    @property
    def _at_once(self) -> int:
        return min(self._threads, self.most_at_once)

    def read(
        self, ids: Ids, starts: NDArray[np.intp], stops: NDArray[np.intp]
    ) -> Iterator[tuple[PaddedWindows, list[NDArray[Any]]]]:
        """The windows `ids[start:stop]` in batches, each with its outputs."""
        batches = list(self._batches(ids, starts, stops - starts))
        if self._threads == 1 or len(batches) < self.many_batches:
            for batch in batches:
                yield batch, self._run(self._session, batch)
            return
        session = self._session_for_many
        with ThreadPoolExecutor(self._at_once) as pool:
            outputs = pool.map(lambda batch: self._run(session, batch), batches)
            yield from zip(batches, outputs, strict=True)

    def _run(self, session: Any, batch: PaddedWindows) -> list[NDArray[Any]]:
        outputs: list[NDArray[Any]] = session.run(self._outputs, {"ids": batch.ids, "lengths": batch.lengths})
        return outputs

    def _batches(
        self, ids: Ids, starts: NDArray[np.intp], lengths: NDArray[np.intp]
    ) -> Iterator[PaddedWindows]:
        order = np.argsort(lengths, kind="stable")
        ascending = lengths[order]
        first = int(np.searchsorted(ascending, 1))
        while first < len(order):
            last = first + _batch_size(ascending[first : first + self.batch_tokens] + 2, self.batch_tokens)
            yield self._batch(ids, order[first:last], starts, lengths)
            first = last

    def _batch(
        self, ids: Ids, windows: NDArray[np.intp], starts: NDArray[np.intp], lengths: NDArray[np.intp]
    ) -> PaddedWindows:
        cls, sep, pad = self._specials
        sizes = lengths[windows]
        columns = np.arange(sizes.max())
        inside = columns < sizes[:, None]
        positions = starts[windows][:, None] + columns
        padded = np.full((len(windows), len(columns) + 2), pad, np.int32)
        padded[:, 0] = cls
        padded[:, 1:-1][inside] = ids[positions[inside]]
        padded[np.arange(len(windows)), sizes + 1] = sep
        return PaddedWindows(windows, inside, positions, padded, (sizes + 2).astype(np.int32))


class OnnxEngine(OnnxSession):
    """The model on ONNX Runtime."""

    characters_per_batch = 1 << 15
    """How many characters to hand over at a time."""
    optional_outputs = ("tags",)

    @property
    def name(self) -> str:
        """What computes, for reports."""
        from nmspeller.runtime.onnx_runtime import onnxruntime

        return f"ONNX Runtime {onnxruntime.__version__}"

    def scores(
        self,
        ids: Ids,
        starts: NDArray[np.intp],
        stops: NDArray[np.intp],
        max_source_probability: float = np.inf,
        min_tag_probability: float = np.inf,
        few: bool = False,
    ) -> Iterator[Scores]:
        """As of every engine, see `decoder.ScoringEngine`; every batch holds windows of about one length."""
        for batch, (best, probabilities, source_probabilities, *tags) in self.read(ids, starts, stops):
            # A character that is nearly certain leaves no room for another; most positions end here.
            told = batch.inside & (source_probabilities <= max_source_probability)
            rows = np.nonzero(told)[0]
            yield Scores(
                batch.windows[rows],
                batch.positions[told],
                best[told],
                probabilities[told],
                source_probabilities[told],
                _tag_scores(batch, tags[0], min_tag_probability) if tags else TagScores.none(),
            )


def _tag_scores(batch: PaddedWindows, tags: Floats, least: float) -> TagScores:
    """tags: (rows, columns + 1, 3), the last column for windows that fill their row."""
    places = np.arange(tags.shape[1])
    inside = places < batch.lengths[:, None] - 1
    rows, places = np.nonzero(inside & (tags.max(axis=2) >= least))
    return TagScores(batch.windows[rows], places, *tags[rows, places].T)


def _batch_size(widths: NDArray[np.intp], tokens: int) -> int:
    """How many windows, of ascending widths, make a batch: within the budget, at most 1/8 of it padding."""
    fits = (widths * np.arange(1, len(widths) + 1) <= tokens) & (widths <= widths[0] * 9 // 8 + 1)
    return len(fits) if fits.all() else max(1, int(np.argmin(fits)))


def cores() -> int:
    """How many cores this process may use."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(found, _quota(found)))


def _quota(cores: int) -> int:
    """How many cores' time a container may use, where the system says so: more threads would be stopped."""
    try:
        time, period = CPU_QUOTA.read_text("ascii").split()
        return round(int(time) / int(period))
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
        return cores
