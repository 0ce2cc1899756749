"""Which parts of an HTML page say that they are in Japanese or Korean, whose hanzi stay as they are."""

from collections import Counter
from typing import NamedTuple

from nmspeller.apps.documents.markup import names
from nmspeller.text.patterns import lazy_pattern

_NEVER_CLOSED = names("area base br col embed hr img input link meta param source track wbr")
_ENDS = {
    **dict.fromkeys(
        names(
            "address article aside blockquote div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr "
            "main nav ol p section table ul "
        ),
        names("p"),
    ),
    "li": names("li p"),
    **dict.fromkeys(names("dd dt"), names("dd dt p")),
    **dict.fromkeys(names("td th"), names("p td th")),
    "tr": names("p td th tr"),
    "option": names("option"),
}
"""Which elements a tag ends if it stands right inside them: their closing tags may be left out."""

# The languages that are written with hanzi. Any other says nothing: an element with hanzi that calls itself
# English has the language of what is around it, and a careless author.
_WRITTEN_WITH_HANZI = {"ja": False, "ko": False, "zh": True, "cmn": True, "yue": True}
_PRIMARY_LANGUAGE = lazy_pattern(r"[a-zA-Z]{2,3}(?![a-zA-Z])")
_ATTRIBUTE = lazy_pattern(r"""([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']*)))?""")


class _Element(NamedTuple):
    name: str
    is_chinese: bool


class OpenElements:
    """The elements that the tags so far have opened, and whether the innermost may be in Chinese."""

    def __init__(self) -> None:
        self._open = [_Element("", is_chinese=True)]
        self._count: Counter[str] = Counter()

    @property
    def are_chinese(self) -> bool:
        return self._open[-1].is_chinese

    def take(self, name: str, tag: str) -> None:
        """Follow a tag; a closing one also ends what was left open inside its element."""
        if tag.startswith("</"):
            if self._count[name]:
                while self._pop() != name:
                    pass
            return
        while self._open[-1].name in _ENDS.get(name, ()):
            self._pop()
        if name not in _NEVER_CLOSED and not tag.endswith("/>"):
            self._open.append(_Element(name, self._is_chinese(tag)))
            self._count[name] += 1

    def _pop(self) -> str:
        name = self._open.pop().name
        self._count[name] -= 1
        return name

    def _is_chinese(self, tag: str) -> bool:
        """What the tag says of its language, or else what is said of all around it."""
        return _WRITTEN_WITH_HANZI.get(_declared_language(tag), self.are_chinese)


def _declared_language(tag: str) -> str:
    """`ja` for `<p lang="ja-JP">`; nothing for a tag that declares no language, or only a template's."""
    if "lang" not in tag.lower():
        return ""
    for attribute, *values in _ATTRIBUTE.findall(tag):
        if attribute.lower() in ("lang", "xml:lang"):
            primary = _PRIMARY_LANGUAGE.match("".join(values))
            return primary.group().lower() if primary else ""
    return ""
