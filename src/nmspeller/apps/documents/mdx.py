"""The prose of MDX: Markdown, with components, expressions and imports in it."""

import re
from collections.abc import Iterator

from nmspeller.apps.documents import front_matter, html_attributes, markdown
from nmspeller.apps.documents.markup import BREAK, Markup
from nmspeller.text.patterns import lazy_pattern

_FILLER = "\ufffc"
# Of an expression; what is never closed is none, and is not searched to the end for every brace in it.
_LONGEST, _DEEPEST = 5_000, 20
_NEXT = lazy_pattern(
    rf"""
      (?P<fence>^[ \t]{{0,3}}(?P<ticks>`{{3,}}|~{{3,}})[^\r\n]*)
    | (?P<code>(?<!`)(?P<tick>`+)(?!`))
    | (?P<module>^(?:import|export)\b[^\r\n]*(?:{BREAK}[^\r\n]+)*)
    | (?P<escape>\\.)
    | (?P<expression>\{{)
    | (?P<tag></?(?:[a-zA-Z][\w.:\-]*)?(?=[\s/>{{]))
    """,
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_IN_CODE = lazy_pattern(
    r"""(?P<open>[{])|(?P<close>\})|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?P<end>>)|(?P<tag><)""",
    re.DOTALL,
)


def scan(text: str) -> Iterator[Markup]:
    """As of Markdown; also imports and exports, expressions in braces, and tags with what they are given."""
    hidden = list(_hidden(text))
    filled: list[str] = []
    end = 0
    for mark in hidden:
        # Markdown sees some text in the place of a tag, so that the lines between tags are paragraphs.
        content = text[mark.start : mark.stop]
        filled += (text[end : mark.start], re.sub(r"[^\r\n]", _FILLER, content))
        end = mark.stop
    filled.append(text[end:])
    yield from markdown.scan("".join(filled))
    for mark in hidden:
        if text[mark.start] == "<":
            yield from html_attributes.around(text, "", mark.stop, mark, html_attributes.READ)
        else:
            yield mark


def _hidden(text: str) -> Iterator[Markup]:
    """What is no Markdown, in order."""
    at = front_matter.end(text)
    while found := _NEXT.search(text, at):
        at = found.end()
        if found["fence"]:
            closing = re.compile(rf"^[ \t]{{0,3}}{found['ticks']}[^\r\n]*", re.MULTILINE).search(text, at)
            at = closing.end() if closing else len(text)
        elif found["code"]:
            closing = re.compile(rf"(?<!`){found['tick']}(?!`)").search(text, at, at + _LONGEST)
            at = closing.end() if closing else at
        elif found["module"]:
            yield Markup(*found.span())
        elif found["expression"] or found["tag"]:
            stop = _stop(text, found.start() if found["expression"] else at, is_tag=bool(found["tag"]))
            if stop:
                begins_line = found.start() == 0 or text[found.start() - 1] in "\r\n"
                is_alone = begins_line and text[stop : stop + 1] in ("", "\r", "\n")
                yield Markup(found.start(), stop, joins=not is_alone)
                at = stop


def _stop(text: str, at: int, *, is_tag: bool) -> int | None:
    """After the brace or the bracket that closes what begins at `at`."""
    depth = 0
    for found in _IN_CODE.finditer(text, at, at + _LONGEST):
        if found["open"]:
            depth += 1
            if depth > _DEEPEST:
                return None
        elif found["close"]:
            depth -= 1
            if depth <= 0 and not is_tag:
                return found.end()
        elif is_tag and depth <= 0:
            if found["end"]:
                return found.end()
            if found["tag"]:
                return None
    return None
