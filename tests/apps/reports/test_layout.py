"""The proofreading report on screens of all widths: nothing is cut off, and nobody scrolls sideways."""

import pytest

from nmspeller.apps.documents.document import from_text
from nmspeller.apps.reports import report
from nmspeller.messages import speaking
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Edit, Hint, Reason

PHONE = 360
WIDTHS = (320, PHONE, 700, 720, 1280)
# What cannot be broken at a blank: names of files, words and addresses.
NAME = "项目/" + "a_very_long_name_of_a_folder" * 4 + "/第一章.md"
TEXT = "今天我门去公园。" + "Donaudampfschifffahrt" * 6 + "我门很高兴，" * 8 + "（张琳来了。\n"


@pytest.fixture(scope="module", params=["en", "zh"])
def path(request, tmp_path_factory):
    edits = [
        Edit(at, 1, "门", right, 0.9, (), reason)
        for at, right, reason in (
            (TEXT.index("门"), "们", Reason.SAME_SOUND),
            (TEXT.rindex("门"), "们" + "x" * 60, Reason.USER_LIST),
        )
    ]
    found = Correction(
        TEXT, apply_edits(TEXT, edits), tuple(edits), (Hint(TEXT.index("（"), 1, "（", "unbalanced_marks"),)
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    with speaking(request.param):
        out = report("html", output=path)
        out.show(from_text(TEXT, NAME), found)
        out.show(from_text("很好。", "乙.txt"), Correction("很好。", "很好。", (), ()))
        out.finish()
    return path


@pytest.fixture
def look_at(browser, path):
    pages = []

    def look(width):
        page = browser.new_page(viewport={"width": width, "height": 740})
        pages.append(page)
        page.goto(path.as_uri())
        return page

    yield look
    for page in pages:
        page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_reaches_beyond_the_screen(look_at, width):
    page = look_at(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = page.evaluate(
        """[...document.querySelectorAll("body *")]
            .filter((one) => {
                const { left, right } = one.getBoundingClientRect()
                const isCut = one.clientWidth && one.scrollWidth > one.clientWidth + 1
                return left < 0 || right > innerWidth || isCut
            })
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert beyond == []


def test_a_phone_shows_each_finding_as_lines_of_its_whole_width(look_at):
    page = look_at(PHONE)
    assert not page.is_visible(".findings thead")
    sentences = page.locator(".findings tr td:nth-child(3)")
    assert sentences.count() == 3
    assert all(sentences.nth(number).bounding_box()["width"] > 0.8 * PHONE for number in range(3))
    for number in range(3):
        row = page.locator(".findings tbody tr").nth(number)
        heights = [cell.bounding_box()["y"] for cell in row.locator("td:not(.no):visible").all()]
        assert heights == sorted(set(heights))


def test_a_wide_screen_shows_a_table(look_at):
    page = look_at(1280)
    assert page.is_visible(".findings thead")
    cells = page.locator(".findings tbody tr").first.locator("td").all()
    assert len({cell.bounding_box()["y"] for cell in cells}) == 1
