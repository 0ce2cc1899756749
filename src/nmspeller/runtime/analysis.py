"""The analysis of a document before the model reads it: what is protected, and what needs no model.

    check = Analyzer(window=126, rules=chosen_rules(True)).analyze(passages)
    for number, part in enumerate(check.parts):
        checked = check.finish(number, model.read([part])[0])

Everything is computed once for each text. Nothing here reads a model or a file, so every app can drive a
check in its own way: at once, in turns with other documents, or with parts that it remembers.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.correction import AnyPlaced, Correction, clear_of
from nmspeller.runtime.dictionary import Replacements
from nmspeller.runtime.doubling import without_doubling
from nmspeller.runtime.edits import Change
from nmspeller.runtime.findings import Edit, Hint, Reason
from nmspeller.runtime.reading import Part, Reading
from nmspeller.runtime.rule_matches import find_in_document
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import ProtectedWords, Span, protected_spans
from nmspeller.text.script import Script, detect, fold, simplify
from nmspeller.text.slang import slang_ranges

if TYPE_CHECKING:
    from nmspeller.runtime.rules import Rule, RuleMatch

# A user may replace iphone by iPhone, but nothing in code and addresses.
_REPLACEABLE_KINDS = frozenset(("latin", "number", "slang"))
# Only texts with one of these can have anything for the rules whose fixes the model always reads.
_MAY_NEED_MENDING = lazy_pattern(r"[!-/:-@\s]|([，。！？；：、])\1")


class CheckedPart(NamedTuple):
    """`texts[number][start:stop]` has been checked; the offsets are those in the whole text."""

    number: int
    start: int
    stop: int
    edits: tuple[Edit, ...]
    hints: tuple[Hint, ...] = ()


class Check:
    """A document that is being checked: `parts` are what the model has to read, in any order.

    Only what the model says of a part is needed to finish it; edits of different parts never overlap.
    """

    def __init__(self, texts: Sequence["_Analyzed"]) -> None:
        self._texts = texts
        self._places = [
            (number, within) for number, text in enumerate(texts) for within in range(len(text.reading.parts))
        ]
        self.parts: list[Part] = [part for text in texts for part in text.reading.parts]

    def finish(self, number: int, changes: Iterable[Change] = ()) -> CheckedPart:
        """A part's findings: the model's changes, the certain edits and the hints, in order."""
        text_number, within = self._places[number]
        text = self._texts[text_number]
        start, stop = text.reading.bounds(within)
        edits = [*without_doubling(text.reading.source, text.reading.edits(within, changes), text.rules)]
        certain = text.certain_between(start, stop)
        if certain:
            # What the model inserts where a rule inserts would be a second edit of the same place.
            both = [*clear_of(certain, edits), *certain]
            edits = sorted(both, key=lambda edit: (edit.offset, edit.stop))
        hints = tuple(clear_of(edits, text.hints_between(start, stop)))
        return CheckedPart(text_number, start, stop, tuple(edits), hints)

    def corrections(self, found: Iterable[Iterable[Change]]) -> list[Correction]:
        """The correction of each text, from the model's changes of all parts, in order."""
        checked = [self.finish(number, changes) for number, changes in enumerate(found)]
        by_text = {number: [*parts] for number, parts in groupby(checked, lambda part: part.number)}
        return [
            self._correction(text.reading.source, by_text.get(number, ()))
            for number, text in enumerate(self._texts)
        ]

    @staticmethod
    def _correction(source: str, parts: Sequence[CheckedPart]) -> Correction:
        edits = [edit for part in parts for edit in part.edits]
        hints = clear_of(edits, (hint for part in parts for hint in part.hints))
        return Correction.of(source, edits, hints)


@dataclass(frozen=True)
class _Analyzed:
    """A text with what is known before the model reads it; edits and hints are in order."""

    reading: Reading
    certain: Sequence[Edit]
    hints: Sequence[Hint]
    rules: Sequence["Rule"]

    def certain_between(self, start: int, stop: int) -> Sequence[Edit]:
        """The edits that begin there; the last part has those at the end as well."""
        return _between(self.certain, start, stop + self._is_end(stop))

    def hints_between(self, start: int, stop: int) -> Sequence[Hint]:
        """The hints that begin there."""
        return _between(self.hints, start, stop + self._is_end(stop))

    def _is_end(self, stop: int) -> bool:
        return stop == len(self.reading.source)


def _between(found: Sequence[AnyPlaced], start: int, stop: int) -> Sequence[AnyPlaced]:
    """Those that begin in start:stop; they are in order."""
    first, last = (bisect_left(found, place, key=lambda one: one.offset) for place in (start, stop))
    return found[first:last]


