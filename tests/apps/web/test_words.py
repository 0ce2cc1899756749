"""The writer's words and replacements on the page: guessed, kept, imported and exported."""

import pytest
from looking import reload, text, wait_until_checked, write

from nmspeller.runtime.dictionary import read_replacements, read_words


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def open_words(page):
    page.click("#open-words")
    page.wait_for_selector("#words[open]")


def close(page):
    page.keyboard.press("Escape")


def give(page, chooser, name, content):
    page.set_input_files(chooser, {"name": name, "mimeType": "", "buffer": content})


def items(page, chips):
    return [one.removesuffix("×") for one in page.locator(f"{chips} li").all_text_contents()]


def exported(page, button, tmp_path):
    with page.expect_download() as started:
        page.click(button)
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    return path


def replace(page, wrong, right):
    page.fill("#wrong-text", wrong)
    page.fill("#right-text", right)
    page.keyboard.press("Enter")


def test_a_replacement_is_made_kept_and_taken_back(page):
    write(page, "请登陆，登陆艇", 0)
    open_words(page)
    replace(page, "登陆", "登录")
    replace(page, "登陆艇", "登陆艇")
    assert items(page, "#pairs") == ["登陆→登录", "登陆艇→登陆艇"]
    close(page)
    wait_until_checked(page, 1)
    page.locator(".tick").click()
    assert text(page) == "请登录，登陆艇"
    reload(page)
    write(page, "登陆", 1)
    open_words(page)
    page.click("[aria-label='删除“登陆 → 登录”']")
    close(page)
    wait_until_checked(page, 0)


def test_a_replacement_goes_into_an_opened_file(page):
    open_words(page)
    replace(page, "登陆", "登录")
    close(page)
    give(page, "#file-input", "a.md", "请`登陆`，登陆".encode())
    wait_until_checked(page, 1)
    page.click("#accept-all")
    with page.expect_download() as started:
        page.click("#download")
    assert started.value.path().read_text("utf-8") == "请`登陆`，登录"


def test_the_word_of_a_finding_is_guessed(page):
    write(page, "😀我们高心集团的产品", 1)
    page.locator(".finding .open").click()
    page.click(".card >> text=加入词表")
    page.wait_for_function("() => document.querySelector('#word').value")
    assert page.input_value("#word") == "高心"
    guesses = page.locator("#guesses button").all_text_contents()
    assert guesses == ["高心", "高心集团", "我们高心", "我们高心集团"]
    page.click("#guesses >> text=/^高心集团$/")
    page.keyboard.press("Enter")
    assert items(page, "#chips") == ["高心集团"]
    close(page)
    wait_until_checked(page, 0)


def test_done_takes_what_is_in_the_fields_and_cancelling_does_not(page):
    write(page, "我们高心集团", 1)
    page.locator(".finding .open").click()
    page.click(".card >> text=加入词表")
    page.wait_for_function("() => document.querySelector('#word').value")
    page.fill("#wrong-text", "登陆")
    page.fill("#right-text", "登录")
    page.click("#words >> text=完成")
    page.wait_for_selector("#words", state="hidden")
    wait_until_checked(page, 0)
    open_words(page)
    assert items(page, "#chips") == ["高心"]
    assert items(page, "#pairs") == ["登陆→登录"]
    page.fill("#word", "#高心")
    page.click("#words >> text=完成")
    assert "#高心" in page.text_content("#words-note")
    page.fill("#word", "集团")
    close(page)
    page.wait_for_selector("#words", state="hidden")
    assert items(page, "#chips") == ["高心"]


@pytest.mark.parametrize("card", ["popover", "row"])
def test_the_focus_is_in_the_text_after_a_word_was_added(page, card):
    write(page, "我们高心集团", 1)
    page.focus("#text" if card == "popover" else ".finding .open")
    page.keyboard.press("Alt+ArrowDown" if card == "popover" else "Enter")
    page.focus("text=加入词表")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#word').value")
    page.keyboard.press("Enter")
    close(page)
    wait_until_checked(page, 0)
    assert page.evaluate("document.activeElement.id") == "text"


def test_the_word_under_the_caret_or_the_selection_is_offered(page):
    write(page, "我们高心集团的产品", 1)
    page.evaluate("document.querySelector('#text').setSelectionRange(2, 2)")
    open_words(page)
    page.wait_for_selector("#guesses button")
    assert page.input_value("#word") == ""
    assert page.locator("#guesses button").first.text_content() == "高心"
    close(page)
    page.evaluate("document.querySelector('#text').setSelectionRange(1, 4)")
    open_words(page)
    page.wait_for_selector("#guesses button")
    assert page.locator("#guesses button").all_text_contents() == ["们高心"]


def test_without_the_server_the_finding_itself_is_offered(open_page, fake_server):
    page = open_page(fake_server, allow_errors=True)
    write(page, "我很高心", 1)
    page.route("**/v1/words/around", lambda route: route.abort())
    page.locator(".finding .open").click()
    page.click(".card >> text=加入词表")
    page.wait_for_function("() => document.querySelector('#word').value === '心'")


def test_words_are_imported_and_exported_in_the_format_of_the_command_line(page, tmp_path):
    write(page, "高心，平果", 2)
    open_words(page)
    assert page.is_disabled("#chips-export")
    give(page, "#chips-file", "names.txt", "\ufeff# 名字\r\n  高心\r\n\r\n张 林\r\n高心\r\n".encode())
    page.wait_for_function("() => document.querySelector('#words-note').textContent")
    assert page.text_content("#words-note") == "已添加 2 条。"
    assert items(page, "#chips") == ["高心", "张 林"]
    file = exported(page, "#chips-export", tmp_path)
    assert file.name == "nmspeller-words.txt"
    assert read_words(file) == ["高心", "张 林"]
    close(page)
    wait_until_checked(page, 1)


def test_replacements_are_imported_and_exported_in_the_format_of_the_command_line(page, tmp_path):
    open_words(page)
    replace(page, "帐号", "账户")
    content = "# 体例\n登陆\t登录\n帐号\t账号\n啊\t\n"
    give(page, "#pairs-file", "style.tsv", content.encode())
    page.wait_for_selector("#pairs li >> text=登陆")
    file = exported(page, "#pairs-export", tmp_path)
    assert file.name == "nmspeller-replacements.tsv"
    assert read_replacements(file) == {"登陆": "登录", "帐号": "账号", "啊": ""}


@pytest.mark.parametrize(
    ("list_", "content", "sentence"),
    [
        ("pairs", "登陆\t登录\n帐号 账号\n".encode(), "第 2 行"),
        ("pairs", "登陆\t登录\t登入\n".encode(), "第 1 行"),
        ("chips", b"a\n" + b"b" * 65, "第 2 行超过 64 个字。"),
        ("chips", "高心".encode("gb18030"), "UTF-8"),
        ("chips", "\n".join(map(str, range(2001))).encode(), "2,000"),
    ],
)
def test_a_list_that_cannot_be_read_is_said_to_be_and_nothing_is_added(page, list_, content, sentence):
    open_words(page)
    give(page, f"#{list_}-file", "a.txt", content)
    note = {"pairs": "#pairs-note", "chips": "#words-note"}[list_]
    page.wait_for_selector(f"{note}.wrong")
    assert sentence in page.text_content(note)
    assert items(page, f"#{list_}") == []


def test_what_could_be_no_line_of_a_file_is_not_taken(page):
    open_words(page)
    page.fill("#word", "#高心")
    page.keyboard.press("Enter")
    assert "#高心" in page.text_content("#words-note")
    assert items(page, "#chips") == []
    assert page.input_value("#word") == "#高心"
