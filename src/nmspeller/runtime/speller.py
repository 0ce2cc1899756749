"""Speller: text in, edits out."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction, Hint, apply_edits
from nmspeller.runtime.decoder import Detections, confidence
from nmspeller.runtime.device import Device, prefilter_files, weight_files
from nmspeller.runtime.dictionary import replacement_source, word_matcher, word_sources
from nmspeller.runtime.edits import Change, edits_of
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level
from nmspeller.runtime.rule_edits import Chosen, chosen_rules, find_in_document, with_matches
from nmspeller.runtime.text_batch import TextBatch, prepare
from nmspeller.text.protect import WordMatcher
from nmspeller.text.script import Script

if TYPE_CHECKING:
    from nmspeller.runtime.rules import Rule, RuleMatch


class Speller:
    """Finds and corrects wrongly written characters in Chinese text.

    A speller may be used from several threads, and may be pickled: the copy loads the model again from the
    same arguments.

        >>> from nmspeller import Speller
        >>> speller = Speller()
        >>> speller.correct("我门去外国可以认识很多的人。")
        '我们去外国可以认识很多的人。'

    Args:
        model: a folder written by `nmspeller lab export`, or a checkpoint with a `policy.json`, which needs
            PyTorch; the shipped model by default.
        level: how confident an edit must be: "careful", "balanced" or "thorough".
        words: words that are never edited: a list, or a file with one word per line, which is reloaded when
            it changes. A list may have such files in it, as Paths.
        replacements: texts that are always replaced: a mapping, or a file with one `wrong<TAB>right` per
            line, which is reloaded when it changes.
        threads: how many cores to use; all by default.
        device: "cpu" or "cuda". A GPU needs PyTorch and onnx, and pays off for many texts per call.
        prefilter: let a very small model score every sentence first, so that the model reads only those that
            may contain an error, with their neighbours. Mostly correct text takes half the time; a few
            percent of edits are missed.
        rules: apply rules, too: True for those that are on by default, or the ids of some (see
            `nmspeller.runtime.rules.RULES`). Where a rule and the model differ, the model's edit is
            kept. Suspicious text that a rule cannot correct is in `Correction.hints`.

    Attributes:
        vocabulary: the characters that the model knows.
        window: how many characters the model reads at once.

    Raises:
        InputError: the model or a file cannot be used; the message says why.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        level: Level | str = "balanced",
        words: Iterable[str | Path] | Path | None = None,
        replacements: Mapping[str, str] | Path | None = None,
        threads: int | None = None,
        device: Device | str = "cpu",
        prefilter: bool = False,
        rules: Chosen = False,
    ) -> None:
        if isinstance(words, str) or isinstance(replacements, str):
            raise InputError(
                _("give a file as a Path and words as a list; a plain string could mean either.")
            )
        if isinstance(rules, str):
            raise InputError(_("give rules as True, False or a list of their ids, not as one string."))
        if words is not None and not isinstance(words, Path):
            words = tuple(words)
        if not isinstance(rules, bool):
            rules = tuple(rules)
        if replacements is not None and not isinstance(replacements, Path):
            replacements = dict(replacements)
        self._arguments: dict[str, Any] = {
            "model": model,
            "level": level,
            "words": words,
            "replacements": replacements,
            "threads": threads,
            "device": device,
            "prefilter": prefilter,
            "rules": rules,
        }
        self._level = Level.parse(level)
        self._words, self._replacements = word_sources(words), replacement_source(replacements)
        self._folder = Path(model) if model is not None else SHIPPED
        self._device = Device.parse(device)
        self._use_prefilter = prefilter
        self._rules = chosen_rules(rules)
        self._pipeline = Pipeline(self._folder, threads=threads, device=self._device, prefilter=prefilter)
        self.vocabulary = self._pipeline.vocabulary
        self.window = self._pipeline.policy.window

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, arguments: dict[str, Any]) -> None:
        self.__init__(**arguments)  # type: ignore[misc]

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of all files that determine the edits: model, vocabulary, policy, prefilter."""
        paths = [*weight_files(self._folder, self._device)]
        paths += [self._folder / "vocab.txt", self._folder / "policy.json"]
        if self._use_prefilter:
            paths += prefilter_files(self._folder, self._device)
        digest = hashlib.sha256()
        for path in paths:
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def check(
        self, text: str, *, level: Level | str | None = None, words: Iterable[str] | None = None
    ) -> Correction:
        """Check a text.

        Args:
            text: any text, of any length.
            level: the speller's own level by default.
            words: further words that must not be edited in this text.
        """
        return self.check_many([text], level=level, words=words)[0]

    def correct(self, text: str) -> str:
        """The text with every proposed edit applied."""
        return self.check(text).text

    def check_many(
        self,
        texts: Iterable[str],
        *,
        level: Level | str | None = None,
        words: Iterable[str] | None = None,
        document_script: Script = Script.NEUTRAL,
        rules: Chosen | None = None,
    ) -> list[Correction]:
        """Check many texts: the same results as one by one, and faster.

        Args:
            texts: any texts, of any lengths.
            level: the speller's own level by default.
            words: further words that must not be edited in these texts.
            document_script: of the document that the texts are parts of (`nmspeller.text.script.detect`
                finds it); a text that could be of either script is assumed to have it.
            rules: the speller's own rules by default.
        """
        if isinstance(texts, str):
            raise InputError(_("give texts as a list of texts; `check` takes one."))
        if isinstance(words, str):
            raise InputError(_("give words as a list of words, not as one string."))
        policy = self._pipeline.policy
        thresholds = policy.levels[self._level if level is None else Level.parse(level)]
        chosen = self._rules if rules is None else chosen_rules(rules)
        read = self._pipeline.read(
            texts,
            thresholds,
            policy.passes,
            self._matchers(words),
            self._replacements.current(),
            document_script,
        )
        return [
            correction
            for text_batch, found in read
            for correction in self._corrections(text_batch, found, chosen)
        ]

    def rule_matches(
        self, texts: Sequence[str], *, words: Iterable[str] | None = None, rules: Chosen | None = None
    ) -> list[list["RuleMatch"]]:
        """What the rules find in each of the texts that together are one document.

        `check_many` takes each text for a document of its own: it cannot see that a name is spelt in another
        way elsewhere. The arguments are those of `check_many`.
        """
        chosen = self._rules if rules is None else chosen_rules(rules)
        if not chosen:
            return [[] for text in texts]
        matchers, replacements = self._matchers(words), self._replacements.current()
        protected = [prepare(text, matchers, replacements, self.window).protected for text in texts]
        return find_in_document(texts, protected, chosen)

    def _matchers(self, words: Iterable[str] | None) -> list[WordMatcher]:
        matchers = [*(source.current() for source in self._words), word_matcher(words or ())]
        return [matcher for matcher in matchers if len(matcher)]

    def _corrections(
        self, text_batch: TextBatch, found: Detections, rules: Sequence["Rule"]
    ) -> Iterator[Correction]:
        bounds = np.searchsorted(found.positions, text_batch.offsets).tolist()
        for number, prepared in enumerate(text_batch.texts):
            edits = prepared.replacements
            first, last = bounds[number : number + 2]
            if first < last:
                changes = self._changes(found, range(first, last), int(text_batch.offsets[number]))
                edits = sorted(
                    [*edits, *edits_of(changes, prepared.simplified)], key=lambda edit: edit.offset
                )
            text = prepared.simplified.source
            hints: tuple[Hint, ...] = ()
            if rules:
                edits, hints = with_matches(edits, find_in_document([text], [prepared.protected], rules)[0])
            yield Correction(text, apply_edits(text, edits) if edits else text, tuple(edits), hints)

    def _changes(self, found: Detections, numbers: range, start: int) -> list[Change]:
        """The detections of one text, which starts at the flat position `start`, as characters."""
        tokens, hanzi = self.vocabulary.tokens, self.vocabulary.is_hanzi()
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
                        if other not in (target, original) and hanzi[other]
                    ),
                )
            )
        return changes
