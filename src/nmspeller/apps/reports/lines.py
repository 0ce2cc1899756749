"""Reports of plain lines: for pipes, for programs, and for GitHub's annotations."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from nmspeller.apps.documents.document import Document
from nmspeller.apps.reports.findings import Doubt, Finding, doubts, findings, visible
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction

# A file name may have line breaks; in a report of lines it may not.
_ESCAPED_BREAKS = str.maketrans({"\n": "\\n", "\r": "\\r"})


class LineReport:
    """Prints the lines that a function returns for each document, as soon as it is checked."""

    def __init__(
        self, lines: Callable[[Document, Correction, bool], Iterator[str]], *, explain: bool = False
    ) -> None:
        self._lines = lines
        self._explain = explain

    def show(self, document: Document, correction: Correction) -> None:
        for line in self._lines(document, correction, self._explain):
            print(line, flush=True)

    def finish(self) -> None:
        pass


def plain(document: Document, correction: Correction, explain: bool) -> Iterator[str]:
    """`file:line:column: wrong → right (reason, confidence)`, and an indented line that explains it.

    Then `file:line:column: hint: text (why)` for each hint.
    """
    path = document.name.translate(_ESCAPED_BREAKS)
    for one in findings(correction):
        yield f"{path}:{one.line}:{one.column}: {one.summary}"
        if explain:
            yield f"  {one.why(correction.source)}"
    for doubt in doubts(correction):
        hint = _("hint")
        place = f"{path}:{doubt.line}:{doubt.column}"
        yield f"{place}: {hint}: {visible(doubt.hint.source)} ({doubt.explanation})"


def json_object(document: Document, correction: Correction, explain: bool) -> Iterator[str]:
    """One object on one line, for every document."""
    edits = [{**asdict(edit), "reason": edit.reason.value} for edit in correction.edits]
    if explain:
        from nmspeller.runtime.why import why

        edits = [
            {**described, "why": why(correction.source, edit)}
            for described, edit in zip(edits, correction.edits, strict=True)
        ]
    report = {
        "path": document.name,
        "text": correction.source,
        "corrected": correction.text,
        "edits": edits,
        "hints": [asdict(hint) for hint in correction.hints],
    }
    yield json.dumps(report, ensure_ascii=False)


def github(document: Document, correction: Correction, explain: bool) -> Iterator[str]:
    """Workflow commands that GitHub Actions shows at the line of the finding."""
    for one in findings(correction):
        message = f"{one.summary} {one.why(correction.source)}" if explain else one.summary
        yield f"::warning {_place(document, one)},title=nmspeller::{_escaped(message)}"
    for doubt in doubts(correction):
        message = _escaped(f"{visible(doubt.hint.source)} ({doubt.explanation})")
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
