"""The attributes of HTML tags whose values people read: descriptions of pictures, titles, hints in fields."""

from collections.abc import Container, Iterator

from nmspeller.apps.documents.markup import Markup, names
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

READ = names("alt title placeholder aria-label aria-description aria-placeholder aria-roledescription")

_DESCRIPTIONS = names("description og:title og:description og:site_name twitter:title twitter:description")
_BUTTONS = names("button submit reset")
_HAS_HANZI = lazy_pattern(f"[{HANZI}]")
_ATTRIBUTE = lazy_pattern(r"""(?<=[\s"'])([^\s=>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NOT_PROSE = lazy_pattern(
    r"\{\{(?:(?!\{\{|\}\})[\s\S])*\}\}|\{%(?:(?!\{%|%\})[\s\S])*%\}|<%(?:(?!<%|%>)[\s\S])*%>"
    r"|&(?:\#\d+|\#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);"
)


def around(text: str, name: str, tag_end: int, mark: Markup, read: Container[str]) -> Iterator[Markup]:
    """The mark of an element, without the values of its opening tag that are read; these end a sentence."""
    start, tag = mark.start, text[mark.start : tag_end]
    if _HAS_HANZI.search(tag) and not tag.startswith("</"):
        for first, after in _values(name, tag, read):
            yield Markup(start, mark.start + first)
            for found in _NOT_PROSE.finditer(tag, first, after):
                yield Markup(mark.start + found.start(), mark.start + found.end(), joins=True)
            start = mark.start + after
    yield Markup(start, mark.stop, joins=mark.joins and start == mark.start)


def _values(name: str, tag: str, read: Container[str]) -> Iterator[tuple[int, int]]:
    """Where the values that are read are in a tag; those without Chinese are left out."""
    attributes = list(_ATTRIBUTE.finditer(tag))
    is_description = name == "meta" and any(
        found[1].lower() in ("name", "property") and (found[2] or found[3] or "").lower() in _DESCRIPTIONS
        for found in attributes
    )
    is_button = name == "input" and any(
        found[1].lower() == "type" and (found[2] or found[3] or "").lower() in _BUTTONS
        for found in attributes
    )
    for found in attributes:
        attribute = found[1].lower()
        is_read = (
            attribute in read
            or (is_description and attribute == "content")
            or (is_button and attribute == "value")
        )
        span = found.span(3 if found[2] is None else 2)
        if is_read and _HAS_HANZI.search(tag, *span):
            yield span
