"""Bring the catalogue up to date: collect what the code says, keep the translations, compile them.

`python scripts/messages.py` writes src/nmspeller/locale/zh/LC_MESSAGES/nmspeller.po and .mo, and for the page
src/nmspeller/apps/web/messages.zh.json; then it names each message that has no translation. Edit
the .po alone.
"""

import io
import json
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, BinaryIO, cast

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from nmspeller.apps.http.app import create_app
from nmspeller.apps.http.description import with_prose
from nmspeller.apps.http.settings import Settings
from nmspeller.runtime.checker import Checker

PACKAGE = Path(__file__).parent.parent / "src" / "nmspeller"
CATALOGUE = PACKAGE / "locale" / "zh" / "LC_MESSAGES" / "nmspeller.po"
PAGE = PACKAGE / "apps" / "web" / "messages.zh.json"


class _Html(HTMLParser):
    """Collects what `data-t` marks: the attributes that it names, or the text if it names none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self._in_marked = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        marked = (attributes.get("data-t") or "text").split() if "data-t" in attributes else []
        self._in_marked = "text" in marked
        line = self.getpos()[0]
        self.found += [(line, attributes[name] or "") for name in marked if name != "text"]

    def handle_endtag(self, tag: str) -> None:
        self._in_marked = False

    def handle_data(self, data: str) -> None:
        if self._in_marked:
            self.found.append((self.getpos()[0], data))


def from_html(
    file: BinaryIO, keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, str, str, list[str]]]:
    """The messages of a page, as Babel wants them."""
    parser = _Html()
    parser.feed(file.read().decode())
    yield from ((line, "_", message, []) for line, message in parser.found)


_METHODS = [
    ("lab/**", "ignore"),
    ("**.py", "python"),
    ("apps/web/**.js", "javascript"),
    ("apps/web/**.html", from_html),
]
_KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}


def collected() -> Catalog:
    """Every message of the product, without a translation."""
    catalogue = Catalog(project="nmspeller", msgid_bugs_address="the project's issues")
    for file, _line, message, comments, _context in extract_from_dir(
        PACKAGE, _METHODS, {}, keywords=_KEYWORDS, comment_tags=("Translators:",)
    ):
        catalogue.add(message, locations=[(file, 0)], auto_comments=comments)
    for message in described():
        catalogue.add(message, locations=[("apps/http/app.py", 0)])
    return catalogue


def described() -> list[str]:
    """The prose of the OpenAPI document, much of which docstrings are."""
    app = create_app(Settings(api_key="any"), lambda: cast(Checker, None))
    prose: list[str] = []
    with_prose(app.openapi(), lambda text: prose.append(text) or text)  # type: ignore[func-returns-value]
    return prose


def translated() -> Catalog:
    """The messages of the product with the translations that the catalogue has for them."""
    with CATALOGUE.open("rb") as file:
        catalogue = read_po(file, locale="zh")
    catalogue.update(collected(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return catalogue


def missing(catalogue: Catalog) -> list[str]:
    """The messages without a translation."""
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalogue
        if message.id
        and not (all(message.string) if isinstance(message.string, tuple | list) else message.string)
    ]


def compiled(catalogue: Catalog) -> dict[Path, bytes]:
    """What each file of the catalogue contains."""
    # With a fixed date and without places the files change only when a message does.
    catalogue.creation_date = catalogue.revision_date = datetime(2026, 1, 1, tzinfo=timezone.utc)
    po, mo = io.BytesIO(), io.BytesIO()
    write_po(po, catalogue, no_location=True, sort_output=True, omit_header=False, width=110)
    write_mo(mo, catalogue)
    on_page = {
        message.id: message.string
        for message in sorted(catalogue, key=lambda one: str(one.id))
        if message.id and any(place.endswith((".js", ".html")) for place, _line in message.locations)
    }
    page = json.dumps(on_page, ensure_ascii=False, indent=1) + "\n"
    return {CATALOGUE: po.getvalue(), CATALOGUE.with_suffix(".mo"): mo.getvalue(), PAGE: page.encode()}


def main() -> None:
    catalogue = translated()
    for file, content in compiled(catalogue).items():
        file.write_bytes(content)
    for message in missing(catalogue):
        print(f"not translated: {message!r}")
    sys.exit(bool(missing(catalogue)))


if __name__ == "__main__":
    main()
