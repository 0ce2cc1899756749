"""From right ids to the rows that a speller learns from: errors of all kinds, masks, targets and tags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import check_range
from nmspeller.lab.data.alignment import EXTRA, SWAPPED
from nmspeller.lab.data.edit_noise import KINDS, EditNoise, Line
from nmspeller.lab.data.neighbours import Neighbours
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models.batch import NO_TARGET
from nmspeller.text.vocabulary import Vocabulary


class Row(NamedTuple):
    """ids with [CLS] and [SEP], their targets, and their tags (bits as in `alignment`), (tokens,) each.

    The tag of [SEP] says whether something is missing at the end. NO_TARGET stands where nothing is learnt.
    """

    ids: NDArray[np.integer]
    targets: NDArray[np.integer]
    tags: NDArray[np.integer]

    @classmethod
    def filler(cls, tokens: int, pad: int) -> "Row":
        """A row of [PAD], from which nothing is learnt."""
        nothing = np.full(tokens, NO_TARGET, dtype=np.int64)
        return cls(np.full(tokens, pad, dtype=np.int64), nothing, nothing)


@dataclass(frozen=True)
class NoiseConfig:
    """How right text becomes a training row.

    profiles: the share of rows that follow each noise profile.
    clean: share of rows left without any error.
    similar: share of the other rows with errors that resemble what is right.
    density: such errors per character, drawn evenly between the two values.
    dense: share of the rows with such errors in which they are as dense as `dense_density`.
    least_errors: the expected errors of a noisy row are at least this many, however short it is.
    unlike: share of the rows that are not clean with one or two errors that resemble nothing.
    edits: share of the rows that are not clean with one or two characters missing, extra or swapped.
    edit_kinds: how these are divided among the three.
    spare_masks: share of the rows, real pairs too, with a [MASK] too many or too few in a gap.
    masked: share of rows, real pairs too, in which spans are also hidden behind [MASK]. It makes a speller
    read the context instead of learning wrong characters by heart (masked fine-tuning, Wu et al. 2023).
    mask_rate: share of the characters of such a row that are hidden.
    masked_targets: BERT's own task, in pretraining: only the characters to hide are targets, and of these
    80 % are hidden, 10 % replaced by any Hanzi and 10 % left as they are.
    """

    profiles: Mapping[str, float] = field(
        default_factory=lambda: {"learner": 0.5, "input_method": 0.4, "scanner": 0.1}
    )
    clean: float = 0.1
    similar: float = 1.0
    density: tuple[float, float] = (0.01, 0.08)
    dense: float = 0.0
    dense_density: tuple[float, float] = (0.08, 0.2)
    least_errors: float = 1.0
    unlike: float = 0.0
    edits: float = 0.0
    edit_kinds: Mapping[str, float] = field(
        default_factory=lambda: {"missing": 0.44, "extra": 0.46, "swapped": 0.1}
    )
    spare_masks: float = 0.0
    masked: float = 0.0
    mask_rate: float = 0.15
    masked_targets: bool = False

    def __post_init__(self) -> None:
        shares = ("clean", "similar", "dense", "unlike", "edits", "spare_masks", "masked", "mask_rate")
        check_range(self, *shares, least=0, most=1)
        check_range(self, "least_errors", least=0)
        for low, high in (self.density, self.dense_density):
            if not 0 <= low <= high <= 1:
                raise InputError(
                    f"density is {low} to {high}; give two shares from 0 to 1, the smaller first."
                )
        if set(self.edit_kinds) != set(KINDS) or not sum(self.edit_kinds.values()) > 0:
            raise InputError(
                f"edit_kinds are {dict(self.edit_kinds)}; give each of {', '.join(KINDS)} a share."
            )
        profiles = self.profiles.values()
        if min(profiles, default=0) < 0 or not sum(profiles) > 0:
            raise InputError(f"profiles are {dict(self.profiles)}; give each a share, and one more than 0.")


class Corrupter:
    """Turns right ids into rows with errors.

    neighbours: needed where the config asks for errors that resemble nothing, edits or spare masks.
    limit: how many characters a row may have.
    """

    def __init__(
        self,
        noise: NoiseModel,
        vocabulary: Vocabulary,
        config: NoiseConfig,
        *,
        neighbours: Neighbours | None = None,
        limit: int = 126,
    ) -> None:
        self.noise, self.vocabulary, self.config = noise, vocabulary, config
        self.profiles = np.array([noise.profile_index(name) for name in config.profiles])
        shares = np.array(list(config.profiles.values()), dtype=np.float64)
        self.shares = shares / shares.sum()
        kinds = np.cumsum([config.edit_kinds[kind] for kind in KINDS])
        self.kinds = kinds / kinds[-1]
        self.edits = EditNoise(neighbours, vocabulary, limit) if neighbours else None

    @classmethod
    def of(cls, prepared: Prepared, config: NoiseConfig, limit: int) -> "Corrupter":
        """The one of a prepared folder, whose table of neighbours is read only where it is needed."""
        needed = config.unlike or config.edits or config.spare_masks
        neighbours = prepared.neighbours if needed else None
        return cls(prepared.noise, prepared.vocabulary, config, neighbours=neighbours, limit=limit)

    def __call__(
        self, right: NDArray[np.int32], lengths: NDArray[np.integer], random: np.random.Generator
    ) -> NDArray[np.int32]:
        """right: (rows, length), padded with [PAD]; lengths: (rows,) → the rows with errors and masks."""
        config = self.config
        clean = random.random(len(right)) < config.clean
        return self.hide(self._misspell(right, lengths, clean, random), right, random)

    def rows(
        self, right: NDArray[np.int32], lengths: NDArray[np.integer], random: np.random.Generator
    ) -> list[Row]:
        """The same, with errors of all kinds, as rows to train on."""
        config, count = self.config, len(right)
        clean = random.random(count) < config.clean
        wrong = self._misspell(right, lengths, clean, random)
        edited, unlike = random.random((2, count)) < [[config.edits], [config.unlike]]
        if self.edits:
            for number in np.flatnonzero(unlike & ~clean).tolist():
                line = self._line(wrong, right, lengths, number)
                self.edits.make_unlike(line, random)
                wrong[number, : lengths[number]] = line.ids
        wrong = self.hide(wrong, right, random)
        rows = []
        for number in range(count):
            line = self._line(wrong, right, lengths, number)
            if self.edits and edited[number] and not clean[number]:
                self.edits.edit(line, self.kinds, random)
            rows.append(self._finish(line, random))
        return rows

    def real_rows(
        self,
        wrong: NDArray[np.int32],
        right: NDArray[np.int32],
        tags: Sequence[NDArray[np.integer]],
        random: np.random.Generator,
    ) -> list[Row]:
        """Real pairs, (rows, length) padded with [PAD], with masks; tags: (characters + 1,) of each."""
        hidden = self.hide(wrong, right, random)
        rows = []
        for masked, ids, labels, own in zip(hidden, wrong, right, tags, strict=True):
            # Nobody can tell which character is extra where it is hidden.
            seen = np.where(own[:-1] & EXTRA, ids[: len(own) - 1], masked[: len(own) - 1])
            line = Line(seen.tolist(), labels[: len(own) - 1].tolist(), own.tolist())
            rows.append(self._finish(line, random))
        return rows

    def _misspell(
        self,
        right: NDArray[np.int32],
        lengths: NDArray[np.integer],
        clean: NDArray[np.bool_],
        random: np.random.Generator,
    ) -> NDArray[np.int32]:
        """Rows, (rows, length), with errors that resemble what is right, but for the clean ones."""
        config, count = self.config, len(right)
        profile = random.choice(self.profiles, size=count, p=self.shares)
        density = random.uniform(*config.density, size=count)
        if config.dense:
            dense = random.random(count) < config.dense
            density = np.where(dense, random.uniform(*config.dense_density, size=count), density)
        errors = np.maximum(density * lengths, config.least_errors)
        errors[clean | (random.random(count) >= config.similar)] = 0
        return self.noise.corrupt(right, profile, errors, random)

    @staticmethod
    def _line(
        wrong: NDArray[np.int32], right: NDArray[np.int32], lengths: NDArray[np.integer], number: int
    ) -> Line:
        length = int(lengths[number])
        return Line(wrong[number, :length].tolist(), right[number, :length].tolist())

    def _finish(self, line: Line, random: np.random.Generator) -> Row:
        if self.edits and random.random() < self.config.spare_masks:
            self.edits.add_masks(line, random)
        ids, labels = np.array(line.ids, np.int64), np.array(line.labels, np.int64)
        return with_specials(ids, labels, self.vocabulary, np.array(line.tags, np.int64))

    def hide(
        self, wrong: NDArray[np.int32], right: NDArray[np.int32], random: np.random.Generator
    ) -> NDArray[np.int32]:
        """Hide spans of some of the rows, (rows, length) each, behind [MASK]; misspelt characters stay.

        Spans have one to three characters, a word's length.
        """
        rows = np.flatnonzero(random.random(len(right)) < self.config.masked)
        if not len(rows):
            return wrong
        shape = right[rows].shape
        starts = random.random(shape, dtype=np.float32) < self.config.mask_rate / 1.75
        width = random.random(shape, dtype=np.float32)
        hidden = starts.copy()
        hidden[:, 1:] |= (starts & (width > 0.4))[:, :-1]
        hidden[:, 2:] |= (starts & (width > 0.85))[:, :-2]
        hidden &= (wrong[rows] == right[rows]) & (right[rows] != self.vocabulary.pad)
        masked: NDArray[np.int32] = wrong.copy()
        masked[rows] = np.where(hidden, self.vocabulary.mask, wrong[rows])
        return masked


def with_specials(
    wrong: NDArray[np.integer],
    right: NDArray[np.integer],
    vocabulary: Vocabulary,
    tags: NDArray[np.integer] | None = None,
) -> Row:
    """[CLS] wrong [SEP] and its targets; an unknown character teaches nothing.

    tags: (characters + 1,); nothing is missing or extra if not given. What is swapped follows from the rest.
    """
    ids = np.empty(len(wrong) + 2, dtype=np.int64)
    ids[0], ids[1:-1], ids[-1] = vocabulary.cls, wrong, vocabulary.sep
    targets = np.full(len(wrong) + 2, NO_TARGET, dtype=np.int64)
    targets[1:-1] = right
    targets[1:-1][right == vocabulary.unk] = NO_TARGET
    labelled = np.zeros(len(wrong) + 2, dtype=np.int64)
    labelled[0] = NO_TARGET
    if tags is not None:
        labelled[1:] = tags
    swapped = (wrong[:-1] == right[1:]) & (wrong[1:] == right[:-1]) & (wrong[:-1] != wrong[1:])
    labelled[1:-2][swapped] |= SWAPPED
    return Row(ids, targets, labelled)
