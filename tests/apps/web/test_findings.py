"""The findings beside the text: one row each, which opens; kinds, doubt and places are told apart."""

import json
import re
from pathlib import Path

import pytest
from looking import answer_with, marked, text, wait_until_checked, write

from nmspeller import Reason
from nmspeller.apps import web


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def labels(page, selector):
    return [one.get_attribute("aria-label") for one in page.locator(selector).all()]


def test_a_row_is_one_line_and_opens_on_a_click(page):
    write(page, "他己是来了，我很高心。", 2)
    heights = [row.bounding_box()["height"] for row in page.locator(".finding").all()]
    assert max(heights) < 48
    assert page.locator(".card").count() == 0
    page.locator(".finding .open").nth(1).click()
    assert page.locator(".finding .open").nth(1).get_attribute("aria-expanded") == "true"
    assert page.locator(".card .option").all_text_contents() == ["兴", "星"]
    assert page.locator("#underlay mark.active").text_content() == "心"
    page.keyboard.press("Escape")
    assert page.locator(".card").count() == 0
    assert page.locator(".finding .open:focus del").text_content() == "心"
    page.keyboard.press("Enter")
    page.click(".card .option >> text=星")
    assert text(page) == "他己是来了，我很高星。"


def test_the_tick_accepts_without_opening(page):
    write(page, "他己是来了，我很高心。", 2)
    page.locator(".tick").first.click()
    assert text(page) == "他已是来了，我很高心。"
    wait_until_checked(page, 1)
    assert page.locator(".finding .open:focus del").text_content() == "心"


def test_the_same_finding_in_many_places_is_one_row(page):
    write(page, "平果甜，平果脆。\n他己是吃了平果。", 4)
    assert page.locator(".finding").count() == 2
    assert page.locator(".finding .count").all_text_contents() == ["×3"]
    page.locator(".finding .open").first.click()
    assert page.text_content(".place") == "1/3"
    page.click("[aria-label='下一处']")
    assert page.text_content(".place") == "2/3"
    page.click(".card .option >> nth=0")
    assert text(page) == "平果甜，苹果脆。\n他己是吃了平果。"
    wait_until_checked(page, 3)
    if not page.locator(".card").count():
        page.locator(".finding .open").first.click()
    assert "2" in page.text_content(".accept-these")
    page.click(".accept-these")
    assert text(page) == "苹果甜，苹果脆。\n他己是吃了苹果。"
    page.click("#undo")
    assert text(page) == "平果甜，苹果脆。\n他己是吃了平果。"


def test_all_of_the_same_can_be_ignored(page):
    write(page, "平果甜，平果脆，他己是吃了。", 3)
    page.locator(".finding .open").first.click()
    page.click(".card >> text=全部忽略")
    wait_until_checked(page, 1)
    assert marked(page) == ["己"]


@pytest.mark.parametrize("dark", [False, True])
def test_kinds_differ_in_colour_line_and_sign(open_page, fake_server, dark):
    page = open_page(fake_server, dark=dark)
    answer_with(page, 平={"reason": "context"}, 的={"reason": "de"})
    write(page, "高心，己是，平果，跑的快", 4)
    looks = page.evaluate(
        """() => [...document.querySelectorAll("#underlay mark")].map((mark) => {
            const { textDecorationColor, textDecorationStyle } = getComputedStyle(mark)
            return [textDecorationColor, textDecorationStyle]
        })"""
    )
    assert len({colour for colour, _ in looks}) == len({style for _, style in looks}) == 4
    assert page.locator(".finding .sign").all_text_contents() == ["音", "形", "义", "的"]
    signs = page.evaluate(
        "() => [...document.querySelectorAll('.finding .sign')].map((sign) => getComputedStyle(sign).color)"
    )
    assert signs == [colour for colour, _ in looks]


def test_confidence_is_shown_only_where_it_is_low(page):
    answer_with(page, 平={"confidence": 0.62})
    write(page, "我很高心，平果很甜。", 2)
    rows = page.locator(".finding")
    assert rows.nth(0).locator(".doubt").count() == 0
    assert rows.nth(1).locator(".doubt").text_content() == "存疑"
    for number, shown in ((0, False), (1, True)):
        rows.nth(number).locator(".open").click()
        assert ("62%" in page.inner_text(".card")) is shown
        assert "97%" not in page.inner_text(".card")


def test_the_server_says_why(page):
    answer_with(page, 心={"why": "“高兴”才是词。<b>"})
    write(page, "我很高心。", 1)
    page.click(".finding .open")
    assert page.text_content(".card .why") == "“高兴”才是词。<b>"


