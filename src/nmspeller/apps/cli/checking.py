"""The implementation of `nmspeller check`: each input is checked, reported and, if asked, corrected."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from nmspeller.apps.baseline import Baseline
from nmspeller.apps.cli.progress import SlowProgress
from nmspeller.apps.documents import document as documents
from nmspeller.apps.documents import files
from nmspeller.apps.documents.config import Config, config_for
from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.find import find
from nmspeller.apps.documents.my_words import with_my_words
from nmspeller.apps.documents.prose import OFFICE_FORMATS
from nmspeller.apps.reports import SHOWN_IN_PARTS, Report, report
from nmspeller.errors import InputError
from nmspeller.messages import _, language, ngettext, suggest
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.correction import Correction, Edit, apply_edits

CLEAN, FINDINGS, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
# Characters. A shorter text takes hardly longer than loading the model, and a bar would only flicker.
_LONG = 1_000

Rules = bool | tuple[str, ...]


class Lists(NamedTuple):
    """The user's files of correct words and of replacements."""

    words: tuple[Path, ...]
    replacements: tuple[Path, ...]


@dataclass(frozen=True)
class Input:
    """Something to check: where it comes from, and how to read it."""

    load: Callable[[], tuple[Document, bytes]]
    path: Path | None = None
    config: Config = field(default_factory=Config)

    @property
    def size(self) -> int:
        try:
            return self.path.stat().st_size if self.path else 0
        except OSError:
            return 0


