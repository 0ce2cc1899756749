"""Reports of plain lines: for pipes, for programs, and for GitHub's annotations."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from nmspeller.apps.documents.document import Document
from nmspeller.apps.reports.findings import Doubt, Finding, doubts, findings
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction


class LineReport:
    """Prints the lines that a function returns for each document, as soon as it is checked."""

    def __init__(self, lines: Callable[[Document, Correction], Iterator[str]]) -> None:
        self._lines = lines

    def show(self, document: Document, correction: Correction) -> None:
        for line in self._lines(document, correction):
            print(line, flush=True)

    def finish(self) -> None:
        pass


def plain(document: Document, correction: Correction) -> Iterator[str]:
    """`file:line:column: wrong → right (reason, confidence)`, then `file:line:column: hint: text (why)`"""
    for one in findings(correction):
        yield (
            f"{document.name}:{one.line}:{one.column}: {one.source} → {one.target} "
            f"({one.reason}, {one.confidence:.2f})"
        )
    for doubt in doubts(correction):
        hint = _("hint")
        place = f"{document.name}:{doubt.line}:{doubt.column}"
        yield f"{place}: {hint}: {doubt.hint.source} ({doubt.explanation})"


def json_object(document: Document, correction: Correction) -> Iterator[str]:
    """One object on one line, for every document."""
    edits = [{**asdict(edit), "reason": edit.reason.value} for edit in correction.edits]
    report = {
        "path": document.name,
        "text": correction.source,
        "corrected": correction.text,
        "edits": edits,
        "hints": [asdict(hint) for hint in correction.hints],
    }
    yield json.dumps(report, ensure_ascii=False)


def github(document: Document, correction: Correction) -> Iterator[str]:
    """Workflow commands that GitHub Actions shows at the line of the finding."""
    for one in findings(correction):
        message = _escaped(f"{one.source} → {one.target} ({one.reason}, {one.confidence:.2f})")
        yield f"::warning {_place(document, one)},title=nmspeller::{message}"
    for doubt in doubts(correction):
        message = _escaped(f"{doubt.hint.source} ({doubt.explanation})")
        yield f"::notice {_place(document, doubt)},title=nmspeller::{message}"


def _place(document: Document, one: Finding | Doubt) -> str:
    return (
        f"file={_escaped_property(document.name)},line={one.line},"
        f"col={one.column},endColumn={one.column + one.length}"
    )


def _escaped(message: str) -> str:
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")
