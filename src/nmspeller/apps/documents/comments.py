"""Where the comments of a program are, in time proportional to its length.

Pygments' lexers are not used: those of Python, C and C++, which were measured, take quadratic time on some
inputs (that for C more than 3 s on 16,000 braces), and some of the others take 12 s on 4,000 characters. Each
pattern here goes on from where the last one ended, and none of them fails far from where it began.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_LINE = r"[^\n\r]*"
_DOUBLE_QUOTED = r'"(?:\\.|[^"\\\n])*"?'
_SINGLE_QUOTED = r"'(?:\\.|[^'\\\n])*'?"
_TRIPLE_DOUBLE_QUOTED = r'(?<!@)(?<!@\$)"{3}(?s:.*?)(?:"{3}|\Z)'  # in C#, @"""a"" b" has doubled quotes
_TRIPLE_SINGLE_QUOTED = r"'{3}(?s:.*?)(?:'{3}|\Z)"
_CHARACTER = r"'(?:\\[^\n]{1,9}?|[^'\\\n])'"  # there are quotes with other meanings, as in Rust's lifetimes
_TEMPLATE = r"`(?s:\\.|[^`\\])*`?"
_LONG_COMMENT = r"--\[(?P<level>=*)\[(?s:.*?)(?:\](?P=level)\]|\Z)"
_LONG_STRING = r"\[(?P<string_level>=*)\[(?s:.*?)(?:\](?P=string_level)\]|\Z)"
_HASH = r"(?<![^\s;])#"  # not that of `$#` and `${#name}`


class _Syntax(NamedTuple):
    """What begins a comment of one line, what encloses others, and what may contain these without meaning it.

    All are regular expressions but `blocks`; `others` are comments and docstrings of any other form.
    """

    lines: tuple[str, ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = (_DOUBLE_QUOTED,)
    others: tuple[str, ...] = ()


def _documentation(quotes: str) -> str:
    """A string that is the first thing of its line."""
    return rf"(?<![^\n\r])[ \t]*[rRuUbBfF]{{0,2}}{quotes}(?s:.*?)(?:{quotes}|\Z)"


_C_BLOCK = ("/*", "*/")
_C = _Syntax(("//",), (_C_BLOCK,), (_TRIPLE_DOUBLE_QUOTED, _DOUBLE_QUOTED, _SINGLE_QUOTED))
_SCRIPT = _C._replace(strings=(*_C.strings, _TEMPLATE))
_RUST = _C._replace(strings=(_TRIPLE_DOUBLE_QUOTED, _DOUBLE_QUOTED, _CHARACTER))
_SHELL = _Syntax((_HASH,), strings=(_DOUBLE_QUOTED, _SINGLE_QUOTED))
_PLAIN_HASH = _Syntax((_HASH,), strings=())
_LISP = _Syntax((";",), (("#|", "|#"),))
_PERCENT = _Syntax(("%",), strings=(_DOUBLE_QUOTED,))
_DASHES = _Syntax(("--",))
_XML = _Syntax((), (("<!--", "-->"),), ())
_ML = _Syntax((), (("(*", "*)"),))
_ASSEMBLER = _Syntax((";", _HASH), (_C_BLOCK,))
_PYTHON = _Syntax(
    ("#",),
    strings=(_TRIPLE_SINGLE_QUOTED, _TRIPLE_DOUBLE_QUOTED, _DOUBLE_QUOTED, _SINGLE_QUOTED),
    others=(_documentation('"""'), _documentation("'''")),
)
# Only what begins a line: in a language that is not known, a sign in the middle of one may mean anything.
_UNKNOWN = _Syntax((r"(?<![^\n\r])[ \t]*(?:[#;%!]|//|--|REM\b)",), (_C_BLOCK, ("<!--", "-->")), ())

_SYNTAXES: dict[str, _Syntax] = {
    name: syntax
    for names, syntax in {
        "c cpp objective-c objective-c++ java csharp d dart verilog systemverilog glsl hlsl cuda solidity "
        "protobuf thrift fsharp json": _C,
        "javascript jsx typescript tsx go groovy kotlin swift scss sass less jsonnet": _SCRIPT,
        "scala rust zig": _RUST,
        "css": _C._replace(lines=()),
        "php": _SCRIPT._replace(lines=("//", _HASH)),
        "terraform graphql": _C._replace(lines=("//", _HASH), strings=(_DOUBLE_QUOTED,)),
        "python cython gdscript": _PYTHON,
        "bash fish perl splus tcl awk cr elixir nixos make cmake": _SHELL,
        "ruby": _SHELL._replace(blocks=(("\n=begin", "\n=end"),)),
        "julia": _SHELL._replace(blocks=(("#=", "=#"),), strings=(_DOUBLE_QUOTED,)),
        "nimrod": _SHELL._replace(blocks=(("#[", "]#"),), strings=(_DOUBLE_QUOTED,)),
        "powershell": _SHELL._replace(blocks=(("<#", "#>"),)),
        "docker yaml nginx apacheconf properties": _PLAIN_HASH,
        "toml": _PLAIN_HASH._replace(strings=_PYTHON.strings),
        "sql mysql postgresql plpgsql sqlite3": _Syntax(
            ("--",), (_C_BLOCK,), (_SINGLE_QUOTED, _DOUBLE_QUOTED)
        ),
        "lua": _DASHES._replace(
            strings=(_LONG_STRING, _DOUBLE_QUOTED, _SINGLE_QUOTED), others=(_LONG_COMMENT,)
        ),
        "haskell elm idris": _DASHES._replace(blocks=(("{-", "-}"),)),
        "ada vhdl": _DASHES,
        "clojure common-lisp scheme emacs-lisp racket": _LISP,
        "nasm gas ca65": _ASSEMBLER,
        "erlang matlab octave prolog": _PERCENT,
        "ocaml coq sml": _ML,
        "delphi": _Syntax(("//",), (("(*", "*)"), ("{", "}")), (_SINGLE_QUOTED,)),
        "fortran": _Syntax(("!",), strings=(_DOUBLE_QUOTED, _SINGLE_QUOTED)),
        "vb.net vbscript": _Syntax(("'", r"\bREM\b")),
        "xml": _XML,
        "vue": _XML._replace(lines=("(?<!:)//",), blocks=(_C_BLOCK, ("<!--", "-->"))),
    }.items()
    for name in names.split()
}


def comments(text: str, language: str) -> Iterator[tuple[int, int]]:
    """The start and stop of each comment or docstring; the language has the name that Pygments gives it."""
    for found in _pattern(language).finditer(text):
        if found.lastgroup == "comment" and not (found.start() == 0 and found[0].startswith("#!")):
            yield found.span()


@cache
def _pattern(language: str) -> re.Pattern[str]:
    syntax = _SYNTAXES.get(language, _UNKNOWN)
    blocks = [rf"{re.escape(opening)}(?s:.*?)(?:{re.escape(end)}|\Z)" for opening, end in syntax.blocks]
    lines = [f"{opening}{_LINE}" for opening in syntax.lines]
    comment = "|".join([*syntax.others, *blocks, *lines])
    return re.compile("|".join([f"(?P<comment>{comment})", *syntax.strings]), re.IGNORECASE)
