"""A draft survives a reload, in this browser alone; where it cannot be kept, leaving warns."""

import pytest
from looking import reload, text, wait_until_checked, wait_until_ready, write

FULL = """
const set = Storage.prototype.setItem
Storage.prototype.setItem = function (name, value) {
  if (name === "nmspeller.text") throw new DOMException("full", "QuotaExceededError")
  set.call(this, name, value)
}
"""


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def wait_until_kept(page, content):
    page.wait_for_function(
        "text => localStorage.getItem('nmspeller.text') === JSON.stringify(text)", arg=content
    )


def leave(page):
    """The kinds of questions that a browser asks when the page is left."""
    asked = []

    def answer(dialog):
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", answer)
    reload(page)
    return asked


def test_a_draft_survives_a_reload(page):
    write(page, "我很高心😀。\n第二段", 1)
    wait_until_kept(page, "我很高心😀。\n第二段")
    assert page.text_content("#kept") == "草稿保存在这个浏览器里"
    assert leave(page) == []
    assert text(page) == "我很高心😀。\n第二段"
    wait_until_checked(page, 1)


def test_what_was_typed_last_is_kept_even_when_the_page_closes_at_once(page):
    page.keyboard.type("abc")
    reload(page)
    assert text(page) == "abc"


def test_what_is_typed_before_the_script_runs_is_not_lost(page):
    write(page, "我很高心。", 1)
    wait_until_kept(page, "我很高心。")

    def type_first(route):
        answer = route.fetch()
        typing = "document.querySelector('#text').value = '你很高心。'\n"
        route.fulfill(response=answer, body=typing + answer.text())

    page.route("**/page/main.js", type_first)
    reload(page)
    assert text(page) == "我很高心。你很高心。"
    wait_until_checked(page, 2)
    wait_until_kept(page, "我很高心。你很高心。")


def test_clearing_removes_the_draft_and_can_be_undone(page):
    write(page, "我很高心。", 1)
    wait_until_kept(page, "我很高心。")
    page.click("#clear")
    assert text(page) == ""
    page.wait_for_function("() => localStorage.getItem('nmspeller.text') === null")
    page.click("#undo")
    assert text(page) == "我很高心。"
    page.click("#clear")
    reload(page)
    assert text(page) == ""


def test_leaving_warns_where_the_draft_could_not_be_kept(open_page, fake_server):
    page = open_page(fake_server, script=FULL)
    page.click("#text", position={"x": 60, "y": 40})
    page.keyboard.type("abc")
    page.wait_for_selector("#kept[data-kept=false]")
    assert page.text_content("#kept") == "草稿没有保存"
    assert leave(page) == ["beforeunload"]


def test_an_empty_page_never_warns(open_page, fake_server):
    page = open_page(fake_server, script=FULL)
    page.click("#text", position={"x": 60, "y": 40})
    page.keyboard.type("a")
    page.keyboard.press("Backspace")
    page.wait_for_timeout(400)
    assert leave(page) == []


def test_another_tab_takes_the_only_place(page):
    page.click("#text", position={"x": 60, "y": 40})
    page.keyboard.type("first")
    wait_until_kept(page, "first")
    other = page.context.new_page()
    other.goto(page.url)
    wait_until_ready(other)
    assert text(other) == "first"
    other.fill("#text", "second")
    page.wait_for_selector("#kept[data-kept=false]")
    assert leave(page) == ["beforeunload"]
    other.close()


@pytest.mark.parametrize("stored", ["7", "null", '{"a": 1}', "not JSON"])
def test_a_draft_that_is_no_text_counts_as_none(page, stored):
    page.evaluate("stored => localStorage.setItem('nmspeller.text', stored)", stored)
    reload(page)
    assert text(page) == ""
    write(page, "高心", 1)
