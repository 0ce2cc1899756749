"""The prose of LaTeX: the text and the arguments that are printed as text."""

import re
from collections.abc import Iterator
from math import inf

from nmspeller.apps.documents import latex_visible
from nmspeller.apps.documents.markup import BREAK, Markup, names
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

_FORMULAS = names(
    "equation align gather multline eqnarray math displaymath flalign alignat split subequations cases "
    "array dmath IEEEeqnarray empheq numcases "
)
_NOT_PROSE = _FORMULAS | names(
    "verbatim Verbatim lstlisting minted comment tikzpicture filecontents pgfpicture algorithmic alltt "
    "thebibliography tcblisting BVerbatim LVerbatim luacode pycode asy tikzcd "
)
_LISTING_COMMANDS = names("lstinputlisting tcbinputlisting")
_HAVE_SHORT_TITLES = names(
    "part chapter section subsection subsubsection paragraph subparagraph caption title item"
)
_BEFORE_WHAT_IS_PRINTED = {
    **dict.fromkeys(
        names(
            "addbibresource addtocounter bibliography bibliographystyle bibitem citealp citealt citep citet "
            "citeyearpar color counterwithin definecolor DeclareMathOperator DefineVerbatimEnvironment "
            "documentclass ensuremath fontsize geometry graphicspath gls glsadd hspace hypersetup import "
            "IfFileExists index label linespread lstinline lstnewenvironment lstset mathbb mathbf mathrm "
            "mintinline newcommand newcounter newenvironment newminted newtcblisting newtheorem pagestyle "
            "path renewcommand RequirePackage rule selectlanguage setcounter setlength SI si subfile "
            "subimport thispagestyle url usepackage usetikzlibrary verb Verb vspace zihao "
        ),
        inf,
    ),
    **dict.fromkeys(
        names(
            "captionof colorbox foreignlanguage href hyperlink hypertarget parbox raisebox rotatebox "
            "scalebox textcolor"
        ),
        1,
    ),
    **dict.fromkeys(names("addcontentsline fcolorbox multicolumn multirow resizebox"), 2),
}
"""How many arguments of a command come before the one that is printed; infinitely many where none is."""

# Every package names its own: \upcite, \footcite, \vref, \nameref. Of \hyperref the argument is printed.
_CITES_OR_REFERS = r"[a-zA-Z@]*?(?:[Cc]ite(?:author|year|title)?|(?<!hyper)[Rr]ef)s?"
_READS_A_FILE = r"[a-zA-Z@]*?(?:include|[Ii]nput)[a-zA-Z@]*"  # \includesvg, \verbatiminput
_CHOOSES_A_FONT = r"(?:set|new)[a-zA-Z@]*font[a-zA-Z@]*|(?:CJK|font)(?:family|spec)"  # \setCJKfamilyfont
_PRINTS_NOTHING = lazy_pattern("|".join((_CITES_OR_REFERS, _READS_A_FILE, _CHOOSES_A_FONT)))

_BLOCK_COMMANDS = names(
    "chapter section subsection subsubsection paragraph subparagraph part item title subtitle frametitle "
    "framesubtitle author and date thanks caption captionof footnote footnotetext endnote marginnote "
    "marginpar sidenote todo label maketitle newpage clearpage par hline toprule midrule bottomrule "
)

