"""The front matter of Markdown, in YAML or TOML: the values that a page shows, such as its title."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import BREAK, Markup
from nmspeller.text.patterns import lazy_pattern

_BOUNDS = lazy_pattern(
    rf"""
    \ufeff?(?:(?P<yaml>---)|\+\+\+)[ \t]*{BREAK}
    (?:.*?{BREAK})??
    (?(yaml)(?:---|\.\.\.)|\+\+\+)[ \t]*(?=\r|\n|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_SHOWN = lazy_pattern(
    r"""
    (?<=[\r\n])(?P<indent>[ \t]*)(?P<quote>["']?)
    (?:title|subtitle|linkTitle|description|summary|abstract|excerpt)
    (?P=quote)[ \t]*
    (?:
      (?::[ \t]+|=[ \t]*)"(?!"")(?P<double>(?:[^"\\]|\\.)*)"
    | (?::[ \t]+|=[ \t]*)'(?!'')(?P<single>(?:[^']|'')*)'
    | =[ \t]*(?P<triple>\"{3}|'{3})(?P<multiline>.*?)(?P=triple)
    | :[ \t]+[|>][-+0-9]*[ \t]*(?=[\r\n])(?P<block>(?:BREAK(?:(?P=indent)[ \t]+[^\r\n]*|[ \t]*(?=[\r\n])))*)
    | :[ \t]+(?P<plain>
        [^\s"'|>\[\]{}&*!\#%@`][^\r\n]*?(?<![ \t])(?=[ \t]+\#|[ \t]*(?:[\r\n]|\Z))
        (?:BREAK(?P=indent)[ \t]+[^\s\#][^\r\n]*)*
      )
    )
    """.replace("BREAK", BREAK),
    re.VERBOSE | re.DOTALL,
)
_VALUES = ("double", "single", "multiline", "block", "plain")
_ESCAPE = lazy_pattern(r"\\.", re.DOTALL)


def end(text: str) -> int:
    """Where the text's front matter ends; 0 if it has none."""
    bounds = _BOUNDS.match(text)
    return bounds.end() if bounds else 0


def scan(text: str, stop: int) -> Iterator[Markup]:
    """Everything before `stop` except the values that are shown, each of them a passage of its own."""
    start = 0
    for found in _SHOWN.finditer(text, 0, stop):
        name = next(name for name in _VALUES if found[name] is not None)
        first, after = found.span(name)
        yield Markup(start, first)
        if name == "double":
            for escape in _ESCAPE.finditer(found[name]):
                yield Markup(first + escape.start(), first + escape.end(), joins=True)
        start = after
    yield Markup(start, stop)
