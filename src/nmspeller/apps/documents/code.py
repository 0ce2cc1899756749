"""The prose in programs: comments and docstrings."""

import re
from collections.abc import Iterator
from functools import lru_cache

from nmspeller.apps.documents.comments import comments
from nmspeller.apps.documents.markup import BREAK, Markup, names
from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.text.patterns import lazy_pattern

# Language ids of the language server protocol that Pygments knows by another name.
_ALIASES = {
    "javascriptreact": "jsx",
    "typescriptreact": "tsx",
    "shellscript": "bash",
    "objective-c": "objectivec",
    "objective-cpp": "objectivec++",
    "dockercompose": "yaml",
    "jsonc": "javascript",
    "makefile": "make",
    "viml": "vim",
    "csharp": "c#",
}

# Comment markers: `//`, `#`, `--`, `;;`, `%`, `/* */`, a ` * ` before each line, quotes.
_OPENING = lazy_pattern(
    r"\s*(?:[rRuUbBfF]{0,2}(?:\"{3}|'{3}|\"|')|<!-{2,}|\{-|\(\*|--\[=*\[|[/#*!;%\-]+|\bREM\b)?\s*",
    re.IGNORECASE,
)
_NEXT_LINE = lazy_pattern(rf"(?<![ \t])[ \t]*{BREAK}[ \t]*(?:(?:[*/#;%!]+|-{{2,}})[ \t]*)?(?=\S)")
_SESSION = lazy_pattern(rf"(?<![^\r\n])[ \t]*>>> [^\r\n]*(?:{BREAK}[ \t]*[^\s][^\r\n]*)*")
# Read backwards: forwards, every blank and every quote in a comment could begin its end.
_CLOSING = lazy_pattern(r"(?:\s|/\*+|>-+|\}-|\)\*+|\]=*\]|[\"'])*")

_ONE_BREAK = lazy_pattern(rf"[ \t]*{BREAK}[ \t]*")
_PROSE_LANGUAGES = names("asciidoc email groff html markdown org output rst tex text typst wikitext")


def language_of(file_name: str) -> str | None:
    """Pygments' name for the language of a file by its name, None if it has none."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer = find_lexer_class_for_filename(file_name)
    name = lexer.aliases[0] if lexer is not None and lexer.aliases else None
    return None if name in _PROSE_LANGUAGES else name


def scan(text: str, language: str) -> Iterator[Markup]:
    """Everything except the text of comments and docstrings; consecutive line comments are one passage.

    Dialogues with an interpreter, up to the end of their paragraph, are code as well.
    """
    code_start = 0
    last_column = -1  # of a line comment that the next one may continue
    for start, stop in comments(text, _name_of(language)):
        comment = text[start:stop]
        is_line = not re.search(BREAK, comment.rstrip())
        column = start - _line_start(text, start)
        continues = (
            is_line and column == last_column and _ONE_BREAK.fullmatch(text, code_start, start) is not None
        )
        opening = _OPENING.match(comment)
        inner = start + (opening.end() if opening else 0)
        closing = _CLOSING.match(text[inner:stop][::-1])
        inner_stop = stop - (closing.end() if closing else 0)
        yield Markup(code_start, min(inner, inner_stop), joins=continues)
        for pattern in (_NEXT_LINE, _SESSION):
            yield from (
                Markup(*found.span(), joins=True) for found in pattern.finditer(text, inner, inner_stop)
            )
        code_start = inner_stop
        last_column = column if is_line else -1
    yield Markup(code_start, len(text))


def _line_start(text: str, at: int) -> int:
    line_feed = text.rfind("\n", 0, at) + 1
    return max(line_feed, text.rfind("\r", line_feed, at) + 1)


@lru_cache(maxsize=32)
def _name_of(language: str) -> str:
    """The first of the names that Pygments has for a language."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return str(find_lexer_class_by_name(_ALIASES.get(language.lower(), language)).aliases[0])
    except ClassNotFound:
        raise InputError(
            _("{language!r} is not a format or language that nmspeller knows.").format(language=language)
        ) from None
