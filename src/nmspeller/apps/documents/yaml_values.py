"""The prose of YAML: values and comments, found line by line.

A parser would refuse what it does not understand; templates and unfinished files are to be read, too.
"""

import re
from collections.abc import Iterator

from nmspeller.apps.documents import placeholders
from nmspeller.apps.documents.markup import BREAK, Markup
from nmspeller.apps.documents.values import BACKSLASH, escapes, unmarked
from nmspeller.text.patterns import lazy_pattern

# What is never closed ends with the text, so that nothing is read twice.
_QUOTED = r"""(?:"(?P<double>(?:[^"\\]|\\[\s\S])*)"?|'(?P<single>(?:[^']|'')*)'?)"""
_KEY = lazy_pattern(
    r"""
    (?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*'|[^\s#"'\[\]{},&*!|>%@`:-](?:[^:#\r\n]|:(?!\s)|(?<!\s)\#)*|-(?![\s-]))
    [ \t]*:(?=\s|\Z)
    """,
    re.VERBOSE,
)
_DASHES = lazy_pattern(r"[ \t]*(?:[-?:](?=\s)[ \t]*)*")
_PROPERTIES = lazy_pattern(r"[ \t]*(?:[!&][^\s,\[\]{}]*[ \t]*)*")
_BLOCK = lazy_pattern(r"[|>][-+0-9]{0,3}[ \t]*(?P<comment>#[^\r\n]*)?(?=[\r\n]|\Z)")
_SCALAR = lazy_pattern(_QUOTED)
_PLAIN = lazy_pattern(r"(?:[^\s#]|[ \t]+(?![#\s])|(?<=\S)\#)*")
_NOT_PLAIN = ('"', "'", "[", "{", "#", "*", "\r", "\n")
_COMMENT = lazy_pattern(r"[ \t]*#[^\r\n]*")
_LINE = lazy_pattern(rf"(?P<blanks>[ \t]*)(?P<content>[^\r\n]*)(?:{BREAK})?")
_IN_FLOW = lazy_pattern(
    rf"""
      {_QUOTED}
    | (?P<open>[\[{{])
    | (?P<close>[\]}}])
    | (?P<comment>(?<=\s)\#[^\r\n]*)
    | (?P<plain>
        (?:[^\s,\[\]{{}}"':#]|:(?![\s,\[\]{{}}]))
        (?:[^\s,\[\]{{}}:#]|:(?![\s,\[\]{{}}])|(?<!\s)\#|[ ]+(?=[^\s,\[\]{{}}:#]))*
      )
    """,
    re.VERBOSE,
)
_ESCAPES = {"double": BACKSLASH, "single": re.compile("''")}
_COLON = lazy_pattern(r"\s*:(?=[\s,\[\]{}]|\Z)")


def scan(text: str) -> Iterator[Markup]:
    """Everything except values and comments; in values, escapes and placeholders."""
    end = 0
    for start, stop, continues, escape in _YamlScanner(text).values():
        yield Markup(end, start, joins=continues)
        if escape:
            yield from escapes(text, start, stop, escape)
        yield from placeholders.scan(text, start, stop)
        end = stop
    yield Markup(end, len(text))


Value = tuple[int, int, bool, re.Pattern[str] | None]
"""Start and stop, whether it continues the value before, and what its escapes look like."""


class _YamlScanner:
    """Reads a text from its start; `at` is where it goes on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def values(self) -> Iterator[Value]:
        text = self._text
        indent = 0  # of the last key, or of the last dash without one
        in_plain = False  # whether the last line's value may go on in this one
        while self._at < len(text):
            line = _match(_LINE, text, self._at)
            dashes = _match(_DASHES, text, self._at)
            key = _KEY.match(text, dashes.end())
            continues = in_plain and key is None and len(line["blanks"]) > indent
            if not line["content"].strip():
                self._at = line.end()
                continue
            if continues and not line["content"].startswith("#"):
                self._at = line.start("content")
                yield self._plain(continues=True)
            else:
                if key or dashes.group().strip():
                    indent = len(dashes.group() if key else dashes.group().rstrip()[:-1])
                self._at = _match(_PROPERTIES, text, key.end() if key else dashes.end()).end()
                if block := _BLOCK.match(text, self._at):
                    self._at = block.end()
                    yield from self._block(indent)
                    in_plain = False
                    continue
                in_plain = not text.startswith(_NOT_PLAIN, self._at)
                yield from self._value()
            if comment := _COMMENT.match(text, self._at):
                yield (*unmarked(text, *comment.span(), "#"), False, None)
                in_plain = False
            self._at = _match(_LINE, text, self._at).end()

    def _value(self) -> Iterator[Value]:
        """What follows a key or a dash in its line, unless it is a block."""
        if self._text.startswith(('"', "'"), self._at):
            yield self._quoted()
        elif self._text.startswith(("[", "{"), self._at):
            yield from self._flow()
        elif not self._text.startswith(_NOT_PLAIN, self._at):
            yield self._plain(continues=False)

    def _plain(self, *, continues: bool) -> Value:
        start = self._at
        self._at = _match(_PLAIN, self._text, start).end()
        return start, self._at, continues, None

    def _quoted(self) -> Value:
        found = _match(_SCALAR, self._text, self._at)
        self._at = found.end()
        kind = "single" if found["double"] is None else "double"
        return (*found.span(kind), False, _ESCAPES.get(kind))

    def _block(self, indent: int) -> Iterator[Value]:
        """The lines that are indented deeper than the key, each a part of one text."""
        text = self._text
        self._at = _match(_LINE, text, self._at).end()
        start = self._at
        while self._at < len(text):
            line = _match(_LINE, text, self._at)
            is_inside = len(line["blanks"]) > indent or not line["content"].strip()
            if not is_inside:
                break
            self._at = line.end()
        yield start, self._at, False, None

    def _flow(self) -> Iterator[Value]:
        """The values inside brackets, to the one that closes the first."""
        text, depth = self._text, 0
        while found := _IN_FLOW.search(text, self._at):
            self._at = found.end()
            if found["open"]:
                depth += 1
            elif found["close"]:
                depth -= 1
                if depth <= 0:
                    return
            elif found["comment"]:
                yield (*unmarked(text, *found.span(), "#"), False, None)
            elif not _COLON.match(text, self._at):
                kind = next(kind for kind in ("double", "single", "plain") if found[kind] is not None)
                yield (*found.span(kind), False, _ESCAPES.get(kind))
        self._at = len(text)


def _match(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    """The match of a pattern that matches everywhere."""
    found = pattern.match(text, at)
    assert found is not None
    return found
