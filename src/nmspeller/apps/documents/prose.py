"""The prose of a document in any format; every app uses this module.

    for passage in passages(text, "markdown"):
        passage.text      # prose, without any markup

A sentence with bold type in it is several spans of the document. A passage joins them, so that the speller
reads the whole sentence, and maps its edits back to the document.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from pathlib import PurePath
from typing import NamedTuple

from nmspeller.apps.documents import (
    apple_strings,
    asciidoc,
    code,
    code_strings,
    git_commit,
    html,
    ipynb,
    json_values,
    latex,
    markdown,
    mdx,
    org,
    po,
    properties,
    rst,
    subtitles,
    typst,
    vue,
    xml_text,
    yaml_values,
)
from nmspeller.apps.documents.markup import BREAK, Markup, in_order
from nmspeller.runtime.findings import Edit, Hint
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

_SCANNERS: dict[str, Callable[[str], Iterable[Markup]]] = {
    "markdown": markdown.scan,
    "mdx": mdx.scan,
    "html": html.scan,
    "srt": subtitles.scan,
    "latex": latex.scan,
    "rst": rst.scan,
    "git-commit": git_commit.scan,
    "asciidoc": asciidoc.scan,
    "org": org.scan,
    "typst": typst.scan,
    "ipynb": ipynb.scan,
    "json": json_values.scan,
    "yaml": yaml_values.scan,
    "po": po.scan,
    "properties": properties.scan,
    "strings": apple_strings.scan,
    "xml": xml_text.scan,
    "vue": vue.scan,
}

FORMATS = ("text", *_SCANNERS, "code", "code+strings")
"""The formats that `passages` knows.

`code` stands for any language id or alias that Pygments knows, `code+strings` for the same with its strings.
"""

OFFICE_FORMATS = ("docx", "odt", "odp", "pptx", "xlsx", "epub")
"""The formats of archives, which `nmspeller.apps.documents.document` reads."""

_PROSE_SUFFIXES = {
    **dict.fromkeys((".txt", ".text"), "text"),
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd"), "markdown"),
    ".mdx": "mdx",
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".srt", ".vtt"), "srt"),
    **dict.fromkeys((".tex", ".ltx"), "latex"),
    **dict.fromkeys((".rst", ".rest"), "rst"),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), "asciidoc"),
    ".org": "org",
    ".typ": "typst",
    ".ipynb": "ipynb",
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), "docx"),
    **dict.fromkeys((".odt", ".ott"), "odt"),
    **dict.fromkeys((".odp", ".otp"), "odp"),
    **dict.fromkeys((".pptx", ".pptm", ".potx", ".ppsx"), "pptx"),
    ".epub": "epub",
}
"""What is written to be read; a folder's files with these suffixes are checked."""

