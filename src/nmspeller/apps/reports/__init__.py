"""Reports of findings for people and programs: one file per format, chosen here by name."""

from pathlib import Path
from typing import Protocol

from nmspeller.apps.documents.document import Document
from nmspeller.runtime.correction import Correction

SHOWN_IN_PARTS = frozenset(("terminal", "plain", "github"))
"""The reports that may show a document several times, each time with the next findings."""

HANDED_ROUND = frozenset(("html", "docx", "csv"))
"""The reports that people pass on, and that may be written to a file."""


class Report(Protocol):
    """Writes to standard output, or to a file."""

    def show(self, document: Document, correction: Correction) -> None:
        """Report one document, with or without findings."""
        ...

    def finish(self, *, fixed: bool = False) -> None:
        """Complete the report after the last document; `fixed` says whether the findings are corrected."""
        ...


def report(
    name: str,
    *,
    of_files: bool = True,
    explain: bool = False,
    output: Path | None = None,
) -> Report:
    """The report of that name.

    Args:
        of_files: whether files are checked, or only a text.
        explain: whether each finding is explained in a sentence; those that are handed round always do.
        output: the file for a report that is handed round; standard output by default.
    """
    if name in HANDED_ROUND:
        from nmspeller.apps.reports.proofreading import ProofreadingReport

        return ProofreadingReport(name, output)
    if name == "terminal":
        from nmspeller.apps.reports.terminal import TerminalReport

        return TerminalReport(of_files=of_files, explain=explain)
    if name == "diff":
        from nmspeller.apps.reports.diff import DiffReport

        return DiffReport()
    if name == "sarif":
        from nmspeller.apps.reports.sarif import SarifReport

        return SarifReport(explain=explain)
    from nmspeller.apps.reports.lines import LineReport, github, json_object, plain

    return LineReport({"plain": plain, "json": json_object, "github": github}[name], explain=explain)
