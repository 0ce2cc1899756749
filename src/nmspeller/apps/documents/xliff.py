"""Which texts of an XLIFF file are its own: translations into Chinese, and Chinese that has none yet.

A source text comes from elsewhere. It may be read, but a translation tool finds its translation by it, so
that it must stay as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nmspeller.apps.documents.markup import Markup, names
from nmspeller.text.patterns import lazy_pattern

_TAG = lazy_pattern(
    r"<(?P<end>/?)(?:\w+:)?(?P<name>xliff|file|group|trans-unit|unit|segment|alt-trans|matches|source|target)"
    r"(?P<attributes>(?:\s(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*?)?)(?P<empty>/?)>"
)
_ATTRIBUTE = lazy_pattern(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_PAIRS = names("trans-unit segment")
_SUGGESTIONS = names("alt-trans matches")
_IS_CHINESE = lazy_pattern(r"(?:zh|cmn|yue)(?![a-zA-Z])")


@dataclass(frozen=True)
class _Element:
    """What is said of the texts in an element."""

    name: str
    source: str = ""
    target: str = ""
    is_read: bool = True

    def child(self, name: str, said: dict[str, str]) -> "_Element":
        return _Element(
            name,
            said.get("source-language", said.get("srcLang", self.source)).lower(),
            said.get("target-language", said.get("trgLang", self.target)).lower(),
            name not in _SUGGESTIONS
            and {"yes": True, "no": False}.get(said.get("translate", ""), self.is_read),
        )


def is_xliff(text: str) -> bool:
    found = _TAG.search(text)
    return found is not None and found["name"] == "xliff"


def unread(text: str) -> Iterator[Markup]:
    """The source texts, unless Chinese and without a translation, and the translations not into Chinese."""
    if not is_xliff(text):
        return
    opened = [_Element("")]
    start = 0
    source: Markup | None = None  # of the present pair, until a translation comes
    for tag in _TAG.finditer(text):
        name = tag["name"]
        if not tag["end"]:
            said = {key: double or single for key, double, single in _ATTRIBUTE.findall(tag["attributes"])}
            start = tag.end()
            if not tag["empty"]:
                opened.append(opened[-1].child(name, said))
            continue
        element = opened.pop() if opened[-1].name == name else opened[-1]
        content = Markup(start, tag.start())
        if name == "source" and element.is_read and _IS_CHINESE.match(element.source):
            source = content
        elif name == "source":
            yield content
        elif name == "target":
            if source and text[content.start : content.stop].strip():
                yield source
                source = None
            if not element.is_read or (element.target and not _IS_CHINESE.match(element.target)):
                yield content
        elif name in _PAIRS:
            source = None


def is_source(text: str, at: int) -> bool:
    """Whether a place of an XLIFF file is in a source text."""
    last = text.rfind("source", 0, at)
    tag = _TAG.search(text, max(text.rfind("<", 0, last), 0))
    return last >= 0 and tag is not None and tag["name"] == "source" and not tag["end"] and is_xliff(text)
