"""How a file writes the signs of a replacement that mean something else in its format.

What the model and the rules propose rarely has any; the replacements of a user may have them all.
"""

from collections.abc import Mapping, Sequence

from nmspeller.apps.documents import front_matter
from nmspeller.apps.documents.markup import names
from nmspeller.runtime.findings import Edit
from nmspeller.text.patterns import lazy_pattern

_BREAKS = "\n\r"
_STRING = "\"'`\\#:" + _BREAKS
_SYNTAX: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("json", "ipynb", "po", "strings"), '"\\' + _BREAKS),
    **dict.fromkeys(("yaml", "code+strings"), _STRING),
    "properties": "\\" + _BREAKS,
    "org": ("*", "\\", "[[", "]]", "{{{", "@@"),
    "srt": ("<", "{\\", "-->"),
}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_IN_ATTRIBUTE = {**_ENTITIES, '"': "&quot;", "'": "&#39;"}


def _escaped_by_backslash(signs: str) -> dict[str, str]:
    return {sign: f"\\{sign}" for sign in signs}


_MARKDOWN = {**_escaped_by_backslash("\\`*_[]$~"), **_ENTITIES}
_LATEX = {
    **_escaped_by_backslash("&%#_${}"),
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
# A backslash does not do: what is no markup where it stands shows it.
_ASCIIDOC = {sign: f"&#{ord(sign)};" for sign in "*_`#^~+[]{}|\\"} | _ENTITIES
_ORG = {
    "/": r"\slash{}",
    "_": r"\under{}",
    "+": r"\plus{}",
    "=": r"\equal{}",
    "~": r"\tilde{}",
    "|": r"\vbar{}",
    "$": r"\dollar{}",
    "^": r"\asciicirc{}",
    "<": r"\lt{}",
    ">": r"\gt{}",
    "&": r"\amp{}",
}
_IN_OPTION = {**_LATEX, "[": "{[}", "]": "{]}"}
_WRITTEN: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("html", "vue", "xml"), _ENTITIES),
    "markdown": _MARKDOWN,
    "mdx": {**_MARKDOWN, **_escaped_by_backslash("{}")},
    "latex": _LATEX,
    "rst": _escaped_by_backslash("\\*`|_"),
    "typst": _escaped_by_backslash("\\#*_$`@<>[]"),
    "asciidoc": _ASCIIDOC,
    "org": _ORG,
}
_HAVE_TAGS = names("html vue xml")
_COMMENT_ENDS = ("*/", '"""', "'''", "\n", "\r")
_BLOCK_OF_VUE = lazy_pattern(r"</?(?P<name>script|i18n)(?=[\s>])")


def written(text: str, edit: Edit, format: str) -> str | None:
    """The edit's target as the file writes it at this place; None if the place cannot hold it."""
    new = {sign for sign in edit.target if sign not in edit.source}
    if not any(sign < "\x80" and not sign.isalnum() and sign != " " for sign in new):
        return edit.target
    syntax, signs = _at_place(text, edit, format)
    if any(one in edit.target and one not in edit.source for one in syntax):
        return None
    return "".join(signs.get(sign, sign) if sign in new else sign for sign in edit.target)


def _at_place(text: str, edit: Edit, format: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """What cannot be written at the place of an edit, and what is written in another way there."""
    kind, at = format.partition(":")[0], edit.offset
    if kind in ("vue", "vue+strings"):
        blocks = [*_BLOCK_OF_VUE.finditer(text, 0, at)]
        if blocks and not blocks[-1].group().startswith("</"):
            return _STRING, {}
        kind = "vue"
    if kind in ("markdown", "mdx"):
        if at < front_matter.end(text):
            return _STRING, {}
        if text[:at].rpartition("\n\n")[2].lstrip().startswith("<"):
            return "", _IN_ATTRIBUTE if _is_open(text, "<", ">", at) else _ENTITIES
        line = text[text.rfind("\n", 0, at) + 1 : at] + text[at:].partition("\n")[0]
        return "", {**_WRITTEN[kind], "|": r"\|"} if "|" in line else _WRITTEN[kind]
    if kind in _HAVE_TAGS:
        if _is_open(text, "<![CDATA[", "]]>", at):
            return "]>", {}
        if _is_open(text, "<!--", "-->", at):
            return ("--", ">"), {}
        return "", _IN_ATTRIBUTE if _is_open(text, "<", ">", at) else _ENTITIES
    if kind == "srt" and text.startswith("WEBVTT"):
        return "", _ENTITIES
    if kind == "code":
        return _COMMENT_ENDS, {}
    if kind == "latex" and _is_open(text, "[", "]", at):
        return "", _IN_OPTION
    return _SYNTAX.get(kind, ""), _WRITTEN.get(kind, {})


def _is_open(text: str, opening: str, closing: str, at: int) -> bool:
    return text.rfind(opening, 0, at) > text.rfind(closing, 0, at)
