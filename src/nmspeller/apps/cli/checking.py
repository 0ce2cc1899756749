"""The implementation of `nmspeller check`: each input is checked, reported and, if asked, corrected."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nmspeller.apps.cli.inputs import Input
from nmspeller.apps.cli.job import CheckJob, exit_on_signal, tell
from nmspeller.apps.cli.progress import SlowProgress
from nmspeller.apps.documents import document as documents
from nmspeller.apps.documents.document import Document
from nmspeller.apps.reports import SHOWN_IN_PARTS, Report, report
from nmspeller.errors import InputError
from nmspeller.messages import _, language, ngettext, suggest
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Edit

# Characters. A shorter text takes hardly longer than loading the model, and a bar would only flicker.
_LONG = 1_000


@dataclass
class CheckCommand:
    """One call of the command, and its results."""

    job: CheckJob
    report_name: str
    output: Path | None
    fix: bool
    explain: bool
    update_baseline: bool
    found: bool = False
    unwritten: bool = False

    def run(self, names: list[str], text: str | None) -> int:
        """Check everything and return the exit code; an input with an error does not stop the others."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, exit_on_signal)
        inputs = [self.job.inputs.text(text)] if text is not None else list(self.job.inputs.named(names))
        # Of several settings the first counts: one report is in one language.
        suggest(next((one.config.lang for one in inputs if one.config.lang), language()))
        if not inputs and not self.job.errors:
            nothing = _("There is nothing to check: no file of a known format, or the settings ignore it.")
            tell(f"nmspeller: {nothing}")
        self._require_own_output(inputs)
        if self.fix and self.job.backup and any(one.path is None for one in inputs):
            tell(_("Standard input is not changed, so --backup keeps nothing of it."))
        out = self._report(inputs)
        with SlowProgress(sum(one.size for one in inputs)) as progress:
            for one in inputs:
                try:
                    self._check(one, out, progress)
                except InputError as error:
                    progress.pause()
                    self.job.report_error(error)
        if out:
            # A tracked change corrects nothing yet.
            out.finish(fixed=self.fix and not self.job.track and not self.unwritten)
        self.job.tell_what_was_not_checked()
        self._tell_about_baseline()
        return self.job.exit_code(found=self.found)

    def _require_own_output(self, inputs: Sequence[Input]) -> None:
        """The report must not take the place of what is checked, under whatever name."""
        if self.output is None:
            return
        output = os.path.realpath(self.output)
        baseline = [self.job.baseline.file] if self.job.baseline else []
        read = [one.path for one in inputs if one.path is not None]
        if output in map(os.path.realpath, (*read, *baseline, *self.job.words, *self.job.replacements)):
            raise InputError(
                _("{file} is an input, so the report cannot be written to it.").format(file=self.output)
            )

    def _report(self, inputs: Sequence[Input]) -> Report | None:
        """The report, unless the corrected text is printed or the baseline written."""
        prints_corrected_text = self.fix and any(one.path is None for one in inputs)
        if prints_corrected_text or self.update_baseline:
            return None
        return report(
            self.report_name,
            of_files=not inputs or any(one.path is not None for one in inputs),
            explain=self.explain,
            output=self.output,
        )

    def _check(self, one: Input, out: Report | None, progress: SlowProgress) -> None:
        document, raw = self.job.load(one)
        shows_parts = out is not None and self.report_name in SHOWN_IN_PARTS and not self.fix
        correction, unknown = self._searched(one, document, out if shows_parts else None, progress)
        if self.job.baseline and one.path:
            if self.update_baseline:
                self.job.baseline.set(one.path, document.text, correction.edits, correction.hints)
                return
            text = apply_edits(document.text, unknown)
            hints = self.job.unknown_hints(one, document, correction.hints)
            correction = replace(correction, text=text, edits=tuple(unknown), hints=tuple(hints))
            self.job.baseline.mark_checked(one.path)
        self.found |= bool(correction.edits)
        if self.fix and one.path is None:
            permitted = self.job.permitted(document, correction.edits)
            sys.stdout.buffer.write(self.job.corrected(document, permitted))
            return
        if self.fix and one.path and correction.edits:
            self._write(one.path, document, correction, raw, progress)
        if out:
            progress.pause()
            if shows_parts:
                correction = Correction(document.text, document.text, (), correction.hints)
            out.show(document, correction)

    def _write(
        self, path: Path, document: Document, correction: Correction, raw: bytes, progress: SlowProgress
    ) -> None:
        """Correct a file; its findings are shown also if that fails."""
        try:
            _content, sentence = self.job.write(path, document, correction.edits, raw)
        except InputError as error:
            self.unwritten = True
            progress.pause()
            self.job.report_error(error)
        else:
            progress.pause()
            tell(sentence)

    def _searched(
        self, one: Input, document: Document, out: Report | None, progress: SlowProgress
    ) -> tuple[Correction, list[Edit]]:
        """All findings of a document, and those that are not known; `out` shows each part when it is done."""
        prose = sum(len(passage.text) for passage in document.passages)
        unknown: list[Edit] = []

        def advance(characters: int, edits: Sequence[Edit]) -> None:
            if not self.update_baseline:
                edits = self.job.unknown(one, document, edits)
            unknown.extend(edits)
            if out and edits:
                progress.pause()
                out.show(document, Correction(document.text, document.text, tuple(edits)))
            progress.advance(one.size * characters / prose, document.name)

        if not prose:
            return Correction(document.text, document.text, ()), unknown
        if prose >= _LONG:
            progress.begin(document.name)
        speller = self.job.speller(one.config)
        progress.begin(document.name)
        correction = documents.check(speller, document, level=self.job.level_for(one), advance=advance)
        return correction, unknown

    def _tell_about_baseline(self) -> None:
        """What the baseline hid, and what of it can be removed; or else it is written."""
        baseline = self.job.baseline
        if baseline is None:
            return
        if self.update_baseline:
            number = baseline.write()
            tell(
                ngettext(
                    "Wrote {number} finding to {file}.", "Wrote {number} findings to {file}.", number
                ).format(number=number, file=baseline.file)
            )
            return
        if known := baseline.known:
            tell(
                ngettext(
                    "{number} known finding is not shown.", "{number} known findings are not shown.", known
                ).format(number=known)
            )
        if removable := baseline.removable:
            tell(
                ngettext(
                    "{number} finding of {file} is gone; remove it from there with --update-baseline.",
                    "{number} findings of {file} are gone; remove them from there with --update-baseline.",
                    removable,
                ).format(number=removable, file=baseline.file)
            )
