"""The blocks of Markdown that hold prose, as markdown-it finds them.

It supports CommonMark and tables. Lines that start an extension (footnotes, definitions, admonitions,
containers, alerts) are first rewritten as CommonMark: only line numbers are used, so the content of a line
may change.
"""

import re
from collections.abc import Container
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from nmspeller.apps.documents.markup import BREAK
from nmspeller.text.patterns import lazy_pattern

_CONTAINERS = r">|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])"
_HANGING = r"\[\^[^\[\]\s]+\]:|:(?=[ \t])"  # a footnote, a definition: what is indented below belongs to it
_TITLED = (  # `!!! note "题"`, `??? note`, `=== "题"`: the same, but its own line is a title
    r"(?:!{3}|\?{3}\+?|={3}[!+]?)(?=[ \t]+[A-Za-z\"])(?:[ \t]+[A-Za-z][A-Za-z0-9_-]*)*"
    r"(?=[ \t]*(?:\"[^\"\r\n]*\"[ \t]*)?(?:[\r\n]|\Z))"
)
_HEAD = r":{3,}[ \t]*(?:[A-Za-z][A-Za-z0-9_-]*)?|\[![A-Za-z][A-Za-z_-]*\][+-]?"  # `::: tip 题`, `[!NOTE] 题`
_UNKNOWN = lazy_pattern(
    rf"^(?P<before>(?:[ \t]*(?:{_CONTAINERS}))*[ \t]*)"
    rf"(?:(?P<hanging>{_HANGING})[ \t]*|(?P<titled>{_TITLED})[^\n]*|(?:{_HEAD})[^\n]*)",
    re.MULTILINE,
)
LINE_PREFIX = lazy_pattern(
    rf"(?:[ \t]*(?:{_CONTAINERS}|\#{{1,6}}(?=[ \t])|\[[ xX]\](?=[ \t])|{_HANGING}|{_TITLED}|{_HEAD}))+[ \t]*"
)
"""The markup before the prose of a line."""

_FORMULA = lazy_pattern(r"(?P<dollars>\$\$)|(?P<bracket>\\\[)\s*$|\\begin\{(?P<environment>\w+\*?)\}")
_LONGEST_FORMULA = 100  # lines; without a bound, many unclosed ones would take quadratic time


class BlockKind(Enum):
    """What the lines of a block are; `PROSE` is a paragraph or a heading."""

    PROSE = "inline"
    ROW = "tr_open"
    FORMULA = "formula"
    CODE = "fence"
    HTML = "html_block"


class Block(NamedTuple):
    """Lines `first` to before `after` are of one kind."""

    first: int
    after: int
    kind: BlockKind


_KINDS = frozenset(kind.value for kind in BlockKind)


def parse(text: str) -> tuple[list[Block], Container[str]]:
    """The blocks in order, and the labels that links may name, in the form that `normal_label` gives."""
    environment: dict[str, Any] = {}
    tokens = _parser().parse(_UNKNOWN.sub(_as_commonmark, re.sub(BREAK, "\n", text)), environment)
    blocks = [
        Block(token.map[0], token.map[1], BlockKind(token.type))
        for token in tokens
        if token.map and token.type in _KINDS
    ]
    return blocks, environment.get("references", {})


def normal_label(label: str) -> str:
    """The label of a link without differences in case and white space."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)


def _as_commonmark(line: re.Match[str]) -> str:
    if line["hanging"]:
        return line["before"] + "-   "
    return line["before"] + ("-   # title" if line["titled"] else "# title")


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Only blocks are needed: the inline rules do not report offsets.
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    parser.block.ruler.before(
        "fence", "formula", _formula, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    return parser


def _formula(state: Any, first: int, after: int, silent: bool) -> bool:
    """A rule of markdown-it: a formula over several lines, which may look like a list or hold blank lines."""
    content = _content(state, first)
    opening = _FORMULA.match(content)
    if not opening or state.is_code_block(first):
        return False
    if opening["dollars"]:
        closing = "$$"
    else:
        closing = r"\]" if opening["bracket"] else rf"\end{{{opening['environment']}}}"
    if closing in content[opening.end() :]:
        return False
    for line in range(first + 1, min(after, first + _LONGEST_FORMULA)):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return False
        content = _content(state, line)
        if closing in content:
            break
    else:
        return False
    if not content.rstrip(" \t,.;，。；").endswith(closing):  # prose follows it
        return False
    if not silent:
        state.push(BlockKind.FORMULA.value, "", 0).map = [first, line + 1]
        state.line = line + 1
    return True


def _content(state: Any, line: int) -> str:
    content: str = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    return content
