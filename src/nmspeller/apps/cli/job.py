"""What `check` and `review` have in common: how findings are searched for, and how they are corrected."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from nmspeller.apps.baseline import Baseline
from nmspeller.apps.cli.inputs import Input, Inputs
from nmspeller.apps.documents import document as documents
from nmspeller.apps.documents import files, xliff
from nmspeller.apps.documents.authors import edits_of_others
from nmspeller.apps.documents.document import Document, TextDocument
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.prose import is_program
from nmspeller.apps.documents.word_text import AUTHOR
from nmspeller.apps.project.config import Config
from nmspeller.errors import InputError
from nmspeller.messages import _, ngettext
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.findings import Edit, Hint
from nmspeller.runtime.rule_matches import DEFAULT_RULES

CLEAN, FINDINGS, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

Rules = bool | tuple[str, ...]


class Lists(NamedTuple):
    """The user's files of correct words and of replacements."""

    words: tuple[Path, ...]
    replacements: tuple[Path, ...]


@dataclass
class CheckJob:
    """The options of one call; the errors so far, and the spellers that were loaded."""

    level: str | None
    words: tuple[Path, ...]
    replacements: tuple[Path, ...]
    model: Path | None
    prefilter: bool
    rules: Rules | None
    format: str
    encoding: str
    strings: bool
    backup: bool
    force: bool
    others: bool
    track: bool
    author: str | None
    baseline: Baseline | None = None
    errors: set[str] = field(default_factory=set)
    without_prose: list[str] = field(default_factory=list)
    programs_without_comments: list[str] = field(default_factory=list)
    spellers: dict[tuple[Lists, Rules], Checker | InputError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inputs = Inputs(self.format, self.encoding, self.strings, self.report_error, tell)

    def load(self, one: Input) -> tuple[Document, bytes]:
        """The document of an input and its bytes; an error if it cannot be corrected as the options ask."""
        document, raw = one.load()
        if self.track:
            documents.require_tracking(document)
        if not document.passages:
            has_unread_strings = one.path is not None and not self.strings and is_program(one.path)
            unread = self.programs_without_comments if has_unread_strings else self.without_prose
            unread.append(document.name)
        return document, raw

    def level_for(self, one: Input) -> str | None:
        return self.level or one.config.level

    def unknown(self, one: Input, document: Document, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Those of some edits of a document that the baseline, if there is one, does not have."""
        if self.baseline is None or one.path is None:
            return edits
        return self.baseline.unknown(one.path, document.text, edits)

    def unknown_hints(self, one: Input, document: Document, hints: Sequence[Hint]) -> Sequence[Hint]:
        """The same for hints."""
        if self.baseline is None or one.path is None:
            return hints
        return self.baseline.unknown_hints(one.path, document.text, hints)

    def corrected(self, document: Document, edits: Sequence[Edit]) -> bytes:
        """The new content of a document."""
        # Without an edit there is nothing that a signature could suffer from.
        force = self.force or not edits
        if self.track and isinstance(document, DocxDocument):
            return document.with_tracked_changes(edits, self.author or AUTHOR, force=force)
        return document.with_edits(edits, force=force)

    def write(self, path: Path, document: Document, edits: Sequence[Edit], raw: bytes) -> tuple[bytes, str]:
        """Correct a file; returns its content and a sentence about it, for people."""
        permitted = self.permitted(document, edits)
        if not permitted:
            return raw, _("{path} was left as it is.").format(path=path)
        content = self.corrected(document, permitted)
        backup = files.replace(path, content, expected=raw, backup=self.backup)
        if document.is_signed:
            tell(
                _("The digital signature of {name} becomes invalid; sign the document again.").format(
                    name=document.name
                )
            )
        if self.track:
            written = (
                _("Suggested changes in {path}; the original is {backup}.")
                if backup
                else _("Suggested changes in {path}.")
            )
        else:
            written = _("Corrected {path}; the original is {backup}.") if backup else _("Corrected {path}.")
        return content, written.format(path=path, backup=backup)

    def permitted(self, document: Document, edits: Sequence[Edit]) -> Sequence[Edit]:
        """The edits that change nobody else's words, or those that can be tracked, which only propose."""
        if self.track:
            return self._trackable(document, edits)
        if isinstance(document, TextDocument) and document.format == "xml":
            return self._outside_sources(document, edits)
        if self.others:
            return edits
        left = edits_of_others(document, edits)
        if left:
            tell(
                ngettext(
                    "{number} finding in another person's comment or insertion was left; "
                    "--others changes it.",
                    "{number} findings in other people's comments or insertions were left; "
                    "--others changes them.",
                    len(left),
                ).format(number=len(left))
            )
        return [edit for edit in edits if edit not in left]

    def _outside_sources(self, document: TextDocument, edits: Sequence[Edit]) -> Sequence[Edit]:
        rest = [edit for edit in edits if not xliff.is_source(document.text, edit.offset)]
        if left := len(edits) - len(rest):
            tell(
                ngettext(
                    "{number} finding in a source text of {name} was left; "
                    "correct it where the text comes from.",
                    "{number} findings in source texts of {name} were left; "
                    "correct them where the texts come from.",
                    left,
                ).format(number=left, name=document.name)
            )
        return rest

    def _trackable(self, document: Document, edits: Sequence[Edit]) -> Sequence[Edit]:
        left = document.untracked(edits) if isinstance(document, DocxDocument) else []
        if left:
            tell(
                ngettext(
                    "{number} finding in a comment was left, since changes there cannot be tracked; "
                    "--others without --track changes it.",
                    "{number} findings in comments were left, since changes there cannot be tracked; "
                    "--others without --track changes them.",
                    len(left),
                ).format(number=len(left))
            )
        return [edit for edit in edits if edit not in left]

    def speller(self, config: Config) -> Checker:
        """The speller with the lists and rules that apply; loaded at most once, and only for prose."""
        lists = Lists(config.words + self.words, config.replacements + self.replacements)
        rules = next(chosen for chosen in (self.rules, config.rules, DEFAULT_RULES) if chosen is not None)
        if (lists, rules) not in self.spellers:
            try:
                loaded: Checker | InputError = load_speller(
                    self.model, lists, prefilter=self.prefilter, rules=rules
                )
            except InputError as error:
                loaded = error
            self.spellers[lists, rules] = loaded
        speller = self.spellers[lists, rules]
        if isinstance(speller, InputError):
            # A new exception each time: the traceback of one that is raised again would keep every document.
            raise InputError(str(speller))
        return speller

    def tell_what_was_not_checked(self) -> None:
        """Which files of folders were skipped, and in which files no Chinese text was found."""
        if skipped := self.inputs.describe_skipped():
            tell(skipped)
        if number := len(self.without_prose):
            tell(
                ngettext(
                    "No Chinese text was found in {first}; if it has some, set --format or --encoding.",
                    "No Chinese text was found in {number} files, such as {first}; "
                    "if they have some, set --format or --encoding.",
                    number,
                ).format(number=number, first=self.without_prose[0])
            )
        if number := len(self.programs_without_comments):
            tell(
                ngettext(
                    "No Chinese comment was found in {first}; --strings checks its strings, too.",
                    "No Chinese comment was found in {number} programs, such as {first}; "
                    "--strings checks their strings, too.",
                    number,
                ).format(number=number, first=self.programs_without_comments[0])
            )

    def exit_code(self, *, found: bool) -> int:
        return BAD_INPUT if self.errors else FINDINGS if found else CLEAN

    def report_error(self, error: InputError) -> None:
        """Print an error, once even if it concerns many files, as one about a shared list or model does."""
        sentence = str(error)
        if sentence not in self.errors:
            self.errors.add(sentence)
            tell(f"nmspeller: {sentence}")


def tell(sentence: str) -> None:
    """Say something on standard error, so that reports for programs stay as they are."""
    sys.stdout.flush()
    print(sentence, file=sys.stderr, flush=True)


def load_speller(model: Path | None, lists: Lists, *, prefilter: bool, rules: Rules) -> Checker:
    """A speller with the words and replacements of these files, and with these rules."""
    from nmspeller.runtime.checker import open_checker

    return open_checker(
        model,
        words=lists.words,
        replacements=lists.replacements,
        prefilter=prefilter,
        rules=rules,
    )


def exit_on_signal(number: int, frame: FrameType | None) -> None:
    """Exit like Ctrl-C does, so that no temporary file is left."""
    sys.exit(128 + number)
