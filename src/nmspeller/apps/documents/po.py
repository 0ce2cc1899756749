"""The prose of gettext catalogues: translations, and the translators' comments."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents import placeholders
from nmspeller.apps.documents.markup import Markup
from nmspeller.apps.documents.values import Span, escapes, unmarked
from nmspeller.text.patterns import lazy_pattern

_LINE = lazy_pattern(
    r"""
    ^[ \t]*(?:
      (?P<comment>\#(?=[ \t]|$)[^\r\n]*)
    | (?:(?P<keyword>msg(?:id|id_plural|str|ctxt)(?:\[\d+\])?)[ \t]*)?"(?P<string>(?:[^"\\\r\n]|\\[^\r\n])*)"?
    )
    """,
    re.MULTILINE | re.VERBOSE,
)


# As in HTML, any other language in the header only shows that nobody has filled it in.
_LANGUAGE = lazy_pattern(r"\s*Language:\s*([a-zA-Z]+)")
_WRITTEN_WITH_HANZI_TOO = ("ja", "ko")


def scan(text: str) -> Iterator[Markup]:
    """Everything except translations and comments; the strings of one translation are one text."""
    end = 0
    keyword, is_header, is_chinese = "", False, True
    for found in _LINE.finditer(text):
        continues = False
        if found["comment"]:
            span: Span = unmarked(text, *found.span("comment"), "#")
            keyword = ""
        else:
            span = found.span("string")
            continues = not found["keyword"]
            if found["keyword"]:
                keyword = found["keyword"]
                # The translation of nothing is the header of the file.
                is_header = not found["string"] if keyword == "msgid" else is_header
            elif keyword == "msgid" and found["string"]:
                is_header = False
            if is_header and (language := _LANGUAGE.match(found["string"])):
                is_chinese = language[1].lower() not in _WRITTEN_WITH_HANZI_TOO
            if not keyword.startswith("msgstr") or is_header or not is_chinese:
                continue
        yield Markup(end, span[0], joins=continues)
        yield from escapes(text, *span)
        yield from placeholders.scan(text, *span)
        end = span[1]
    yield Markup(end, len(text))