def test_the_server_names_the_reason_in_the_language_of_the_page(page):
    write(page, "我很高心。", 1)
    page.click(".finding .open")
    assert page.text_content(".card .kind b") == "音近"
    page.click("#language")
    page.get_by_text("similar sound").wait_for()


def test_every_reason_has_a_kind():
    kinds = (Path(web.__file__).parent / "kinds.js").read_text("utf-8")
    assert set(re.findall(r"^  (\w+): { kind:", kinds, re.MULTILINE)) == {reason.value for reason in Reason}


def test_screen_readers_hear_what_a_button_does(page, open_page, fake_server):
    write(page, "我很高心，平果甜，平果脆。", 3)
    assert labels(page, ".finding .open") == ["心，建议改为 兴，音近", "平，建议改为 苹，同音，共 2 处"]
    assert labels(page, ".tick")[0] == "采纳：心，建议改为 兴，音近"
    page.locator(".finding .open").first.click()
    assert labels(page, ".card .option") == ["心，建议改为 兴，音近", "心，建议改为 星，音近"]
    page.keyboard.press("Alt+ArrowDown")
    assert page.get_attribute("#popover", "aria-label") == "平，建议改为 苹，同音"
    english = open_page(fake_server, locale="en-GB")
    write(english, "我很高心。", 1)
    assert labels(english, ".finding .open") == ["心, change to 兴, similar sound"]


def test_insertions_and_deletions(page):
    answer_with(
        page,
        心={"target": "", "alternatives": [], "reason": "rule", "label": "规则"},
        己={"length": 0, "source": "", "target": " ", "alternatives": [], "reason": "rule", "label": "规则"},
    )
    write(page, "他己是来了，我很高心。", 2)
    assert labels(page, ".finding .open") == ["建议插入  ，规则", "心，建议删除，规则"]
    assert page.locator("mark.gap").count() == 1
    page.locator(".finding .open").nth(1).click()
    assert page.text_content(".card .option") == "删除"
    page.click(".card .option")
    wait_until_checked(page, 1)
    page.click("#accept-all")
    assert text(page) == "他 己是来了，我很高。"


def test_missing_extra_and_swapped_characters(page):
    write(page, "我喜跑步，他他来了，在觉睡。", 3)
    assert marked(page) == ["", "他", "觉睡"]
    assert page.locator("mark.gap").bounding_box()["height"] > 10
    assert page.locator(".finding .sign").all_text_contents() == ["漏", "多", "倒"]
    assert labels(page, ".finding .open") == [
        "建议插入 欢，漏字",
        "他，建议删除，多字",
        "觉睡，建议改为 睡觉，字序颠倒",
    ]
    page.locator(".finding .open").first.click()
    assert page.locator(".card .option").all_text_contents() == ["欢", "爱"]
    page.locator(".card .option").first.click()
    assert text(page) == "我喜欢跑步，他他来了，在觉睡。"
    wait_until_checked(page, 2)
    page.click("#accept-all")
    assert text(page) == "我喜欢跑步，他来了，在睡觉。"
    page.keyboard.press("Control+z")
    assert text(page) == "我喜欢跑步，他他来了，在觉睡。"


def test_an_insertion_and_a_replacement_at_one_place_are_two_findings(page):
    def edit(source, target):
        return {
            "offset": 1,
            "length": len(source),
            "source": source,
            "target": target,
            "confidence": 0.9,
            "alternatives": [],
            "reason": "context" if source else "missing",
            "rule": None,
            "why": f"为何{target}",
        }

    part = {"text": 0, "start": 0, "stop": 5, "edits": [edit("", "很"), edit("己", "已")], "hints": []}
    answer = "".join(json.dumps(line) + "\n" for line in (part, {"done": True}))
    page.route("**/v1/check", lambda route: route.fulfill(body=answer))
    write(page, "他己是来了", 2)
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    for shown in ("已", "很", "已"):
        page.keyboard.press("Alt+ArrowDown")
        page.get_by_text(f"为何{shown}").wait_for()
        assert page.locator("mark.active").count() == 1
    page.keyboard.press("Escape")
    page.click("#accept-all")
    assert text(page) == "他很已是来了"


def test_rows_keep_their_focus_while_the_text_is_checked_again(page):
    write(page, "我很高心。\n己是。", 2)
    page.locator(".finding .open").nth(1).focus()
    page.evaluate("""() => {
        const area = document.querySelector("#text")
        area.value += "平果"
        area.dispatchEvent(new InputEvent("input", { inputType: "insertText" }))
    }""")
    wait_until_checked(page, 3)
    assert page.locator(".finding .open:focus del").text_content() == "己"
