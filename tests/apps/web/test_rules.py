"""The rules on the page: a switch for all, one for each, and what they find."""

import pytest
from looking import marked, reload, text, wait_until_checked, write


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def switch_on(page):
    page.click("#open-rules")
    page.wait_for_selector("#rules-list li + li")
    page.check("#rules-on", force=True)


def test_rules_are_off_until_they_are_switched_on(page):
    write(page, "他说的的对，我很高心。", 1)
    switch_on(page)
    assert page.locator("#rules-list li").count() >= 8
    assert "叠" in page.inner_text("#rules-list") or "重复" in page.inner_text("#rules-list")
    page.keyboard.press("Escape")
    wait_until_checked(page, 2)
    assert page.text_content("#rules-state") == "开"
    assert page.locator(".finding .sign").first.text_content() == "规"
    page.locator(".finding .open").first.click()
    assert page.text_content(".card .why").endswith("。")
    page.locator(".tick").first.click()
    assert text(page) == "他说的对，我很高心。"


def test_what_the_model_and_what_the_rules_find_stand_side_by_side(page):
    switch_on(page)
    page.keyboard.press("Escape")
    write(page, "我很高心。。他默守成规，己是走了。", 4)
    # The rule knows the whole idiom, of which the model would change one character.
    assert marked(page) == ["心", "。。", "默守成规", "己"]
    page.click("#accept-all")
    assert text(page) == "我很高兴。他墨守成规，已是走了。"


def test_one_rule_alone_is_remembered(page):
    switch_on(page)
    for box in page.locator("#rules-list input").all():
        if box.get_attribute("id") != "rule-doubled_punctuation":
            box.uncheck()
    page.keyboard.press("Escape")
    reload(page)
    write(page, "他说的的对。。", 1)
    assert page.locator(".finding .sign").text_content() == "规"
    page.click("#open-rules")
    page.wait_for_selector("#rules-list li + li")
    assert [box.get_attribute("id") for box in page.locator("#rules-list input:checked").all()] == [
        "rule-doubled_punctuation"
    ]
    page.uncheck("#rule-doubled_punctuation")
    assert not page.is_checked("#rules-on")
    page.keyboard.press("Escape")
    wait_until_checked(page, 0)


def test_a_hint_is_shown_but_cannot_be_accepted(page):
    switch_on(page)
    page.check("#rule-unbalanced_marks")
    page.keyboard.press("Escape")
    write(page, "（他来了。我很高心。", 2)
    assert page.locator(".finding .open").first.get_attribute("aria-label") == "（，请核对，规则"
    page.locator(".finding .open").first.click()
    assert page.locator(".card .option").count() == 0
    page.click("#accept-all")
    assert text(page) == "（他来了。我很高兴。"
    wait_until_checked(page, 1)
    assert page.is_disabled("#accept-all")
    page.keyboard.press("Alt+ArrowDown")
    page.wait_for_selector("#popover button:focus")


def test_a_quotation_over_two_paragraphs_is_balanced(page):
    switch_on(page)
    page.keyboard.press("Escape")
    write(page, "他说：“今天我很高心。\n明天也会。”", 1)
    write(page, "他说：“今天我很高心。\n明天也会。", 2)
    assert page.locator(".finding .open").first.get_attribute("aria-label") == "“，请核对，规则"
    page.locator("#text").press("Control+End")
    page.keyboard.type("”")
    wait_until_checked(page, 1)


def test_what_the_rules_found_moves_with_its_text_until_they_read_it_again(page):
    switch_on(page)
    page.keyboard.press("Escape")
    write(page, "甲。\n他说的的对。", 1)
    page.route("**/v1/check", lambda route: None)
    page.locator("#text").press("Control+Home")
    page.keyboard.type("今天")
    page.wait_for_timeout(600)
    assert marked(page) == ["的"]


def test_what_the_rules_found_goes_with_the_last_character(page):
    switch_on(page)
    page.keyboard.press("Escape")
    write(page, "（他来了。", 1)
    write(page, "(they came.", 0)


def test_a_server_that_cannot_list_its_rules_is_said_to_be_away(open_page, fake_server):
    page = open_page(fake_server, allow_errors=True)
    page.route("**/v1/rules", lambda route: route.abort())
    page.click("#open-rules")
    page.get_by_text("现在无法从服务器读取规则。").wait_for()
