"""Proofreading reports, which are handed round: as a page, a Word document or a table."""

import sys
from collections.abc import Callable
from pathlib import Path

from nmspeller.apps.documents.document import Document
from nmspeller.apps.reports import csv, docx, html
from nmspeller.apps.reports.proof import Proof
from nmspeller.errors import InputError
from nmspeller.files import reason, write_whole
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction

FORMATS: dict[str, Callable[[list[Proof]], bytes]] = {
    "html": html.written,
    "docx": docx.written,
    "csv": csv.written,
}


class ProofreadingReport:
    """Collects what is found, and writes it at the end to a file or to standard output."""

    def __init__(self, format: str, output: Path | None = None) -> None:
        if format == "docx" and output is None and sys.stdout.isatty():
            raise InputError(_("A Word document cannot be shown here; name a file with --output FILE."))
        self._format = format
        self._output = output
        self._proofs: list[Proof] = []

    def show(self, document: Document, correction: Correction) -> None:
        self._proofs.append(Proof.of(document, correction))

    def finish(self, *, fixed: bool = False) -> None:
        content = FORMATS[self._format](self._proofs)
        if self._output is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        try:
            write_whole(self._output, content)
        except OSError as error:
            raise InputError(
                _("{file} cannot be written: {reason}.").format(file=self._output, reason=reason(error))
            ) from None
