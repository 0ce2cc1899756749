"""The prose of LaTeX: the text and the arguments that are printed as text."""

import re
from collections.abc import Iterator
from math import inf

from nmspeller.apps.documents.markup import BREAK, Markup, names

_NOT_PROSE = names(
    "equation align gather multline eqnarray math displaymath flalign alignat split subequations cases "
    "array verbatim Verbatim lstlisting minted comment tikzpicture filecontents pgfpicture algorithmic "
    "alltt thebibliography tcblisting BVerbatim LVerbatim "
)
_ARGUMENTS_NOT_PROSE = names(
    "addbibresource begin bibliography bibliographystyle bibitem citealp citealt citep citet citeyearpar "
    "color colorbox counterwithin definecolor DeclareMathOperator documentclass end ensuremath fontfamily "
    "fontsize geometry graphicspath gls hspace hypersetup import include includegraphics includeonly "
    "includepdf input inputminted IfFileExists label lstinline lstinputlisting lstset mathbb mathbf mathrm "
    "mintinline newcommand newcounter newenvironment newtheorem pagestyle path renewcommand RequirePackage "
    "selectlanguage setCJKmainfont setCJKmonofont setCJKsansfont setcounter setlength setmainfont "
    "setmonofont setsansfont SI si subfile subimport thispagestyle url usepackage usetikzlibrary verb vspace "
)
# Every package names its own: \upcite, \footcite, \vref, \nameref. Of \hyperref the argument is printed.
_CITES_OR_REFERS = re.compile(r"[a-zA-Z@]*?(?:[Cc]ite(?:author|year|title)?|(?<!hyper)[Rr]ef)s?")
_FIRST_ARGUMENT_NOT_PROSE = names("href hyperlink hypertarget ")
_BLOCK_COMMANDS = names(
    "begin end chapter section subsection subsubsection paragraph subparagraph part item title author "
    "date caption footnote label maketitle newpage clearpage par hline toprule midrule bottomrule "
)

_NEXT = re.compile(
    r"""
      (?P<comment>%[^\r\n]*(?:BREAK[ \t]*)?)
    | (?P<environment>\\begin[ \t]*\{(?P<name>(?:ENVIRONMENTS)\*?)\})
    | (?P<verbatim>\\(?:verb\*?|lstinline|mintinline(?:\[[^\[\]]*\])?\{[^{}]*\})(?P<bar>[^\sa-zA-Z{*]))
    | (?P<display>\$\$|\\\[)
    | (?P<inline>\$|\\\()
    | (?P<newline>\\\\\*?(?:[ \t]*\[[^\]\r\n]*\])?|&)
    | \\(?P<command>[a-zA-Z@]+)\*?
    | (?P<escape>\\.)
    | (?P<brace>[{}~])
    """.replace("ENVIRONMENTS", "|".join(sorted(_NOT_PROSE))).replace("BREAK", BREAK),
    re.VERBOSE | re.DOTALL,
)
_OPTION = re.compile(r"[ \t]*\[[^\[\]]*\]")
_ARGUMENT_START = re.compile(r"[ \t]*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_CLOSING = {
    # Not a dollar, nor an escaped one, nor the end of the paragraph.
    mark: re.compile(rf"(?:[^\\$\r\n]|\\.|{BREAK}(?![ \t]*[\r\n]))*{re.escape(mark)}", re.DOTALL)
    for mark in ("$", "$$")
}


def scan(text: str) -> Iterator[Markup]:
    """Commands, mathematics, comments, verbatim text, and the arguments that commands do not print."""
    at = 0
    braces: list[bool] = []  # for each open one, whether a break comes where it closes
    while found := _NEXT.search(text, at):
        start, kind = found.start(), found.lastgroup
        if kind == "comment":
            at = found.end()
            yield Markup(start, at, joins=True)
        elif found["environment"]:
            at = _after(text, f"\\end{{{found['name']}}}", found.end())
            yield Markup(start, at)
        elif found["verbatim"]:
            at = _after(text, found["bar"], found.end(), within_line=True)
            yield Markup(start, at, joins=True)
        elif kind in ("display", "inline"):
            at = _end_of_mathematics(text, found.group(), found.end())
            yield Markup(start, at, joins=kind == "inline")
        elif kind == "command":
            at = _end_of_command(text, found["command"], found.end())
            is_block = found["command"] in _BLOCK_COMMANDS
            if text.startswith("{", at):
                at += 1
                braces.append(is_block)
            yield Markup(start, at, joins=not is_block)
        elif kind == "brace":
            at = found.end()
            if found.group() == "{":
                braces.append(False)
            breaks = found.group() == "}" and bool(braces) and braces.pop()
            yield Markup(start, at, joins=not breaks)
        else:
            at = found.end()
            yield Markup(start, at, joins=kind != "newline")


def _end_of_command(text: str, name: str, at: int) -> int:
    """After a command with its options, and with its arguments where these are not prose."""
    unread = _count_of_arguments_not_prose(name)
    while True:
        if option := _OPTION.match(text, at):
            at = option.end()
        elif unread and (brace := _ARGUMENT_START.match(text, at)):
            at = _end_of_argument(text, brace.end())
            unread -= 1
        else:
            return at


def _count_of_arguments_not_prose(name: str) -> float:
    if name in _FIRST_ARGUMENT_NOT_PROSE:
        return 1
    return inf if name in _ARGUMENTS_NOT_PROSE or _CITES_OR_REFERS.fullmatch(name) else 0


def _end_of_argument(text: str, at: int) -> int:
    depth = 1
    for found in _BRACE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if not depth:
            return found.end()
    return len(text)


def _end_of_mathematics(text: str, mark: str, at: int) -> int:
    """A formula ends at its closing mark; a dollar without one in its paragraph is just itself."""
    if mark in ("\\[", "\\("):
        return _after(text, {"\\[": "\\]", "\\(": "\\)"}[mark], at)
    end = _CLOSING[mark].match(text, at)
    return end.end() if end else at


def _after(text: str, mark: str, at: int, *, within_line: bool = False) -> int:
    end = text.find(mark, at)
    if within_line:
        newline = text.find("\n", at)
        if newline >= 0 and not 0 <= end < newline:
            return newline
    return len(text) if end < 0 else end + len(mark)