_SUFFIXES = {
    **_PROSE_SUFFIXES,
    **dict.fromkeys((".json", ".jsonc", ".json5", ".arb"), "json"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys((".po", ".pot"), "po"),
    ".properties": "properties",
    ".strings": "strings",
    **dict.fromkeys((".xml", ".resx", ".resw", ".xlf", ".xliff", ".stringsdict"), "xml"),
    ".vue": "vue",
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx"), "xlsx"),
}
"""Also what holds texts among other things, and is checked if it is named."""

_LANGUAGE_IDS = {
    "plaintext": "text",
    "tex": "latex",
    "restructuredtext": "rst",
    "subrip": "srt",
    "xhtml": "html",
    "json5": "json",
    "jsonc": "json",
    "dockercompose": "yaml",
    "asciidoctor": "asciidoc",
    "gettext": "po",
    "pot": "po",
    "java-properties": "properties",
}

_HAS_HANZI = lazy_pattern(f"[{HANZI}]")
_CHINESE = f"[{HANZI}\u3001-\u301f\uff01-\uff65\u2014\u2018-\u201f\u2026]"
_PARAGRAPH_END = lazy_pattern(rf"{BREAK}(?:[ \t\u3000]*{BREAK})+")
_SOFT_BREAK = lazy_pattern(rf"(?<={_CHINESE})[ \t]*{BREAK}[ \t\u3000]*(?={_CHINESE})")
_LINE_END = lazy_pattern("[\n\r\x0b\x0c\x85\u2028\u2029]+")
_SWITCH = lazy_pattern(r"nmspeller:[ \t]*(off|on)\b")
_IGNORED_LINE = lazy_pattern(r"^[^\r\n]*nmspeller:[ \t]*ignore\b[^\r\n]*", re.MULTILINE)


class ProseSpan(NamedTuple):
    """Code points `start` to `stop` of the document are prose without markup."""

    start: int
    stop: int


@dataclass(frozen=True)
class Passage:
    """Prose that is checked as one text: `text` is the text of all its spans, concatenated.

    `seams` are the places in `text` where there is markup in the document, not only a line break.
    """

    text: str
    spans: tuple[ProseSpan, ...]
    seams: tuple[int, ...] = ()

    def in_document(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """The edits of `text` as edits of the document; one that spans markup is split there.

        A rule deletes or inserts nothing where markup begins or is inside: what it took for neighbours, as in
        `a`、`b`、`c`, may have code between them, and **bold type** may have no blanks inside its marks.
        """
        for edit in edits:
            if edit.rule and len(edit.target) != edit.length and self._meets_seam(edit):
                continue
            number, rest = self._span_of(edit.offset), edit
            while rest.offset + rest.length > self._stops[number]:
                head, rest = _cut(rest, self._stops[number] - rest.offset)
                yield from self._placed(head, number)
                number += 1
            yield from self._placed(rest, number)

    def _placed(self, edit: Edit, number: int) -> Iterator[Edit]:
        """An edit inside one span, with its offset in the document; none if it changes nothing."""
        if edit.source != edit.target:
            yield replace(edit, offset=self.spans[number].stop - self._stops[number] + edit.offset)

    @cached_property
    def _stops(self) -> list[int]:
        """Where each span ends in `text`."""
        return [*accumulate(stop - start for start, stop in self.spans)]

    def _span_of(self, offset: int) -> int:
        """The span that holds text[offset], or the last one if that is the end."""
        return min(bisect_right(self._stops, offset), len(self.spans) - 1)

    def hints_in_document(self, document: str, hints: Iterable[Hint]) -> Iterator[Hint]:
        """The hints of `text` as hints of the document's text; markup inside one belongs to it.

        What has code, a link or a tag in the middle is not what a rule took it for, and gives none.
        """
        for hint in hints:
            start, stop = self.place(hint.offset, hint.offset + hint.length)
            source = document[start:stop]
            if sum(map(str.isalnum, source)) == sum(map(str.isalnum, hint.source)):
                yield replace(hint, offset=start, length=stop - start, source=source)

    def _meets_seam(self, edit: Edit) -> bool:
        """Whether markup is inside an edit or right before it."""
        stop = edit.offset + max(edit.length, 1)
        return bisect_left(self.seams, edit.offset) < bisect_left(self.seams, stop)

    def place(self, start: int, stop: int) -> tuple[int, int]:
        """Where text[start:stop], which is not empty, lies in the document, markup inside it included."""
        return self._place_of(start), self._place_of(stop - 1) + 1

    def _place_of(self, offset: int) -> int:
        number = self._span_of(offset)
        return self.spans[number].stop - self._stops[number] + offset


def _cut(edit: Edit, length: int) -> tuple[Edit, Edit]:
    """The edit split after `length` characters; if source and target differ in length, the second deletes."""
    same_length = len(edit.target) == edit.length
    at = length if same_length else len(edit.target)
    alternatives = [other for other in edit.alternatives if same_length and len(other) == edit.length]
    head = replace(
        edit,
        length=length,
        source=edit.source[:length],
        target=edit.target[:at],
        alternatives=tuple(dict.fromkeys(other[:at] for other in alternatives)),
    )
    rest = replace(
        edit,
        offset=edit.offset + length,
        length=edit.length - length,
        source=edit.source[length:],
        target=edit.target[at:],
        alternatives=tuple(dict.fromkeys(other[at:] for other in alternatives)),
    )
    return head, rest


def passages(text: str, format: str) -> list[Passage]:
    """The prose of a text in passages that continue across inline markup.

    Passages without a Chinese character are left out, and so is everything between `nmspeller: off` and
    `nmspeller: on`, and each line with `nmspeller: ignore`.

    format: one of `FORMATS`, or a language id of the language server protocol.
    """
    ignored = (Markup(*found.span()) for found in _IGNORED_LINE.finditer(text))
    marks = [*_breaks(text, format), *_switched_off(text), *ignored]
    found = []
    for group in _groups(len(text), in_order(marks)):
        spans = _without_edges(text, group)
        prose = "".join(text[start:stop] for start, stop in spans)
        if _HAS_HANZI.search(prose):
            found.append(Passage(prose, tuple(spans), tuple(_seams(text, spans))))
    return found


def format_of(path: str | PurePath) -> str:
    """The format of a file by its name: `code:` and the language for a program, `text` if unknown."""
    path = PurePath(path)
    if path.name in git_commit.FILE_NAMES:
        return "git-commit"
    known = _SUFFIXES.get(path.suffix.lower())
    if known:
        return known
    language = code.language_of(path.name)
    return f"code:{language}" if language else "text"


def with_strings(format: str) -> str:
    """The format that also reads the strings of a program, if the format reads programs."""
    if format == "vue":
        return "vue+strings"
    return re.sub(r"^code\b(?!\+)", "code+strings", format)


def is_program(path: str | PurePath) -> bool:
    """Whether a file has strings that are read only if somebody asks for them."""
    return with_strings(format_of(path)) != format_of(path)


def is_prose_file(path: str | PurePath) -> bool:
    """Whether a file is checked if only its folder was named."""
    return PurePath(path).suffix.lower() in _PROSE_SUFFIXES


def _breaks(text: str, format: str) -> Iterator[Markup]:
    format = _LANGUAGE_IDS.get(format, format)
    if format in ("text", "code", "code+strings"):
        yield from (Markup(*found.span()) for found in _LINE_END.finditer(text))
        return
    if format in _SCANNERS:
        yield from _SCANNERS[format](text)
    elif format == "vue+strings":
        yield from vue.scan(text, strings=True)
    elif format.startswith("code+strings:"):
        yield from code_strings.scan(text, format.removeprefix("code+strings:"))
    else:
        yield from code.scan(text, format.removeprefix("code:"))
    yield from (Markup(*found.span()) for found in _PARAGRAPH_END.finditer(text))
    # Chinese has no spaces between words: a sentence continues across a line break without a gap.
    yield from (Markup(*found.span(), joins=True) for found in _SOFT_BREAK.finditer(text))


def _switched_off(text: str) -> Iterator[Markup]:
    """From each `off` to the next `on`, or to the end."""
    switches = [(found.group(1), found) for found in _SWITCH.finditer(text)]
    off = None
    for state, run in groupby(switches, key=lambda switch: switch[0]):
        first = next(run)[1]
        if state == "off":
            off = first.start()
        elif off is not None:
            yield Markup(off, first.end())
            off = None
    if off is not None:
        yield Markup(off, len(text))


def _without_edges(text: str, spans: list[ProseSpan]) -> list[ProseSpan]:
    """The same prose without leading and trailing white space."""
    first, after = 0, len(spans)
    while first < after and text[slice(*spans[first])].isspace():
        first += 1
    while first < after and text[slice(*spans[after - 1])].isspace():
        after -= 1
    spans = spans[first:after]
    if spans:
        start, stop = spans[0]
        spans[0] = ProseSpan(stop - len(text[start:stop].lstrip()), stop)
        start, stop = spans[-1]
        spans[-1] = ProseSpan(start, start + len(text[start:stop].rstrip()))
    return spans


def _seams(text: str, spans: Iterable[ProseSpan]) -> Iterator[int]:
    """The places in the spans' prose where something other than white space was left out."""
    length = 0
    for span, following in pairwise(spans):
        length += span.stop - span.start
        if text[span.stop : following.start].strip():
            yield length


def _groups(length: int, marks: Iterable[Markup]) -> Iterator[list[ProseSpan]]:
    """The ranges between the marks; those on both sides of a joining mark are in one group."""
    group: list[ProseSpan] = []
    start = 0
    for mark in chain(marks, [Markup(length, length)]):
        if start < mark.start:
            group.append(ProseSpan(start, mark.start))
        start = mark.stop
        if not mark.joins and group:
            yield group
            group = []
