"""The rules on the page: on from the start, with a switch for each group and for each rule."""

import pytest
from looking import marked, reload, text, wait_until_checked, write


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def open_rules(page):
    page.click("#open-rules")
    page.wait_for_selector("#rules-list li + li")


def switch(page, group):
    page.locator(f"#rule-group-{group}").set_checked(not page.is_checked(f"#rule-group-{group}"), force=True)


def checked_rules(page):
    boxes = page.locator("#rules-list li input:checked").all()
    return {box.get_attribute("id").removeprefix("rule-") for box in boxes}


def test_both_groups_are_on_from_the_start(page):
    write(page, "他说的的对。。我很高心。", 3)
    assert marked(page) == ["的", "。。", "心"]
    assert page.locator(".finding .sign").first.text_content() == "规"
    assert not page.is_visible("#rules-state")
    page.locator(".finding .open").first.click()
    assert page.text_content(".card .why").endswith("。")
    page.locator(".tick").first.click()
    assert text(page) == "他说的对。。我很高心。"


def test_what_the_model_and_what_the_rules_find_stand_side_by_side(page):
    write(page, "我很高心。。他默守成规，己是走了。", 4)
    # The rule knows the whole idiom, of which the model would change one character.
    assert marked(page) == ["心", "。。", "默守成规", "己"]
    page.click("#accept-all")
    assert text(page) == "我很高兴。他墨守成规，已是走了。"


def test_one_switch_for_each_group(page):
    write(page, "他说的的对。。我很高心。", 3)
    open_rules(page)
    switch(page, "typography")
    wait_until_checked(page, 2)
    assert page.text_content("#rules-state") == "部分"
    assert "doubled_punctuation" not in checked_rules(page)
    assert "idiom" in checked_rules(page)
    switch(page, "spelling")
    wait_until_checked(page, 1)
    assert page.text_content("#rules-state") == "关"
    assert checked_rules(page) == set()
    switch(page, "typography")
    wait_until_checked(page, 2)
    page.keyboard.press("Escape")
    reload(page)
    wait_until_checked(page, 2)
    assert marked(page) == ["。。", "心"]


def test_each_rule_shows_what_it_finds(page):
    open_rules(page)
    rule = page.locator("#rules-list li", has=page.locator("#rule-doubled_punctuation"))
    assert "今天到此为止。。 → 今天到此为止。" in rule.inner_text()
    rule = page.locator("#rules-list li", has=page.locator("#rule-space_between_hanzi"))
    assert "公␣园" in rule.inner_text()
    hint = page.locator("#rules-list li", has=page.locator("#rule-weekday"))
    assert "→" not in hint.locator(".example").inner_text()
    assert page.locator("#rules-list li").count() == page.locator("#rules-list .example").count()


def test_one_rule_alone_is_remembered(page):
    open_rules(page)
    switch(page, "spelling")
    switch(page, "typography")
    page.check("#rule-doubled_punctuation")
    assert page.is_checked("#rule-group-typography")
    page.keyboard.press("Escape")
    reload(page)
    write(page, "他说的的对。。", 1)
    assert marked(page) == ["。。"]
    open_rules(page)
    assert checked_rules(page) == {"doubled_punctuation"}
    page.uncheck("#rule-doubled_punctuation")
    assert not page.is_checked("#rule-group-typography")
    page.keyboard.press("Escape")
    wait_until_checked(page, 0)


def test_a_group_that_is_as_it_comes_again_is_stored_by_its_name(page):
    open_rules(page)
    page.uncheck("#rule-idiom")
    page.check("#rule-idiom")
    stored = "JSON.parse(localStorage.getItem('nmspeller.rules')).sort()"
    assert page.evaluate(stored) == ["spelling", "typography"]
    page.check("#rule-term_variants")
    assert "spelling" not in page.evaluate(stored)
    assert {"idiom", "term_variants", "typography"} <= set(page.evaluate(stored))


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ('["doubled_character", "a_rule_that_is_gone"]', ["的", "心"]),
        ('["a_rule_that_is_gone"]', ["心"]),
        ('["doubled_character", 7]', ["的", "心"]),
        ("7", ["的", "。。", "心"]),
    ],
)
def test_what_is_stored_but_not_known_counts_as_nothing(page, stored, found):
    page.evaluate("stored => localStorage.setItem('nmspeller.rules', stored)", stored)
    reload(page)
    write(page, "他说的的对。。我很高心。", len(found))
    assert marked(page) == found


def test_nothing_is_called_free_of_errors_that_was_not_checked(page):
    write(page, "没有错。", 0)
    page.wait_for_selector("#clean")
    assert page.inner_text("#clean-big") == "没有发现错字"
    assert not page.is_visible("#not-checked")
    open_rules(page)
    switch(page, "typography")
    page.keyboard.press("Escape")
    write(page, "到此为止。。", 0)
    page.wait_for_selector("#clean")
    assert "没有发现错字" not in page.inner_text("#clean")
    assert page.inner_text("#not-checked") == "没有启用的规则：标点格式"
    page.click("#check-rules")
    wait_until_checked(page, 1)
    page.locator(".finding .open").click()
    page.click(".card .ignore")
    page.wait_for_selector("#clean")
    assert page.inner_text("#clean-big") == "没有待处理的建议"


def test_a_hint_is_shown_but_cannot_be_accepted(page):
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
    write(page, "他说：“今天我很高心。\n明天也会。”", 1)
    write(page, "他说：“今天我很高心。\n明天也会。", 2)
    assert page.locator(".finding .open").first.get_attribute("aria-label") == "“，请核对，规则"
    page.locator("#text").press("Control+End")
    page.keyboard.type("”")
    wait_until_checked(page, 1)


def test_what_the_rules_found_moves_with_its_text_until_they_read_it_again(page):
    write(page, "甲。\n他说的的对。", 1)
    page.route("**/v1/check", lambda route: None)
    page.locator("#text").press("Control+Home")
    page.keyboard.type("今天")
    page.wait_for_timeout(600)
    assert marked(page) == ["的"]


def test_what_the_rules_found_goes_with_the_last_character(page):
    write(page, "（他来了。", 1)
    write(page, "(they came.", 0)


def test_a_server_that_cannot_list_its_rules_is_said_to_be_away(open_page, fake_server):
    page = open_page(fake_server, allow_errors=True)
    page.route("**/v1/rules", lambda route: route.abort())
    page.click("#open-rules")
    page.get_by_text("现在无法从服务器读取规则。").wait_for()
