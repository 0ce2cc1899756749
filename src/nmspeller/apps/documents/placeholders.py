"""What a program replaces in a translation: placeholders, ICU messages, tags.

A placeholder with a Latin name, such as `{count}` or `%s`, stays in the sentence, where it is protected as
all Latin text is: without it, the words around it would meet. One with a Chinese name would be corrected.
"""

import re
from collections.abc import Iterator

from nmspeller.apps.documents.markup import Markup, names
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

_BLOCKS = names("br div h1 h2 h3 h4 h5 h6 hr li ol p td th tr ul")
_NEXT = lazy_pattern(
    r"""
      (?P<choice>
        \{\s*[^\s{},"'<>]{1,100}\s*,\s*(?:plural|select|selectordinal)\s*,
        (?:\s*offset:\d+)?\s*[^\s{}]{1,100}\s*\{
      )
    | (?P<named>
        [$@][a-z]{1,10}\([^()\r\n]*\)
      | \{\{[^{}]*\}\}
      | [$%\#@]?\{[^{}\r\n]*\}
      | %\([^()\r\n]*\)[a-z]
      )
    | (?P<arm>\}\s*[^\s{}]{1,100}\s*\{)
    | (?P<close>\}(?:\s*\})?)
    | (?P<tag></?(?P<name>[a-zA-Z][^\s<>/"']*)(?![^\s<>/"'])[^<>]*>)
    | (?P<entity>&(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);)
    """,
    re.VERBOSE,
)
_HAS_HANZI = lazy_pattern(f"[{HANZI}]")


def scan(text: str, start: int, stop: int) -> Iterator[Markup]:
    """The placeholders with Chinese names, the tags, and the syntax of ICU messages, whose arms are texts."""
    depth = 0  # of ICU messages inside each other
    for found in _NEXT.finditer(text, start, stop):
        if found["choice"]:
            depth += 1
            yield Markup(*found.span())
        elif found["arm"] or found["close"]:
            if depth:
                depth -= bool(found["close"])
                yield Markup(*found.span())
        elif found["tag"]:
            yield Markup(*found.span(), joins=found["name"].lower() not in _BLOCKS)
        elif found["entity"] or _HAS_HANZI.search(found.group()):
            yield Markup(*found.span(), joins=True)
