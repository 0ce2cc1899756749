"""A model folder, loaded: parts of texts in, the model's changes out."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.decoder import Decoder, Detections, confidence
from nmspeller.runtime.device import Device, open_engine, prefilter_files, weight_files
from nmspeller.runtime.edits import Change
from nmspeller.runtime.engine import Floats, Ids
from nmspeller.runtime.explain import is_explained
from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.policy import Level, Policy, Thresholds
from nmspeller.runtime.prefilter import Prefilter, PrefilterThresholds
from nmspeller.runtime.reading import Part
from nmspeller.text.script import is_traditional
from nmspeller.text.vocabulary import Vocabulary

SHIPPED = Path(__file__).parents[1] / "shipped"
"""The model that comes with the package."""


class Pipeline:
    """A model folder, loaded: the model itself, `vocab.txt`, `policy.json` and, if asked for, the prefilter.

    Attributes:
        policy: of `policy.json`, with the prefilter's thresholds.
        vocabulary: of `vocab.txt`.

    Raises:
        InputError: a file is missing, damaged or of another model.
    """

    def __init__(
        self,
        folder: Path,
        *,
        threads: int | None = None,
        device: Device = Device.CPU,
        prefilter: bool = False,
    ) -> None:
        self._files = [*weight_files(folder, device), folder / "vocab.txt", folder / "policy.json"]
        self.policy = Policy.read(folder / "policy.json")
        self.vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        engine = open_engine(folder, self.vocabulary, device, threads=threads)
        if self.policy.window > engine.longest:
            raise InputError(
                _("{folder}/policy.json asks for windows of more than {number} characters.").format(
                    folder=folder, number=engine.longest
                )
            )
        self._prefilter: Prefilter | None = None
        if prefilter:
            files = prefilter_files(folder, device)
            self._files += files
            self._prefilter = self._open_prefilter(*files, threads)
        hanzi = self.vocabulary.is_hanzi()
        simplified = np.array([not is_traditional(token) for token in self.vocabulary.tokens], np.bool_)
        self._decoder = Decoder(
            engine, hanzi, hanzi & simplified, self.vocabulary.unk, self.explains, self._prefilter
        )

    def _open_prefilter(self, path: Path, thresholds: Path, threads: int | None) -> Prefilter:
        prefilter = Prefilter(path, self.vocabulary, threads=threads)
        if self.policy.window > prefilter.longest:
            raise InputError(
                _(
                    "{path} reads at most {longest} characters at once, and policy.json beside it "
                    "asks for windows of {window}; write it again with `{command}`."
                ).format(
                    path=path,
                    longest=prefilter.longest,
                    window=self.policy.window,
                    command=prefilter.command,
                )
            )
        least = PrefilterThresholds.read(thresholds).levels
        levels = {
            level: replace(thresholds, prefilter=least[level])
            for level, thresholds in self.policy.levels.items()
        }
        self.policy = replace(self.policy, levels=levels)
        return prefilter

    @property
    def window(self) -> int:
        """How many characters the model reads at once."""
        return self.policy.window

    @property
    def batch_characters(self) -> int:
        """How many characters are best handed over at a time."""
        return self._decoder.engine.characters_per_batch

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of all files that determine the edits: model, vocabulary, policy, prefilter."""
        digest = hashlib.sha256()
        for path in self._files:
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def read(self, parts: Sequence[Part], level: Level) -> list[tuple[Change, ...]]:
        """What the model changes in each part, in order."""
        found: list[tuple[Change, ...]] = []
        for batch, detections in self.detect(parts, self.policy.levels[level], self.policy.passes):
            bounds = np.searchsorted(detections.positions, batch.offsets).tolist()
            for number, offset in enumerate(batch.offsets[:-1].tolist()):
                here = range(*bounds[number : number + 2])
                found.append(self._changes(detections, here, offset) if here else ())
        return found

    def detect(
        self, parts: Iterable[Part], thresholds: Thresholds, passes: int
    ) -> Iterator[tuple[PartBatch, Detections]]:
        """The parts, in order and in batches, each with its detections."""
        for batch in self._batches(parts):
            sentences = batch.sentences() if self._prefilter is not None else None
            found = self._decoder.find(batch.ids, batch.allowed, batch.windows, thresholds, passes, sentences)
            yield batch, found

    def prefilter_scores(self, parts: Iterable[Part]) -> Iterator[tuple[PartBatch, Floats]]:
        """The parts in batches, each with the error scores of its characters: (characters,)."""
        assert self._prefilter is not None, "opened without a prefilter"
        for batch in self._batches(parts):
            allowed = batch.allowed & self._decoder.replaceable[batch.ids]
            yield batch, self._prefilter.error_scores(batch.ids, allowed, batch.windows)

    def _batches(self, parts: Iterable[Part]) -> Iterator[PartBatch]:
        # Memory must not grow with the number of parts.
        gathered: list[Part] = []
        size = 0
        for part in parts:
            gathered.append(part)
            size += len(part.text)
            if size >= self.batch_characters:
                yield PartBatch(gathered, self.vocabulary)
                gathered, size = [], 0
        if gathered:
            yield PartBatch(gathered, self.vocabulary)

    def explains(self, originals: Ids, targets: Ids) -> NDArray[np.bool_]:
        """Whether similar sound or shape explains each of the pairs, (pairs,) each."""
        tokens = self.vocabulary.tokens
        pairs = zip(originals.tolist(), targets.tolist(), strict=True)
        return np.array([is_explained(tokens[original], tokens[target]) for original, target in pairs], bool)

    def _changes(self, found: Detections, numbers: range, start: int) -> tuple[Change, ...]:
        """The detections of one part, which starts at the flat position `start`, as characters."""
        tokens, proposable = self.vocabulary.tokens, self._decoder.targets
        confidences = confidence(found.probabilities, found.source_probabilities)
        changes = []
        for number in numbers:
            target, original = int(found.targets[number]), int(found.originals[number])
            others = zip(
                found.candidates[number].tolist(), found.candidate_probabilities[number].tolist(), strict=True
            )
            changes.append(
                Change(
                    offset=int(found.positions[number]) - start,
                    target=tokens[target],
                    probability=float(found.probabilities[number]),
                    confidence=float(confidences[number]),
                    others=tuple(
                        (tokens[other], probability)
                        for other, probability in others
                        if other not in (target, original) and proposable[other]
                    ),
                )
            )
        return tuple(changes)
