"""Reports of plain lines: for pipes, for programs, and for GitHub's annotations."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.apps.reports.findings import Doubt, Finding, doubts, findings, visible
from nmspeller.messages import _
from nmspeller.runtime.correction import Correction

# A file name may have line breaks; in a report of lines it may not.
_AROUND = 5  # characters on either side of a finding, by which a person finds it
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

    def finish(self, *, fixed: bool = False) -> None:
        pass


def plain(document: Document, correction: Correction, explain: bool) -> Iterator[str]:
    """`file:line:column: wrong → right (reason, confidence)`, and an indented line that explains it.

    Then `file:line:column: hint: text (why)` for each hint. In an Office document, `file: place “words”`
    comes instead of line and column.
    """
    for one in findings(correction, document.escapes):
        yield f"{_found_at(document, one)}: {one.summary}"
        if explain:
            yield f"  {one.why(correction.source)}"
    for doubt in doubts(correction, document.escapes):
        hint = _("hint")
        yield f"{_found_at(document, doubt)}: {hint}: {visible(doubt.hint.source)} ({doubt.explanation})"


def _found_at(document: Document, one: Finding | Doubt) -> str:
    """`file:line:column`; in an Office document, whose lines nobody sees, a place and words to search for."""
    path = document.name.translate(_ESCAPED_BREAKS)
    if not isinstance(document, OfficeDocument):
        return f"{path}:{one.line}:{one.column}"
    return _("{path}: {place} “{words}”").format(
        path=path, place=document.place_of(one.offset).label, words=_words_around(document.text, one)
    )


def _words_around(text: str, one: Finding | Doubt) -> str:
    """Some characters on both sides of a finding, in its line."""
    before = text[max(one.offset - _AROUND, one.line_start) : one.offset]
    after = text[one.offset : one.offset + one.length + _AROUND].partition("\n")[0]
    return before + after


def json_object(document: Document, correction: Correction, explain: bool) -> Iterator[str]:
    """One object on one line, for every document."""
    edits: list[dict[str, Any]] = [{**asdict(edit), "reason": edit.reason.value} for edit in correction.edits]
    if explain:
        from nmspeller.runtime.why import why

        edits = [
            {**described, "why": why(correction.source, edit)}
            for described, edit in zip(edits, correction.edits, strict=True)
        ]
    hints = [asdict(hint) for hint in correction.hints]
    if isinstance(document, OfficeDocument):
        for described in (*edits, *hints):
            described["place"] = document.place_of(described["offset"]).as_json
    report = {
        "path": document.name,
        "text": correction.source,
        "corrected": correction.text,
        "edits": edits,
        "hints": hints,
    }
    yield json.dumps(report, ensure_ascii=False)


def github(document: Document, correction: Correction, explain: bool) -> Iterator[str]:
    """Workflow commands that GitHub Actions shows at the line of the finding."""
    for one in findings(correction, document.escapes):
        message = f"{one.summary} {one.why(correction.source)}" if explain else one.summary
        yield f"::warning {_annotation(document, one, message)}"
    for doubt in doubts(correction, document.escapes):
        message = f"{visible(doubt.hint.source)} ({doubt.explanation})"
        yield f"::notice {_annotation(document, doubt, message)}"


def _annotation(document: Document, one: Finding | Doubt, message: str) -> str:
    """The properties of a command and its message, which names the place in an Office document."""
    file = f"file={_escaped_property(document.name)}"
    if isinstance(document, OfficeDocument):
        return f"{file},title=nmspeller::{_escaped(f'{_found_at(document, one)}: {message}')}"
    stop = one.column + document.escapes.length(one.offset, one.offset + one.length)
    return f"{file},line={one.line},col={one.column},endColumn={stop},title=nmspeller::{_escaped(message)}"


def _escaped(message: str) -> str:
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")