@dataclass
class Job:
    """The options of one call, and its results."""

    report_name: str
    fix: bool
    explain: bool
    backup: bool
    track: bool
    force: bool
    level: str | None
    words: tuple[Path, ...]
    replacements: tuple[Path, ...]
    model: Path | None
    prefilter: bool
    rules: bool | None
    format: str
    encoding: str
    update_baseline: bool = False
    baseline: Baseline | None = None
    errors: set[str] = field(default_factory=set)
    found: bool = False
    spellers: dict[tuple[Lists, Rules], Checker | InputError] = field(default_factory=dict)

    def run(self, names: list[str], text: str | None) -> int:
        """Check everything and return the exit code; an input with an error does not stop the others."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _exit_on_signal)
        inputs = [self._text_input(text)] if text is not None else list(self._inputs(names))
        if not inputs and not self.errors:
            nothing = _("There is nothing to check: no file of a known format, or the settings ignore it.")
            print(f"nmspeller: {nothing}", file=sys.stderr, flush=True)
        # Of several settings the first counts: one report is in one language.
        suggest(next((one.config.lang for one in inputs if one.config.lang), language()))
        prints_corrected_text = self.fix and any(one.path is None for one in inputs)
        of_files = not inputs or any(one.path is not None for one in inputs)
        out = None
        if not prints_corrected_text and not self.update_baseline:
            out = report(self.report_name, fixing=self.fix, of_files=of_files, explain=self.explain)
        with SlowProgress(sum(one.size for one in inputs)) as progress:
            for one in inputs:
                try:
                    self._check(one, out, progress)
                except InputError as wrong:
                    progress.pause()
                    self._report_error(wrong)
        if out:
            out.finish()
        self._report_baseline()
        return BAD_INPUT if self.errors else FINDINGS if self.found else CLEAN

    def read_baseline(self, file: Path) -> None:
        """Report only what the baseline in a file does not have; or, to update it, begin with what it has."""
        self.baseline = Baseline.read_or_new(file) if self.update_baseline else Baseline.read(file)

    def review(self, names: list[str]) -> int:
        """Ask about each finding in the terminal and return the exit code."""
        from nmspeller.apps.check_review.review import Quit, Review, ToReview

        signal.signal(signal.SIGTERM, _exit_on_signal)
        review = Review(backup=self.backup, asked_words=self.words, report_error=self._report_error)
        inputs = (
            ToReview(
                one.path,
                one.load,
                partial(self._speller, one.config),
                self.level or one.config.level,
                partial(self._unknown, one),
            )
            for one in self._inputs(names)
            if one.path is not None
        )
        code = CLEAN
        try:
            review.run(inputs)
        except Quit:
            pass
        except KeyboardInterrupt:
            code = INTERRUPTED
        code = code or (BAD_INPUT if self.errors else FINDINGS if review.found else CLEAN)
        review.end_process_if_searching(code)
        return code

    def _check(self, one: Input, out: Report | None, progress: SlowProgress) -> None:
        document, raw = one.load()
        if self.track:
            documents.require_tracking(document)
        prose = sum(len(passage.text) for passage in document.passages)
        shows_parts = out is not None and self.report_name in SHOWN_IN_PARTS and not self.fix
        unknown: list[Edit] = []

        def advance(characters: int, edits: Sequence[Edit]) -> None:
            edits = self._unknown(one, document, edits)
            unknown.extend(edits)
            if out and shows_parts and edits:
                progress.pause()
                out.show(document, Correction(document.text, document.text, tuple(edits)))
            progress.advance(one.size * characters / prose, document.name)

        correction = Correction(document.text, document.text, ())
        if prose:
            if prose >= _LONG:
                progress.begin(document.name)
            speller = self._speller(one.config)
            progress.begin(document.name)
            correction = documents.check(
                speller,
                document,
                level=self.level or one.config.level,
                advance=advance,
            )
        if self.baseline and one.path:
            if self.update_baseline:
                self.baseline.set(one.path, document.text, correction.edits)
                return
            self.baseline.mark_checked(one.path)
            text = apply_edits(document.text, unknown)
            correction = replace(correction, text=text, edits=tuple(unknown))
        if self.fix and (correction.edits or one.path is None):
            if correction.edits and document.is_signed and self.force:
                progress.pause()
                _report_invalid_signature(document.name)
            # Without an edit there is nothing that a signature could suffer from.
            force = self.force or not correction.edits
            corrected = document.with_edits(correction.edits, track=self.track, force=force)
            if one.path is None:
                sys.stdout.buffer.write(corrected)
                self.found |= bool(correction.edits)
                return
            kept = files.replace(one.path, corrected, expected=raw, backup=self.backup)
            progress.pause()
            _report_written(one.path, kept)
        self.found |= bool(correction.edits)
        if out:
            progress.pause()
            if shows_parts:
                correction = Correction(document.text, document.text, (), correction.hints)
            out.show(document, correction)

    def _unknown(self, one: Input, document: Document, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Those of some edits of a document that the baseline, if there is one, does not have."""
        if self.baseline is None or one.path is None or self.update_baseline:
            return edits
        return self.baseline.unknown(one.path, document.text, edits)

    def _report_baseline(self) -> None:
        """Say on standard error what the baseline hid, and what of it can be removed; or update it."""
        if self.baseline is None:
            return
        sentences = []
        if self.update_baseline:
            number = self.baseline.write()
            sentences.append(
                ngettext(
                    "Wrote {number} finding to {file}.", "Wrote {number} findings to {file}.", number
                ).format(number=number, file=self.baseline.file)
            )
        elif known := self.baseline.known:
            sentences.append(
                ngettext(
                    "{number} known finding is not shown.", "{number} known findings are not shown.", known
                ).format(number=known)
            )
        if not self.update_baseline and (removable := self.baseline.removable):
            sentences.append(
                ngettext(
                    "{number} finding of {file} is gone; remove it from there with --update-baseline.",
                    "{number} findings of {file} are gone; remove them from there with --update-baseline.",
                    removable,
                ).format(number=removable, file=self.baseline.file)
            )
        sys.stdout.flush()
        for sentence in sentences:
            print(sentence, file=sys.stderr, flush=True)

    def _speller(self, config: Config) -> Checker:
        """The speller with the lists and rules that apply; loaded at most once, and only for prose."""
        lists = Lists(config.words + self.words, config.replacements + self.replacements)
        rules = (config.rules or False) if self.rules is None else self.rules
        if (lists, rules) not in self.spellers:
            try:
                loaded: Checker | InputError = load_speller(
                    self.model, lists, prefilter=self.prefilter, rules=rules
                )
            except InputError as wrong:
                loaded = wrong
            self.spellers[lists, rules] = loaded
        speller = self.spellers[lists, rules]
        if isinstance(speller, InputError):
            # A new exception each time: the traceback of one that is raised again would keep every document.
            raise InputError(str(speller))
        return speller

    def _inputs(self, names: list[str]) -> Iterator[Input]:
        seen = set()
        for name in names:
            if name == "-":
                yield Input(self._read_standard_input)
                continue
            for found in find(name):
                if isinstance(found, InputError):
                    self._report_error(found)
                elif (real := os.path.realpath(found)) not in seen:
                    seen.add(real)
                    yield self._file_input(found)

    def _file_input(self, path: Path) -> Input:
        config = with_my_words(config_for(path), path)
        format = config.format_of(path) if self.format == "auto" else self.format
        return Input(lambda: documents.read(path, format, self.encoding), path, config)

    def _read_standard_input(self) -> tuple[Document, bytes]:
        if sys.stdin is None:
            raise InputError(_("Standard input is closed; give a file, or redirect standard input."))
        raw = files.read_stream(sys.stdin.buffer, "<stdin>")
        return documents.from_bytes("<stdin>", raw, format=self.format, encoding=self.encoding), raw

    def _text_input(self, text: str) -> Input:
        if self.format in OFFICE_FORMATS:
            raise InputError(
                _("--text cannot be checked as {format}; give a file.").format(format=self.format)
            )
        return Input(lambda: (documents.from_text(text, "<text>", self.format), b""))

    def _report_error(self, wrong: InputError) -> None:
        """Print an error, once even if it concerns many files, as one about a shared list or model does."""
        sentence = str(wrong)
        if sentence in self.errors:
            return
        self.errors.add(sentence)
        sys.stdout.flush()
        print(f"nmspeller: {sentence}", file=sys.stderr, flush=True)


def _report_written(path: Path, backup: Path | None) -> None:
    """Name a corrected file on standard error, so that reports for programs stay as they are."""
    written = _("Corrected {path}; the original is {backup}.") if backup else _("Corrected {path}.")
    sys.stdout.flush()
    print(written.format(path=path, backup=backup), file=sys.stderr, flush=True)


def _report_invalid_signature(name: str) -> None:
    sentence = _("The digital signature of {name} becomes invalid; sign the document again.")
    print(sentence.format(name=name), file=sys.stderr, flush=True)


def load_speller(model: Path | None, lists: Lists, *, prefilter: bool, rules: Rules) -> Checker:
    """A speller with the words and replacements of these files, and with these rules."""
    from nmspeller.runtime import Speller
    from nmspeller.runtime.dictionary import read_replacements, read_words

    return Speller(
        model,
        words=[word for path in lists.words for word in read_words(path)],
        replacements={
            wrong: right for path in lists.replacements for wrong, right in read_replacements(path).items()
        },
        prefilter=prefilter,
        rules=rules,
    )


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    """Exit like Ctrl-C does, so that no temporary file is left."""
    sys.exit(128 + number)