@dataclass(frozen=True)
class Analyzer:
    """Analyzes documents: `window` is how many characters the model reads at once.

    The `words` are never changed, the `replacements` always made, and the `rules` applied.
    """

    window: int
    words: Sequence[ProtectedWords] = ()
    replacements: Replacements | None = None
    rules: Sequence["Rule"] = ()

    def analyze(self, texts: Sequence[str]) -> Check:
        """The check of a document, whose passages the texts are.

        A passage that could be of either script has that of the document. The rules read the passages
        together: a name may be spelt in two ways in two of them.
        """
        for text in texts:
            if not isinstance(text, str):
                raise InputError(_("a text must be a string, not {kind}.").format(kind=type(text).__name__))
        script = detect(texts[0] if len(texts) == 1 else "".join(texts))
        protected = [self._protected(text, script) for text in texts]
        replaced = [self._replaced(text, spans) for text, spans in zip(texts, protected, strict=True)]
        matches = self._matches(texts, protected, replaced)
        return Check(
            [self._analyzed(*each, script) for each in zip(texts, protected, replaced, matches, strict=True)]
        )

    def _protected(self, text: str, script: Script) -> list[Span]:
        spans = protected_spans(text)
        spans += [Span(start, stop, "slang") for start, stop in slang_ranges(text)]
        if any(map(len, self.words)):
            simplified = simplify(text, script)
            for matcher in self.words:
                spans += matcher.spans(text)
                if simplified.converted:
                    # A Simplified word of the list also protects its Traditional form.
                    spans += matcher.folded.spans(fold(simplified.text))
        return spans

    def _replaced(self, text: str, protected: list[Span]) -> list[Edit]:
        """The user's replacements; a text that is to be replaced by itself becomes protected.

        Users exempt 登陆艇 from 登录 for 登陆 in this way.
        """
        if self.replacements is None:
            return []
        edits: list[Edit] = []
        unreplaceable = [(start, stop) for start, stop, kind in protected if kind not in _REPLACEABLE_KINDS]
        for start, stop, target in self.replacements.find(text, unreplaceable):
            source = text[start:stop]
            if source == target:
                protected.append(Span(start, stop, "word"))
            else:
                edits.append(Edit(start, stop - start, source, target, 1.0, (), Reason.USER_LIST))
        return edits

    def _matches(
        self, texts: Sequence[str], protected: list[list[Span]], replaced: list[list[Edit]]
    ) -> list[list["RuleMatch"]]:
        """What the rules find in each text, clear of the user's replacements."""
        needs_mending = any(_MAY_NEED_MENDING.search(text) for text in texts)
        rules = [*self.rules, *(self._silent_rules if needs_mending else ())]
        if not rules:
            return [[] for text in texts]
        closed = [
            [*spans, *(Span(edit.offset, edit.stop, "word") for edit in edits)]
            for spans, edits in zip(protected, replaced, strict=True)
        ]
        return find_in_document(texts, closed, rules)

    @cached_property
    def _silent_rules(self) -> list["Rule"]:
        """Rules whose fixes the model reads even where they are not reported: 笑了。。 as 笑了。"""
        from nmspeller.runtime.rules import READ_AS_FIXED  # imported late: most texts do without

        return [rule for rule in READ_AS_FIXED if rule not in self.rules]

    def _analyzed(
        self,
        text: str,
        protected: list[Span],
        replaced: list[Edit],
        matches: Sequence["RuleMatch"],
        script: Script,
    ) -> _Analyzed:
        fixes = [*clear_of(replaced, (_fix(match) for match in matches if match.target is not None))]
        certain = (
            sorted([*replaced, *fixes], key=lambda edit: (edit.offset, edit.stop)) if fixes else replaced
        )
        reading = Reading(
            text,
            window=self.window,
            certain=certain,
            locked=[(start, stop) for start, stop, _ in protected if start < stop],
            document_script=script,
        )
        reported = {rule.id for rule in self.rules}
        return _Analyzed(
            reading,
            [edit for edit in certain if edit.rule is None or edit.rule in reported],
            [_hint(match) for match in matches if match.target is None and match.rule in reported],
            self.rules,
        )


def _fix(match: "RuleMatch") -> Edit:
    assert match.target is not None
    return Edit(match.offset, match.length, match.source, match.target, 1.0, (), Reason.RULE, rule=match.rule)


def _hint(match: "RuleMatch") -> Hint:
    note = None if match.note is None else str(match.note)
    return Hint(match.offset, match.length, match.source, match.rule, note)
