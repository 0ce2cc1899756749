"""The prose of Vue components: the template as HTML, comments of the script, texts of `<i18n>` blocks."""

import re
from collections.abc import Callable, Iterator

from nmspeller.apps.documents import code, code_strings, html, html_attributes, json_values, yaml_values
from nmspeller.apps.documents.markup import Markup
from nmspeller.text.patterns import lazy_pattern

_BLOCK = lazy_pattern(
    r"""<(?P<name>template|script|style|i18n|docs)(?=[\s>])(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*)>"""
)
_LANGUAGE = lazy_pattern(r"""\blang\s*=\s*["']?([a-zA-Z0-9]+)""")
_READ = html_attributes.READ | {"label"}  # the labels of fields and columns in every library of components


def scan(text: str, *, strings: bool = False) -> Iterator[Markup]:
    """Everything except the prose of the blocks at the top level; `strings` also of the script."""
    end = 0
    while block := _BLOCK.search(text, end):
        yield Markup(end, block.end())
        stop = _block_stop(text, block["name"], block.end())
        for mark in _scanner(block, strings)(text[block.end() : stop]):
            yield Markup(block.end() + mark.start, block.end() + mark.stop, mark.joins)
        end = stop
    yield Markup(end, len(text))


def _scanner(block: re.Match[str], strings: bool) -> Callable[[str], Iterator[Markup]]:
    found = _LANGUAGE.search(block["attributes"])
    language = found[1].lower() if found else ""
    if block["name"] == "template" and language in ("", "html"):
        # In HTML a template is not shown; in Vue it is any part of a component.
        return lambda text: html.scan(
            text.replace("<template", "<section ").replace("</template", "</section "), _READ
        )
    if block["name"] == "script":
        scan_code = code_strings.scan if strings else code.scan
        return lambda text: scan_code(text, language if language in ("ts", "tsx", "jsx") else "javascript")
    if block["name"] == "i18n":
        return yaml_values.scan if language in ("yaml", "yml") else json_values.scan
    return lambda text: iter([Markup(0, len(text))])


def _block_stop(text: str, name: str, at: int) -> int:
    """Where the closing tag of a block begins; a template may have others inside."""
    depth = 1
    for found in re.compile(rf"<(/?){name}(?=[\s/>])[^<>]*>").finditer(text, at):
        if found[1]:
            depth -= 1
        elif name == "template" and not found.group().endswith("/>"):
            depth += 1
        if not depth:
            return found.start()
    return len(text)
