"""The documentation: links resolve, and both languages have the same parts."""

import re
from pathlib import Path

import pytest

from nmspeller.apps.http.languagetool.rules import LISTED
from nmspeller.runtime.findings import Reason

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def prose(path):
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path):
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_resolve(page):
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_both_readmes_have_the_same_parts():
    english, chinese = (prose(ROOT / name) for name in ("README.md", "README.zh-CN.md"))
    for pattern in (r"^(#+) ", r"^(\|)"):
        assert re.findall(pattern, english, re.MULTILINE) == re.findall(pattern, chinese, re.MULTILINE)
    # The Chinese one links to the Chinese manual where there is one.
    linked = [
        sorted(
            link.partition("#")[0].replace("/zh/", "/")
            for link in re.findall(r"\]\(((?!README)[^)]+)\)", text)
        )
        for text in (english, chinese)
    ]
    assert linked[0] == linked[1]


@pytest.mark.parametrize(
    "page", [*ROOT.glob("docs/zh/*.md"), ROOT / "README.zh-CN.md"], ids=lambda path: path.name
)
def test_chinese_pages_link_to_chinese_manuals(page):
    for link in LINK.findall(prose(page)):
        target = (page.parent / link.partition("#")[0]).resolve()
        manual = ROOT / "docs" / "zh" / target.name
        if target.parent == ROOT / "docs" and manual.exists() and manual != page:
            pytest.fail(f"{link}: link to {manual.relative_to(ROOT)}")


@pytest.mark.parametrize("page", ["serving.md", "zh/serving.md"])
def test_what_programs_are_told_by_id_stands_in_the_manuals_of_the_server(page):
    text = prose(ROOT / "docs" / page)
    assert [reason.value for reason in Reason if f"`{reason.value}`" not in text] == []
    listed = set()
    for row in re.findall(r"^\| .*`NMSPELLER_.*", text, re.MULTILINE):
        on, off, category = (re.findall(r"`(\w+)`", cell) for cell in row.strip("|").split("|"))
        listed |= {(name, True, *category) for name in on} | {(name, False, *category) for name in off}
    assert listed == {(rule.id, rule.on_by_default, rule.category.id) for rule in LISTED}
