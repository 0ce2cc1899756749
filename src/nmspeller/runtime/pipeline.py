"""A model folder, loaded: parts of texts in, the model's changes out."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.decoder import Decoder, Detections, ScoringEngine, confidence
from nmspeller.runtime.device import Device, open_engine, open_prefilter, prefilter_files, weight_files
from nmspeller.runtime.edits import Change
from nmspeller.runtime.engine import Floats, Ids, TagScores
from nmspeller.runtime.explain import is_explained
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.part_batch import PartBatch
from nmspeller.runtime.policy import TAGGED, Level, Policy, Thresholds
from nmspeller.runtime.prefilter import COMMAND, Prefilter, PrefilterThresholds
from nmspeller.runtime.reading import Mended, Part
from nmspeller.runtime.tag_decoder import Proposal, TagDecoder, repeats_neighbours
from nmspeller.runtime.verified import verifying
from nmspeller.text.script import is_traditional
from nmspeller.text.vocabulary import Vocabulary

SHIPPED = Path(__file__).parents[1] / "shipped"
"""The model that comes with the package."""


class Pipeline:
    """A model folder, loaded: the model itself, `vocab.txt`, `policy.json` and, if asked for, the prefilter.

    Attributes:
        policy: of `policy.json`, with the prefilter's thresholds.
        vocabulary: of `vocab.txt`.
        engine_name: what computes.

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
        weights = weight_files(folder, device)
        self._files = [*weights, folder / "vocab.txt", folder / "policy.json"]
        self.policy = Policy.read(folder / "policy.json")
        with verifying(weights, self.policy.sha256):
            self.vocabulary = Vocabulary.from_file(folder / "vocab.txt")
            engine = open_engine(folder, self.vocabulary, device, threads=threads)
        self.engine_name = engine.name
        if self.policy.window > engine.longest:
            raise InputError(
                _("{folder}/policy.json asks for windows of more than {number} characters.").format(
                    folder=folder, number=engine.longest
                )
            )
        self._prefilter: Prefilter | None = None
        if prefilter:
            files = prefilter_files(folder)
            self._files += files
            self._prefilter = open_prefilter(folder, self.vocabulary, device, threads=threads)
            self._add_prefilter_thresholds(self._prefilter, *files)
        hanzi = self.vocabulary.is_hanzi()
        simplified = np.array([not is_traditional(token) for token in self.vocabulary.tokens], np.bool_)
        # No method of this object: a cycle would keep the weights until the next full garbage collection.
        explains = partial(_explains, self.vocabulary.tokens)
        self._decoder = Decoder(
            engine, hanzi, hanzi & simplified, self.vocabulary.unk, explains, self._prefilter
        )
        self._tag_decoder = TagDecoder(engine, self.vocabulary, self._decoder.targets, self.policy.evidence)

    def wrap_engine(self, wrap: Callable[[ScoringEngine], ScoringEngine]) -> None:
        """Put something between the pipeline and its engine."""
        engine = wrap(self._decoder.engine)
        self._decoder = replace(self._decoder, engine=engine)
        self._tag_decoder = replace(self._tag_decoder, engine=engine)

    def _add_prefilter_thresholds(self, prefilter: Prefilter, path: Path, thresholds: Path) -> None:
        if self.policy.window > prefilter.longest:
            raise InputError(
                _(
                    "{path} reads at most {longest} characters at once, and policy.json beside it "
                    "asks for windows of {window}; write it again with `{command}`."
                ).format(
                    path=path,
                    longest=prefilter.longest,
                    window=self.policy.window,
                    command=COMMAND,
                )
            )
        least = PrefilterThresholds.read(thresholds).levels
        levels = {
            level: replace(thresholds, prefilter=least[level])
            for level, thresholds in self.policy.levels.items()
        }
        self.policy = replace(self.policy, levels=levels)

    @property
    def window(self) -> int:
        """How many characters the model reads at once."""
        return self.policy.window

    @property
    def batch_characters(self) -> int:
        """How many characters are best handed over at a time."""
        return self._decoder.engine.characters_per_batch

    @cached_property
    def has_tags(self) -> bool:
        """Whether the model says which characters are extra, and where some are missing."""
        ids, starts = np.array([self.vocabulary.unk], np.int32), np.zeros(1, np.intp)
        scores = self._decoder.engine.scores(ids, starts, starts + 1, np.inf, 0.0, few=True)
        return any(len(each.tags.places) > 0 for each in scores)

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of all files that determine the edits: model, vocabulary, policy, prefilter."""
        digest = hashlib.sha256()
        for path in self._files:
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def read(self, parts: Sequence[Part], level: Level) -> list[tuple[Change, ...]]:
        """What the model changes in each part, in order."""
        return self.changes(parts, self.policy.levels[level])

    def changes(self, parts: Sequence[Part], thresholds: Thresholds) -> list[tuple[Change, ...]]:
        """The same with any thresholds."""
        different = list(dict.fromkeys(parts))
        if len(different) < len(parts):
            # Cells of a table, subtitles and contracts repeat themselves, and a part says all that is read.
            read = dict(zip(different, self.changes(different, thresholds), strict=True))
            return [read[part] for part in parts]
        found: list[tuple[Change, ...]] = []
        for batch, detections, tags in self._find(parts, thresholds, self.policy.passes):
            replaced = self._replacements(batch, detections)
            if len(tags.places):
                self._edit_as_tagged(batch, replaced, tags, thresholds)
            found += replaced
        return found

    def _edit_as_tagged(
        self, batch: PartBatch, found: list[tuple[Change, ...]], tags: TagScores, thresholds: Thresholds
    ) -> None:
        """Put what the tags lead to into `found`, with the replacements that hold once it is made."""
        tagged = self._tag_decoder.find(batch, tags, thresholds)
        surer = {
            number: [
                change
                for change in changes
                if not _is_outdone(change, batch.parts[number].text, found[number])
            ]
            for number, changes in tagged.items()
        }
        edited = {number: changes for number, changes in surer.items() if changes}
        read_again = [_Edited(batch.parts[number], changes) for number, changes in edited.items()]
        replaced: list[tuple[Change, ...]] = []
        without_tags = replace(thresholds, **dict.fromkeys(TAGGED, 2.0), prefilter=0.0)
        for again, detections, _tags in self._find(
            [each.part for each in read_again], without_tags, self.policy.passes, few=True
        ):
            replaced += self._replacements(again, detections)
        for number, each, changes in zip(edited, read_again, replaced, strict=True):
            together = [*each.changes, *each.in_source(changes)]
            found[number] = tuple(sorted(together, key=lambda change: change.place))

    def proposals(self, parts: Sequence[Part]) -> Iterator[tuple[int, Proposal]]:
        """Every edit that a tag may lead to, with the number of its part; for fitting weights."""
        everything = Thresholds(2.0, 2.0, **dict.fromkeys(TAGGED, 0.0))
        first = 0
        for batch, _detections, tags in self._find(parts, everything, 1):
            for proposal in self._tag_decoder.proposals(batch, tags):
                yield first + proposal.part, proposal
            first += len(batch.parts)

    def _replacements(self, batch: PartBatch, detections: Detections) -> list[tuple[Change, ...]]:
        """The detections of each part, as characters."""
        bounds = np.searchsorted(detections.positions, batch.offsets).tolist()
        confidences = confidence(detections.probabilities, detections.source_probabilities)
        return [
            self._changes(detections, confidences, range(*bounds[number : number + 2]), offset)
            for number, offset in enumerate(batch.offsets[:-1].tolist())
        ]

    def detect(
        self, parts: Iterable[Part], thresholds: Thresholds, passes: int
    ) -> Iterator[tuple[PartBatch, Detections]]:
        """The parts, in order and in batches, each with the characters to replace in it."""
        for batch, found, _tags in self._find(parts, thresholds, passes):
            yield batch, found

    def _find(
        self, parts: Iterable[Part], thresholds: Thresholds, passes: int, few: bool = False
    ) -> Iterator[tuple[PartBatch, Detections, TagScores]]:
        for batch in self._batches(parts):
            yield (
                batch,
                *self._decoder.find(
                    batch.ids, batch.allowed, batch.in_names, batch.windows, thresholds, passes, few
                ),
            )

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
        return _explains(self.vocabulary.tokens, originals, targets)

    def _changes(
        self, found: Detections, confidences: Floats, numbers: range, start: int
    ) -> tuple[Change, ...]:
        """The detections of one part, which starts at the flat position `start`, as characters."""
        tokens, proposable = self.vocabulary.tokens, self._decoder.targets
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


def _explains(tokens: Sequence[str], originals: Ids, targets: Ids) -> NDArray[np.bool_]:
    pairs = zip(originals.tolist(), targets.tolist(), strict=True)
    return np.array([is_explained(tokens[original], tokens[target]) for original, target in pairs], bool)


def _is_outdone(change: Change, text: str, replacements: Iterable[Change]) -> bool:
    """Whether what seems extra or swapped is more surely wrong; what repeats its neighbours is extra."""
    stop = change.offset + change.length
    if not change.target and repeats_neighbours(text, change.offset, stop):
        return False
    return any(
        change.offset <= other.offset < stop
        and other.confidence > change.confidence
        and other.target != change.target[other.offset - change.offset :][:1]
        for other in replacements
    )


def _by_character(change: Change) -> Iterator[Change]:
    """A swap as two replacements, all else as it is."""
    if len(change.target) == change.length:
        for shift, character in enumerate(change.target):
            yield change._replace(offset=change.offset + shift, target=character, length=1)
    else:
        yield change


class _Edited:
    """A part with the edits of tags made, and the way back of what is found in it then."""

    def __init__(self, part: Part, changes: list[Change]) -> None:
        self.changes = [single for change in changes for single in _by_character(change)]
        edits = [
            Edit(each.offset, each.length, part.text[each.offset : each.offset + each.length], each.target,
                 each.probability, (), Reason.CONTEXT)
            for each in changes
        ]  # fmt: skip
        self._mended = Mended(part.text, edits)
        locked = [self._mended.range_of(start, stop) for start, stop in part.locked]
        locked += [(span.mended_start, span.mended_stop) for span in self._mended.edited]
        text = self._mended.text
        self.part = Part(text, 0, len(text), tuple(sorted(locked)))

    def in_source(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes with their places in the part as it was given."""
        return (change._replace(offset=self._mended.to_source(change.offset)) for change in changes)
