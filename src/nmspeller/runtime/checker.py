"""The checker: a model, the user's words and the rules, behind every app.

Apps drive it in their own way: the command line at once, the server in turns with other requests, an editor
with the parts that it has not read before. The algorithm itself is in `analysis` and `reading`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from nmspeller.errors import InputError
from nmspeller.files import path_of
from nmspeller.messages import _
from nmspeller.runtime.analysis import Analyzer, Check
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.device import Device
from nmspeller.runtime.dictionary import PairsOrFiles, ReplacementSources, Words, word_sources
from nmspeller.runtime.edits import Change
from nmspeller.runtime.engine import cores
from nmspeller.runtime.native.library import MOST_THREADS
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level
from nmspeller.runtime.reading import Part
from nmspeller.runtime.rule_matches import DEFAULT_RULES, Chosen, chosen_rules


class Model(Protocol):
    """What reads parts of texts; `Pipeline` does so with the model of a folder."""

    @property
    def model_hash(self) -> str:
        """Identifies the model and all else that decides what it changes."""

    @property
    def window(self) -> int:
        """How many characters it reads at once."""

    @property
    def batch_characters(self) -> int:
        """How many characters are best handed over at a time."""

    def read(self, parts: Sequence[Part], level: Level) -> list[tuple[Change, ...]]:
        """What it changes in each part, in order; the same alone and in company."""


class Checker:
    """Checks documents with a model, words, replacements and rules; may be used from several threads.

    Attributes:
        model: reads the parts.
        level: how confident the model must be, where a check does not say.
    """

    def __init__(
        self,
        model: Model,
        *,
        level: Level | str = Level.BALANCED,
        words: Words | None = None,
        replacements: PairsOrFiles | None = None,
        rules: Chosen = False,
    ) -> None:
        self.model = model
        self.level = Level.parse(level)
        self._words = word_sources(words)
        self._replacements = ReplacementSources(replacements)
        self._rules = chosen_rules(rules)

    @property
    def model_hash(self) -> str:
        """Identifies the model and all else that decides what it changes."""
        return self.model.model_hash

    def analyzer(
        self,
        *,
        words: Words | None = None,
        replacements: PairsOrFiles | None = None,
        rules: Chosen | None = None,
    ) -> Analyzer:
        """What prepares documents for the model, with the present words and replacements.

        Args:
            words: further words that must not be changed.
            replacements: further texts that are always replaced; they go before the checker's own.
            rules: the checker's own rules by default.
        """
        matchers = [source.current() for source in (*self._words, *word_sources(words))]
        return Analyzer(
            self.model.window,
            [matcher for matcher in matchers if len(matcher)],
            self._replacements.current(replacements),
            self._rules if rules is None else chosen_rules(rules),
        )

    def begin(
        self, texts: Sequence[str], *, words: Words | None = None, rules: Chosen | None = None
    ) -> Check:
        """The check of one document, whose passages the texts are; see `analyzer` for the others."""
        return self.analyzer(words=words, rules=rules).analyze(texts)

    def read(self, parts: Sequence[Part], level: Level | str | None = None) -> list[tuple[Change, ...]]:
        """What the model changes in each part; its own level by default."""
        return self.model.read(parts, self.level if level is None else Level.parse(level))

    def check_many(
        self,
        texts: Iterable[str],
        *,
        level: Level | str | None = None,
        words: Words | None = None,
        replacements: PairsOrFiles | None = None,
        rules: Chosen | None = None,
    ) -> list[Correction]:
        """The correction of each text, a document of its own: the same alone and in company.

        See `analyzer` for the words, replacements and rules.
        """
        if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
            raise InputError(_("give texts as a list of texts; `check` takes one."))
        level = self.level if level is None else Level.parse(level)
        analyzer = self.analyzer(words=words, replacements=replacements, rules=rules)
        corrections: list[Correction] = []
        for checks in self._batches(analyzer.analyze([text]) for text in texts):
            found = iter(self.model.read([part for check in checks for part in check.parts], level))
            for check in checks:
                corrections += check.corrections(islice(found, len(check.parts)))
        return corrections

    def _batches(self, checks: Iterable[Check]) -> Iterator[list[Check]]:
        """Checks with as many characters together as the model best reads at a time."""
        batch: list[Check] = []
        size = 0
        for check in checks:
            batch.append(check)
            size += sum(len(part.text) for part in check.parts)
            if size >= self.model.batch_characters:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def open_checker(
    model: str | Path | None = None,
    *,
    level: Level | str = Level.BALANCED,
    words: Words | None = None,
    replacements: PairsOrFiles | None = None,
    threads: int | None = None,
    device: Device | str = Device.CPU,
    prefilter: bool = False,
    rules: Chosen = DEFAULT_RULES,
) -> Checker:
    """A checker with the model of a folder; the arguments are those of `nmspeller.Speller`."""
    pipeline = Pipeline(
        path_of(model) if model is not None else SHIPPED,
        threads=_number_of(threads),
        device=Device.parse(device),
        prefilter=prefilter,
    )
    return Checker(pipeline, level=level, words=words, replacements=replacements, rules=rules)


def _number_of(threads: int | None) -> int | None:
    """How many threads a user asks for, at most as many as can work on one reading or as there are cores.

    Raises:
        InputError: it is no number of threads.
    """
    if threads is None:
        return None
    if not isinstance(threads, int) or threads < 1:
        raise InputError(_("threads must be a whole number above 0, not {given!r}.").format(given=threads))
    return min(threads, max(MOST_THREADS, cores()))
