"""The prose of Jupyter notebooks: the Markdown of their cells, which JSON holds as a list of strings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nmspeller.apps.documents import markdown
from nmspeller.apps.documents.json_values import COLON
from nmspeller.apps.documents.markup import Markup
from nmspeller.apps.documents.values import BACKSLASH, Span
from nmspeller.text.patterns import lazy_pattern

_NEXT = lazy_pattern(r'"(?P<string>(?:[^"\\\r\n]|\\.)*)"?|(?P<open>\{)|(?P<close>\})')
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def scan(text: str) -> Iterator[Markup]:
    """Everything except the prose of Markdown cells."""
    end = 0
    for strings in _markdown_cells(text):
        if strings[0][0] < end:  # a cell inside another one, which no program writes
            continue
        yield Markup(end, strings[0][0])
        source = _Source.of(text, strings)
        yield from source.escapes(text)
        yield from map(source.in_file, markdown.scan(source.text))
        end = strings[-1][1]
    yield Markup(end, len(text))


@dataclass
class _Object:
    """An object of JSON, as far as it is read: its last key, and what is known of it as a cell."""

    key: str = ""
    is_markdown: bool = False
    source: list[Span] = field(default_factory=list)


def _markdown_cells(text: str) -> Iterator[list[Span]]:
    """The strings of the source of each Markdown cell."""
    objects = [_Object()]
    for found in _NEXT.finditer(text):
        if found["open"]:
            objects.append(_Object())
        elif found["close"]:
            cell = objects.pop() if len(objects) > 1 else _Object()
            if cell.is_markdown and cell.source:
                yield cell.source
        elif COLON.match(text, found.end()):
            objects[-1].key = found["string"]
        elif objects[-1].key == "cell_type":
            objects[-1].is_markdown = found["string"] == "markdown"
        elif objects[-1].key == "source":
            objects[-1].source.append(found.span("string"))


@dataclass(frozen=True)
class _Source:
    """The source of a cell without JSON's escapes; in the file, character n is from starts[n] to stops[n]."""

    text: str
    starts: Sequence[int]
    stops: Sequence[int]

    @classmethod
    def of(cls, text: str, strings: Sequence[Span]) -> "_Source":
        characters: list[str] = []
        starts: list[int] = []
        stops: list[int] = []
        for start, stop in strings:
            for escape in (*BACKSLASH.finditer(text, start, stop), None):
                plain_stop = escape.start() if escape else stop
                characters += text[start:plain_stop]
                starts += range(start, plain_stop)
                stops += range(start + 1, plain_stop + 1)
                if escape:
                    sign = escape.group()[1]
                    # What is no sign of Markdown may be anything: it is not prose in any case.
                    characters.append(" " if sign == "u" else _SIMPLE.get(sign, sign))
                    starts.append(escape.start())
                    stops.append(escape.end())
                    start = escape.end()
        return cls("".join(characters), starts, stops)

    def in_file(self, mark: Markup) -> Markup:
        """A mark of the source as one of the file."""
        last = len(self.starts)
        start = self.starts[mark.start] if mark.start < last else self.stops[-1] if last else 0
        return Markup(start, self.stops[mark.stop - 1] if mark.start < mark.stop else start, mark.joins)

    def escapes(self, text: str) -> Iterator[Markup]:
        """The escapes, and what is between two strings: all that is no character of the source."""
        for start, stop in zip(self.starts, self.stops, strict=True):
            if text[start] == "\\":
                yield Markup(start, stop, joins=True)
        for stop, start in zip(self.stops, self.starts[1:], strict=False):
            if stop < start:
                yield Markup(stop, start, joins=True)
