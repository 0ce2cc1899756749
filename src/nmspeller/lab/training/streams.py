"""What a speller reads while it learns: batches of arrays and noise, functions of seed and step.

A stream is indexed by step and makes the batch of that step from scratch. So any number of worker processes
may make batches ahead, two processes may share a batch's rows, and a run that was killed goes on exactly
where it was.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.prepared import Prepared, sentence_windows
from nmspeller.lab.training.corruption import Corrupter, NoiseConfig, Row, with_specials


class Stream(Protocol):
    """Batches by step; `len` is how many there are."""

    def __len__(self) -> int: ...

    def rows(self, step: int) -> list[Row]: ...


class CorpusStream:
    """Rows of one length cut from running text: the stream for pretraining.

    Each pass over the corpus starts at another offset, so that no row comes twice.
    """

    def __init__(
        self, prepared: Prepared, noise: NoiseConfig, *, steps: int, batch_rows: int, length: int, seed: int
    ) -> None:
        self.prepared, self.steps, self.batch_rows, self.seed = prepared, steps, batch_rows, seed
        self.characters = length - 2
        self.corrupter = Corrupter(prepared.noise, prepared.vocabulary, noise)
        self._order: tuple[int, NDArray[np.int64]] | None = None

    @cached_property
    def text(self) -> NDArray[np.uint16]:
        # Paragraphs stay apart by [SEP], which the model knows and the noise leaves alone.
        ids = self.prepared.corpus()
        return np.where(ids == self.prepared.vocabulary.pad, self.prepared.vocabulary.sep, ids).astype(
            np.uint16
        )

    def __len__(self) -> int:
        return self.steps

    def rows(self, step: int) -> list[Row]:
        per_pass = len(self.text) // self.characters - 1
        numbers = np.arange(step * self.batch_rows, (step + 1) * self.batch_rows)
        starts = np.concatenate(
            [
                self._starts(turn, per_pass)[numbers[numbers // per_pass == turn] % per_pass]
                for turn in np.unique(numbers // per_pass)
            ]
        )
        right = self.text[starts[:, None] + np.arange(self.characters)].astype(np.int32)
        random = np.random.default_rng((self.seed, 1, step))
        wrong = self.corrupter(right, np.full(len(right), self.characters), random)
        vocabulary = self.prepared.vocabulary
        if self.corrupter.config.masked_targets:
            wrong, right = self._as_bert(wrong, right, random)
        right = np.where(right == vocabulary.sep, vocabulary.unk, right)  # no target at paragraph ends
        return [with_specials(w, r, vocabulary) for w, r in zip(wrong, right, strict=True)]

    def _as_bert(
        self, wrong: NDArray[np.int32], right: NDArray[np.int32], random: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows with masks, (rows, length) each, as BERT's pretraining has them; unknown is no target."""
        vocabulary = self.prepared.vocabulary
        hidden = wrong == vocabulary.mask
        drawn = random.random(wrong.shape, dtype=np.float32)
        others = random.choice(np.flatnonzero(vocabulary.is_hanzi()).astype(np.int32), size=wrong.shape)
        wrong = np.where(hidden & (drawn < 0.1), others, wrong)
        wrong = np.where(hidden & (drawn >= 0.9), right, wrong)
        return wrong, np.where(hidden, right, np.int32(vocabulary.unk))

    def _starts(self, turn: int, per_pass: int) -> NDArray[np.int64]:
        """The order of the rows in one pass over the corpus, (per_pass,)."""
        if self._order is None or self._order[0] != turn:
            random = np.random.default_rng((self.seed, 0, turn))
            self._order = (
                turn,
                random.permutation(per_pass) * self.characters + random.integers(self.characters),
            )
        return self._order[1]


