"""The report for terminals: each line before and after, then place, reason and confidence."""

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from nmspeller.apps.documents.document import Document
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.apps.reports.findings import Doubt, Finding, doubts, findings, visible
from nmspeller.messages import _, ngettext
from nmspeller.runtime.correction import Correction
from nmspeller.text.patterns import lazy_pattern

_CONTEXT = 10  # characters before the first finding of an excerpt
_LINE_END = lazy_pattern(r"[\r\n]|\Z")


class TerminalReport:
    """Prints the findings of each document under its name, and a summary at the end."""

    def __init__(
        self,
        *,
        of_files: bool = True,
        explain: bool = False,
        console: Console | None = None,
    ) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True, emoji=False, markup=False)
        self._of_files = of_files
        self._explain = explain
        self._document: Document | None = None  # the current one, shown in one or more parts
        self._is_named = self._has_findings = False
        self._documents = self._with_findings = self._findings = 0

    def show(self, document: Document, correction: Correction) -> None:
        found = list(findings(correction, document.escapes))
        if document is not self._document:
            self._document, self._is_named, self._has_findings = document, False, False
            self._documents += 1
        if not found and not correction.hints:
            return
        self._findings += len(found)
        if found and not self._has_findings:
            self._has_findings = True
            self._with_findings += 1
        if not self._is_named:
            self._is_named = True
            self._console.print(Text(printable(document.name), style="bold"))
        gutter = len(str(found[-1].line)) + 2 if found else 0
        for number, in_line in groupby(found, key=lambda one: one.line):
            group = list(in_line)
            start = group[0].line_start
            end = _LINE_END.search(correction.source, start)
            line = correction.source[start : end.start() if end else None]
            width = max(self._console.width - gutter - 3, 20)
            for excerpt in _excerpts(line, group, width):
                whys = [one.why(correction.source) for one in excerpt[-1]] if self._explain else []
                self._block(str(number).rjust(gutter), line, *excerpt, whys)
        for doubt in doubts(correction, document.escapes):
            row = doubt_row(doubt, short_place(document, doubt))
            self._console.print(Text(row, style="yellow"))
        self._console.print()

    def _block(
        self, number: str, line: str, start: int, stop: int, group: Sequence[Finding], whys: Sequence[str]
    ) -> None:
        before, after = (
            Text(f"{number} - ", style="dim red"),
            Text(f"{' ' * len(number)} + ", style="dim green"),
        )
        at = start
        if start:
            before.append("…", style="dim")
            after.append("…", style="dim")
        for one in group:
            offset = one.offset - one.line_start
            for text, word, style in ((before, one.source, "bold red"), (after, one.target, "bold green")):
                text.append(printable(line[at:offset]), style="not dim default")
                text.append(printable(word), style=f"not dim {style}")
            at = offset + one.length
        for text in (before, after):
            text.append(printable(line[at:stop]), style="not dim default")
            if stop < len(line):
                text.append("…", style="dim")
        self._console.print(before)
        self._console.print(after)
        rows = [(short_place(self._document, one), one.change, one.reason) for one in group]
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        margin = " " * (len(number) + 3)
        for row, one, why in zip_longest(rows, group, whys):
            cells = "  ".join(set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True))
            self._console.print(Text(f"{margin}{cells}  {one.confidence:.2f}", style="dim"))
            if why:
                self._console.print(Text(f"{margin}{printable(why)}"))

    def finish(self, *, fixed: bool = False) -> None:
        files = ngettext("{count:,} file", "{count:,} files", self._documents).format(count=self._documents)
        if not self._findings:
            nothing = _("No findings in {files}.") if self._of_files else _("No findings in the text.")
            self._console.print(Text(nothing.format(files=files), style="green"))
            return
        errors = ngettext("{count:,} error", "{count:,} errors", self._findings).format(count=self._findings)
        self._console.print(
            self._conclusion(fixed).format(errors=errors, some=self._with_findings, files=files)
        )

    def _conclusion(self, fixed: bool) -> str:
        if not self._of_files:
            return _("{errors} corrected in the text.") if fixed else _("{errors} found in the text.")
        if self._documents == 1:
            return _("{errors} corrected in {files}.") if fixed else _("{errors} found in {files}.")
        if fixed:
            return _("{errors} corrected in {some} of {files}.")
        return _("{errors} found in {some} of {files}.")


def _excerpts(
    line: str, found: Sequence[Finding], width: int
) -> Iterator[tuple[int, int, Sequence[Finding]]]:
    """Excerpts of the line that fit the width (in cells), and the findings in each."""
    if len(line) <= width and cell_len(line) <= width:
        yield 0, len(line), found
        return
    rest = list(found)
    while rest:
        start = max(rest[0].offset - rest[0].line_start - _CONTEXT, 0)
        stop, cells = start, 2  # room for an ellipsis on both sides
        while stop < len(line) and (cells := cells + cell_len(line[stop])) <= width:
            stop += 1
        inside = [one for one in rest if one.stop_in_line <= stop] or rest[:1]
        yield start, max(stop, inside[-1].stop_in_line), inside
        rest = rest[len(inside) :]


def short_place(document: Document | None, one: Finding | Doubt) -> str:
    """Line and column, or what a person can find in an Office document."""
    if isinstance(document, OfficeDocument):
        return document.place_of(one.offset).label
    return f"{one.line}:{one.column}"


def doubt_row(doubt: Doubt, place: str) -> str:
    """A hint: its place, the doubtful text, and why."""
    return f"  {place}  {printable(visible(doubt.hint.source))}  {doubt.explanation}"


def printable(text: str) -> str:
    """The text without control characters, which would move the cursor."""
    return "".join(
        character if character.isprintable() or character == "\u3000" else " " for character in text
    )