_NAME = f"[a-zA-Z@]+|[{HANZI}]+"  # Chinese ends a Latin name in one TeX, and goes on with it in the other
_OPTION = r"[ \t]*\[[^\[\]]*\]"
# What an environment asks for, widths and columns; in Chinese it would be a title, or the first words inside.
_SETTING = r"[ \t]*\{(?:X|\{(?:X|\{X*\})*\})*\}".replace("X", f"[^{{}}{HANZI}]")
_NEXT = lazy_pattern(
    r"""
      (?P<comment>%[^\r\n]*(?:BREAK[ \t]*)?)
    | (?P<switched_off>\\iffalse(?![a-zA-Z@]).*?(?:\\(?:else|fi)(?![a-zA-Z@])|\Z))
    | (?P<boundary>
        \\(?:begin[ \t]*\{(?P<begun>[^{}]*)\}|end[ \t]*\{[^{}]*\})(?:OPTION|SETTING)*(?P<title>[ \t]*\{)?
      )
    | (?P<verbatim>
        \\(?:[vV]erb\*?|lstinline(?:\[[^\[\]]*\])?|mintinline(?:\[[^\[\]]*\])?\{[^{}]*\})
        (?P<bar>[^\sa-zA-Z{*\[])(?:(?!(?P=bar))[^\r\n])*(?P=bar)?
      )
    | (?P<display>\$\$|\\\[)
    | (?P<inline>\$|\\\()
    | (?P<newline>\\\\\*?(?:[ \t]*\[[^\[\]\r\n]*\])?|&)
    | \\(?P<command>NAME)\*?
    | (?P<escape>\\.)
    | (?P<brace>[{}~])
    """.replace("BREAK", BREAK)
    .replace("NAME", _NAME)
    .replace("OPTION", _OPTION)
    .replace("SETTING", _SETTING),
    re.VERBOSE | re.DOTALL,
)
_DEFINES_A_LISTING = lazy_pattern(
    r"""
    \\(?:
        (?:lstnewenvironment|DefineVerbatimEnvironment|newtcblisting(?:OPTION)?)\s*\{(?P<name>[^{}]*)\}
      | newminted\s*(?:\[(?P<minted>[^\[\]]*)\]|\{(?P<language>[^{}]*)\})
    )
    """.replace("OPTION", _OPTION),
    re.VERBOSE,
)
_OPTIONS = lazy_pattern(r"[ \t]*\[([^\[\]]*)\]")
# The name of a theorem, the title of a part; what sets something has an equals sign.
_PRINTED_OPTION = lazy_pattern(rf"\\begin[ \t]*\{{[^{{}}]*\}}[ \t]*\[([^\[\]=]*[{HANZI}][^\[\]=]*)\]")
_SETTINGS = lazy_pattern(r"(?:[ \t]*(?:\[(?:[^\[\]{}]|\{[^{}]*\})*\]|\{(?:[^{}]|\{[^{}]*\})*\}))*")
_ARGUMENT_START = lazy_pattern(r"[ \t]*\{")
_COMMAND = lazy_pattern(rf"[ \t]*\\(?:{_NAME})")
_BRACE = lazy_pattern(r"\\.|[{}]", re.DOTALL)
_CLOSING = {
    # Not a dollar, nor an escaped one, nor the end of the paragraph.
    mark: re.compile(rf"(?:[^\\$\r\n]|\\.|{BREAK}(?![ \t]*[\r\n]))*{re.escape(mark)}", re.DOTALL)
    for mark in ("$", "$$")
}


def scan(text: str) -> Iterator[Markup]:
    """Commands, mathematics, comments, verbatim text, and the arguments that commands do not print."""
    at = 0
    not_prose = set(_NOT_PROSE)
    braces: list[bool] = []  # for each open one, whether a break comes where it closes
    while found := _NEXT.search(text, at):
        start, kind = found.start(), found.lastgroup
        if kind == "comment":
            at = found.end()
            yield Markup(start, at, joins=True)
        elif (name := (found["begun"] or "").removesuffix("*")) in not_prose:
            at = _after(text, f"\\end{{{found['begun']}}}", found.end("begun"))
            if name in _FORMULAS:
                yield from latex_visible.formula(text, start, at, joins=False)
            else:
                settings = _SETTINGS.match(text, found.end("begun") + 1, at)
                body = settings.end() if settings else start
                yield from latex_visible.options(text, start, body)
                yield Markup(body, at)
        elif found["boundary"]:
            at = found.end()
            if found["title"]:
                braces.append(True)
            if option := _PRINTED_OPTION.match(text, start, at):
                yield from latex_visible.short_title(text, start, at, option.span(1))
            else:
                yield from latex_visible.options(text, start, at)
        elif found["verbatim"]:
            at = found.end()
            yield Markup(start, at, joins=True)
        elif kind in ("display", "inline"):
            at = _end_of_mathematics(text, found.group(), found.end())
            yield from latex_visible.formula(text, start, at, joins=kind == "inline")
        elif kind == "command":
            if listing := _DEFINES_A_LISTING.match(text, start):
                not_prose.add(listing["name"] or listing["minted"] or f"{listing['language']}code")
            at = _end_of_command(text, found["command"], found.end())
            is_block = found["command"] in _BLOCK_COMMANDS
            if text.startswith("{", at):
                at += 1
                braces.append(is_block)
            option = _OPTIONS.match(text, found.end(), at)
            if option and found["command"] in _HAVE_SHORT_TITLES:
                yield from latex_visible.short_title(text, start, at, (option.start(1), option.end(1)))
            elif found["command"] in _LISTING_COMMANDS:
                yield from latex_visible.options(text, start, at, joins=True)
            else:
                yield Markup(start, at, joins=not is_block)
        elif kind == "brace":
            at = found.end()
            if found.group() == "{":
                braces.append(False)
            breaks = found.group() == "}" and bool(braces) and braces.pop()
            yield Markup(start, at, joins=not breaks)
        else:
            at = found.end()
            yield Markup(start, at, joins=kind == "escape")


def _end_of_command(text: str, name: str, at: int) -> int:
    """After a command with its options, and with its arguments where these are not prose."""
    unread = _BEFORE_WHAT_IS_PRINTED.get(name, inf if _PRINTS_NOTHING.fullmatch(name) else 0)
    if unread and (command := _COMMAND.match(text, at)):  # as in \setlength\parindent{2em}
        at = command.end()
        unread -= 1
    while True:
        if option := _OPTIONS.match(text, at):
            at = option.end()
        elif unread and (brace := _ARGUMENT_START.match(text, at)):
            at = _end_of_argument(text, brace.end())
            unread -= 1
        else:
            return at


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


def _after(text: str, mark: str, at: int) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end + len(mark)