class PairStream:
    """Real pairs, each set as many times as asked, and fresh synthetic pairs in every epoch.

    Synthetic pairs are made from running text, and from the right sides of the sets in `corrupted`, each as
    many times as asked. Batches hold a number of sentences, or as many as fit a number of tokens. Padded
    batches want pairs of similar length (`sort`); packed ones do not care.
    """

    POOL = 64  # batches among which pairs are sorted by length

    def __init__(
        self,
        prepared: Prepared,
        noise: NoiseConfig,
        *,
        copies: Mapping[str, int],
        synthetic: int,
        epochs: int,
        batch_sentences: int | None,
        batch_tokens: int | None,
        seed: int,
        limit: int = 126,
        corrupted: Mapping[str, int] | None = None,
        join: float = 0.4,
        sort: bool = True,
    ) -> None:
        self.prepared, self.seed, self.limit, self.sort = prepared, seed, limit, sort
        self.corrupter = Corrupter.of(prepared, noise, limit)
        asked = [*copies.items(), *(corrupted or {}).items()]
        self.real = len(copies)
        self.sets = [prepared.pairs(name) for name, _ in asked]
        parts_of_sets = [
            np.stack(
                np.broadcast_arrays(
                    number, np.tile(np.arange(len(pairs)), times), np.tile(pairs.lengths(), times)
                )
            )
            for number, (pairs, (_, times)) in enumerate(zip(self.sets, asked, strict=True))
        ]
        self.text = prepared.corpus() if synthetic else np.zeros(0, dtype=np.uint16)
        # Each (2, sentences): the set (-1 = synthetic), and the pair's index or the text's start.
        self.batches: list[NDArray[np.int64]] = []
        self.lengths: list[NDArray[np.int64]] = []
        for epoch in range(epochs):
            random = np.random.default_rng((seed, 2, epoch))
            parts = list(parts_of_sets)
            if synthetic:
                first, part = self._some_text(synthetic, random)
                starts, stops = sentence_windows(part, prepared.vocabulary, random, limit=limit, join=join)
                chosen = random.permutation(len(starts))[:synthetic]
                places = first + starts[chosen]
                parts.append(np.stack(np.broadcast_arrays(-1, places, (stops - starts)[chosen])))
            everything = np.concatenate([np.empty((3, 0), np.int64), *parts], axis=1)
            if not everything.size:
                raise InputError(
                    "a stage has nothing to learn from; give it copies of pairs, or synthetic ones."
                )
            everything = everything[:, random.permutation(everything.shape[1])]
            self._cut(everything, batch_sentences, batch_tokens, random)

    def _some_text(self, sentences: int, random: np.random.Generator) -> tuple[int, NDArray[np.uint16]]:
        """A span of the text that holds so many sentences, and where it starts.

        Cutting all of a large corpus takes longer than a small training. Text has a sentence, joined ones
        counted once, in every third of the limit; a small span may be unlike the others.
        """
        size = min(len(self.text), self.limit * (sentences // 2 + 100))
        first = int(random.integers(len(self.text) - size + 1))
        return first, self.text[first : first + size]

    def _cut(
        self,
        pairs: NDArray[np.int64],
        batch_sentences: int | None,
        batch_tokens: int | None,
        random: np.random.Generator,
    ) -> None:
        """Cut an epoch's pairs (3, pairs) into batches of similar length, in random order."""
        widths = np.minimum(pairs[2], self.limit) + 2
        typical = batch_sentences or max(1, int((batch_tokens or 0) / widths.mean()))
        cut: list[NDArray[np.int64]] = []
        for first in range(0, pairs.shape[1], typical * self.POOL):
            pool = pairs[:, first : first + typical * self.POOL]
            if self.sort:
                pool = pool[:, np.argsort(pool[2], kind="stable")]
            if batch_sentences:
                cut += np.split(pool, range(batch_sentences, pool.shape[1], batch_sentences), axis=1)
            else:
                tokens = np.cumsum(np.minimum(pool[2], self.limit) + 2)
                assert batch_tokens
                cut += np.split(
                    pool, np.searchsorted(tokens, np.arange(batch_tokens, tokens[-1], batch_tokens)), axis=1
                )
        for number in random.permutation(len(cut)):
            if cut[number].shape[1]:
                self.batches.append(cut[number][:2])
                self.lengths.append(np.minimum(cut[number][2], self.limit))

    def __len__(self) -> int:
        return len(self.batches)

    def rows(self, step: int) -> list[Row]:
        vocabulary = self.prepared.vocabulary
        (sets, indices), lengths = self.batches[step], self.lengths[step]
        random = np.random.default_rng((self.seed, 3, step))
        made, real = np.flatnonzero(sets < 0), np.flatnonzero((sets >= 0) & (sets < self.real))
        corrupted = np.flatnonzero(sets >= self.real)
        rows: list[Row] = []
        if len(real):
            pairs = [self.sets[sets[place]][int(indices[place])] for place in real]
            wrong, right = (self._rectangle([pair[side] for pair in pairs]) for side in (0, 1))
            tags = [self.sets[sets[place]].tags_of(int(indices[place])) for place in real]
            tags = [self._cut_tags(own, length) for own, length in zip(tags, lengths[real], strict=True)]
            rows += self.corrupter.real_rows(wrong, right, tags, random)
        if len(corrupted):
            right = self._rectangle([self.sets[sets[place]][int(indices[place])][1] for place in corrupted])
            rows += self.corrupter.rows(right, lengths[corrupted], random)
        if len(made):
            width = int(lengths[made].max())
            columns = np.arange(width)
            inside = columns < lengths[made][:, None]
            right = self.text[np.minimum(indices[made][:, None] + columns, len(self.text) - 1)].astype(
                np.int32
            )
            right = np.where(inside, right, vocabulary.pad)
            rows += self.corrupter.rows(right, lengths[made], random)
        return rows

    @staticmethod
    def _cut_tags(tags: NDArray[np.uint8], length: int) -> NDArray[np.uint8]:
        """The tags of a row that is cut to a length, (length + 1,); nothing is known of its new end."""
        return tags if len(tags) == length + 1 else np.append(tags[:length], np.uint8(0))

    def _rectangle(self, rows: Sequence[NDArray[np.uint16]]) -> NDArray[np.int32]:
        """Rows of ids, cut to the limit and padded to it: (rows, limit)."""
        padded = np.full((len(rows), self.limit), self.prepared.vocabulary.pad, dtype=np.int32)
        for number, row in enumerate(rows):
            padded[number, : len(row)] = row[: self.limit]
        return padded
