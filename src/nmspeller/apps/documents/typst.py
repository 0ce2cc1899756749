"""The prose of Typst: what is outside code, and the contents `[…]` and titles inside it."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import BREAK, Markup
from nmspeller.text.patterns import lazy_pattern

_SHARED = r"""
      (?P<comment>//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)
    | (?P<raw>(?P<ticks>`{3,})[\s\S]*?(?:(?P=ticks)|\Z)|``|`[^`]*`?)
    | (?P<formula>\$(?:[^$\\]|\\[\s\S])*\$?)
"""
_IN_MARKUP = lazy_pattern(
    rf"""
      {_SHARED}
    | (?P<escape>\\u\{{[^{{}}]*\}}|\\.|\\)
    | (?P<address>https?://[^\s\[\]<>"'，。；、）]+)
    | (?P<statement>\#(?:let|set|show|import|include|if|for|while|return|context)\b)
    | (?P<expression>\#(?=[a-zA-Z_(\[{{"]))
    | (?P<label><[\w:.\-]+>|@[\w:.\-]*\w)
    | (?P<line>^[ \t]*(?:=+|[-+]|\d+\.)[ \t]+|^[ \t]*/[ \t](?=[^:\r\n]*:))
    | (?P<mark>[*_~])
    | (?P<open>\[)
    | (?P<close>\])
    """,
    re.VERBOSE | re.MULTILINE,
)
_IN_CODE = lazy_pattern(
    rf"""
      {_SHARED}
    | (?P<shown>\b(?:title|subtitle|caption|abstract|supplement|body|alt|description)[ \t]*:[ \t]*")
    | (?P<string>"(?:[^"\\]|\\[\s\S])*"?)
    | (?P<open>[(\[{{])
    | (?P<close>[)\]}}])
    | (?P<end>{BREAK}|;)
    """,
    re.VERBOSE,
)
_STRING_END = lazy_pattern(r'(?:[^"\\]|\\[\s\S])*')
_CHAIN = lazy_pattern(r"[a-zA-Z_][\w-]*(?:\.[a-zA-Z_][\w-]*)*")
_LINE_END = lazy_pattern(r"[\r\n]")
_ESCAPE = lazy_pattern(r"\\(?:u\{[^{}]*\}|[\s\S])")


def scan(text: str) -> Iterator[Markup]:
    """Comments, raw text, formulas, labels and code; the content of brackets in code is read."""
    return _Scanner(text).scan()


class _Scanner:
    """Reads a text from its start; `open` has what each open bracket is.

    `[` is content, `(` and `{` are code, `…` is a statement up to the end of its line, `#` an expression,
    `^` one whose content is no part of the sentence, `]` brackets in content that mean themselves.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open = [""]
        self._statements = 0

    def scan(self) -> Iterator[Markup]:
        while self._at < len(self._text):
            if self._open[-1] in ("", "[", "]"):
                yield from self._markup()
            elif self._open[-1] in ("#", "^"):
                yield from self._expression()
            else:
                yield from self._code()

    def _markup(self) -> Iterator[Markup]:
        found = _IN_MARKUP.search(self._text, self._at)
        if not found:
            self._at = len(self._text)
            return
        kind, self._at = found.lastgroup, found.end()
        if kind == "open":
            self._open.append("]")
        elif kind == "close":
            if self._open[-1] == "[":
                yield Markup(*found.span(), joins=len(self._open) > 1 and self._open[-2] == "#")
            if len(self._open) > 1:
                self._open.pop()
        elif kind == "statement":
            self._open.append("…")
            self._statements += 1
            yield Markup(*found.span())
        elif kind == "expression":
            self._open.append("#")
            yield Markup(*found.span(), joins=True)
        else:
            yield Markup(*found.span(), joins=kind != "line")
            if kind == "line" and found.group().lstrip().startswith("="):
                end = _LINE_END.search(self._text, self._at)
                yield Markup(end.start(), end.end()) if end else Markup(self._at, self._at)

    def _expression(self) -> Iterator[Markup]:
        """After the number sign: a name, then arguments in parentheses and contents in brackets."""
        start = self._at
        if self._text[start - 1] == "#" and (name := _CHAIN.match(self._text, start)):
            self._at = name.end()
            self._open[-1] = "^" if name.group() == "footnote" else "#"
            yield Markup(start, self._at, joins=True)
            return
        sign = self._text[start]
        if sign == '"' and self._text[start - 1] == "#":
            string = _IN_CODE.match(self._text, start)
            self._at = string.end() if string else start + 1
            yield Markup(start, self._at, joins=True)
        elif sign in "([{":
            self._at += 1
            yield Markup(start, self._at, joins=self._open[-1] == "#")
            self._open.append(sign)
        elif sign == "." and (name := _CHAIN.match(self._text, start + 1)):
            self._at = name.end()
            yield Markup(start, self._at, joins=True)
        else:
            self._open.pop()
            if sign == ";":
                self._at += 1
                yield Markup(start, self._at, joins=True)

    def _code(self) -> Iterator[Markup]:
        start = self._at
        found = _IN_CODE.search(self._text, start)
        if not found:
            self._at = len(self._text)
            yield Markup(start, self._at)
            return
        self._at = found.end()
        sign = found.group()
        # An expression in a sentence belongs to it, unless there is something in it to read.
        yield Markup(start, self._at, joins=not self._statements)
        if found.lastgroup == "shown":
            string = _STRING_END.match(self._text, self._at)
            stop = string.end() if string else self._at
            yield Markup(self._at, self._at)
            for escape in _ESCAPE.finditer(self._text, self._at, stop):
                yield Markup(*escape.span(), joins=True)
            yield Markup(stop, min(stop + 1, len(self._text)))
            self._at = min(stop + 1, len(self._text))
        elif found.lastgroup == "open":
            if sign == "[":
                yield Markup(self._at, self._at)
            self._open.append(sign)
        elif found.lastgroup == "close":
            while len(self._open) > 1 and self._open[-1] == "…":
                self._end_statement()
            if len(self._open) > 1:
                self._open.pop()
        elif found.lastgroup == "end" and self._open[-1] == "…":
            self._end_statement()

    def _end_statement(self) -> None:
        self._open.pop()
        self._statements -= 1
