"""Speller: text in, edits out."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.dictionary import replacement_source, word_source
from nmspeller.runtime.edits import Change, edits_of
from nmspeller.runtime.engine import Engine, Ids
from nmspeller.runtime.explain import is_explained
from nmspeller.runtime.findings import Finder, Findings
from nmspeller.runtime.passage import Passage, prepare
from nmspeller.runtime.policy import Level, Policy
from nmspeller.text.protect import WordMatcher
from nmspeller.text.vocabulary import Vocabulary

SHIPPED = Path(__file__).parents[1] / "shipped"

# Texts are read this many characters at a time, so that memory does not grow with the number of texts.
_PASSAGE_CHARACTERS = 1 << 15


class Speller:
    """Finds and corrects wrongly written characters in Chinese text.

    A speller may be used from several threads at once, and may be pickled: it then takes its arguments along
    and loads the model again.

        >>> from nmspeller import Speller
        >>> speller = Speller()
        >>> speller.correct("我门去外国可以认识很多的人。")
        '我们去外国可以认识很多的人。'

    Args:
        model: a folder written by `nmspeller export`; the shipped model by default.
        level: how sure the speller must be: "careful", "balanced" or "thorough".
        words: words that are never edited, at hand or in a file of one word a line. A file is read again when
            it changes.
        replacements: texts that are always replaced, at hand or in a file of `wrong<TAB>right` a line, which is
            read again when it changes.
        threads: how many cores to use; all by default.

    Raises:
        InputError: the model or a file cannot be used; the message says why.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        level: Level | str = "balanced",
        words: Iterable[str] | Path | None = None,
        replacements: Mapping[str, str] | Path | None = None,
        threads: int | None = None,
    ) -> None:
        if isinstance(words, str) or isinstance(replacements, str):
            raise InputError("give a file as a Path, and words as a list; a plain string could be either.")
        if words is not None and not isinstance(words, Path):
            words = tuple(words)
        if replacements is not None and not isinstance(replacements, Path):
            replacements = dict(replacements)
        self._arguments: dict[str, Any] = {
            "model": model, "level": level, "words": words, "replacements": replacements, "threads": threads,
        }  # fmt: skip
        self._folder = Path(model) if model is not None else SHIPPED
        if not (self._folder / "model.onnx").is_file():
            raise InputError(
                f"{self._folder} holds no model.onnx; give a folder that `nmspeller export` wrote."
            )
        self._level = Level.parse(level)
        self._words, self._replacements = word_source(words), replacement_source(replacements)
        self._policy = Policy.read(self._folder / "policy.json")
        self.vocabulary = Vocabulary.from_file(self._folder / "vocab.txt")
        self._hanzi = self.vocabulary.is_hanzi()
        engine = Engine(self._folder / "model.onnx", self.vocabulary, threads=threads)
        self._finder = Finder(engine, self._hanzi, self._explains)

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, arguments: dict[str, Any]) -> None:
        self.__init__(**arguments)  # type: ignore[misc]

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of all that decides what is corrected: the model, its vocabulary and its policy."""
        digest = hashlib.sha256()
        for name in ("model.onnx", "vocab.txt", "policy.json"):
            digest.update((self._folder / name).read_bytes())
        return digest.hexdigest()

    def check(
        self, text: str, *, level: Level | str | None = None, words: Iterable[str] | None = None
    ) -> Correction:
        """What is wrong with a text.

        Args:
            text: any text, of any length.
            level: the speller's own level by default.
            words: further words that are not to be edited in this text.
        """
        return self.check_many([text], level=level, words=words)[0]

    def correct(self, text: str) -> str:
        """The text with every proposed edit made."""
        return self.check(text).text

    def check_many(
        self, texts: Iterable[str], *, level: Level | str | None = None, words: Iterable[str] | None = None
    ) -> list[Correction]:
        """What is wrong with each of many texts; faster than one by one, with the same answers."""
        chosen = self._level if level is None else Level.parse(level)
        if isinstance(words, str):
            raise InputError("give words as a list of words, not as one string.")
        matchers = [self._words.current(), WordMatcher(words or ())]
        matchers = [matcher for matcher in matchers if len(matcher)]
        passages = self._passages(texts, matchers)
        return list(chain.from_iterable(self._correct(passage, chosen) for passage in passages))

    def _passages(self, texts: Iterable[str], matchers: list[WordMatcher]) -> Iterator[Passage]:
        replacements, window = self._replacements.current(), self._policy.window
        prepared, size = [], 0
        for text in texts:
            prepared.append(prepare(text, matchers, replacements, window))
            size += len(text)
            if size >= _PASSAGE_CHARACTERS:
                yield Passage(prepared, self.vocabulary)
                prepared, size = [], 0
        if prepared:
            yield Passage(prepared, self.vocabulary)

    def _correct(self, passage: Passage, level: Level) -> Iterator[Correction]:
        thresholds = self._policy.levels[level]
        found = self._finder.find(
            passage.ids, passage.allowed, passage.windows, thresholds, self._policy.passes
        )
        bounds = np.searchsorted(found.positions, passage.offsets)
        for number, prepared in enumerate(passage.texts):
            first, last = bounds[number], bounds[number + 1]
            edits = list(prepared.replacements)
            if first < last:
                changes = self._changes(found, range(first, last), int(passage.offsets[number]))
                edits = sorted(
                    [*edits, *edits_of(changes, prepared.simplified)], key=lambda edit: edit.offset
                )
            text = prepared.simplified.source
            yield Correction(text, apply_edits(text, edits) if edits else text, tuple(edits))

    def _changes(self, found: Findings, numbers: range, start: int) -> list[Change]:
        """The findings of one text, which starts at `start`, as characters."""
        tokens, changes = self.vocabulary.tokens, []
        for number in numbers:
            target = int(found.targets[number])
            others = tuple(
                (tokens[candidate], float(probability))
                for candidate, probability in zip(
                    found.candidates[number], found.candidate_probabilities[number], strict=True
                )
                if candidate not in (target, found.originals[number]) and self._hanzi[candidate]
            )
            position = int(found.positions[number]) - start
            changes.append(Change(position, tokens[target], float(found.probabilities[number]), others))
        return changes

    def _explains(self, originals: Ids, targets: Ids) -> NDArray[np.bool_]:
        tokens = self.vocabulary.tokens
        pairs = zip(originals.tolist(), targets.tolist(), strict=True)
        return np.array([is_explained(tokens[original], tokens[target]) for original, target in pairs], bool)
