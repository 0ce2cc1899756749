"""Fails where a page of the built documentation would make a browser ask another server.

python scripts/self_contained.py site
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_ELSEWHERE = re.compile(r"(https?:)?//")
_IMPORTED = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")]*)")


class _Resources(HTMLParser):
    """Collects what a browser fetches by itself when it opens a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        name = {"link": "href", "object": "data"}.get(tag, "src")
        address = dict(attributes).get(name)
        if tag != "a" and address:
            self.addresses.append(address)


def main(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    if not pages or "check_many" not in (site / "reference" / "nmspeller.html").read_text("utf-8"):
        sys.exit("The site has no API reference.")
    found = []
    for page in pages:
        resources = _Resources()
        resources.feed(page.read_text("utf-8"))
        found += [f"{page}: {address}" for address in resources.addresses if _ELSEWHERE.match(address)]
    for style in site.rglob("*.css"):
        found += [f"{style}: {address}" for address in _IMPORTED.findall(style.read_text("utf-8"))]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
