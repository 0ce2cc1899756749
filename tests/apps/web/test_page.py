"""The page in a real browser: type, fix, undo, input methods, long texts, a server that goes and returns."""

import io
import re

import docx
import pytest
from looking import marked, reload, text, wait_until_checked, wait_until_ready, write


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def test_typing_underlines_and_clicking_corrects(page):
    page.type("#text", "😀他己是来了，我很高心。")
    wait_until_checked(page, 2)
    assert marked(page) == ["己", "心"]
    box = page.locator("#underlay mark").nth(1).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    popover = page.locator("#popover")
    popover.wait_for()
    assert "音近" in popover.inner_text()
    assert popover.locator(".option").all_text_contents() == ["兴", "星"]
    popover.locator(".option", has_text="星").click()
    assert text(page) == "😀他己是来了，我很高星。"
    wait_until_checked(page, 1)
    page.click("#undo")
    assert text(page) == "😀他己是来了，我很高心。"


def test_underlines_lie_under_their_characters(page):
    """The underlay must break lines where the text area does; else lines would lie under the wrong words."""
    page.fill("#text", "字，“错”。（好）、" * 37 + "高心，" + "abc def " * 9 + "，己是")
    wait_until_checked(page, 2)
    for number in range(2):
        box = page.locator("#underlay mark").nth(number).bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
        start = page.evaluate("document.querySelector('#text').selectionStart")
        assert text(page)[start] in "心己"
        page.keyboard.press("Escape")
    heights = page.evaluate(
        "[document.querySelector('#underlay').clientHeight, document.querySelector('#text').scrollHeight]"
    )
    assert abs(heights[0] - heights[1]) <= 1


@pytest.mark.parametrize("written", ["高心\n\n\n", "\n\n  高心", "高心 \n" + "好。" * 200 + "\n\n尾"])
def test_empty_lines_are_as_high_under_the_text_as_in_it(page, written):
    page.fill("#text", written)
    wait_until_checked(page, 1)
    heights = page.evaluate("""() => {
        const area = document.querySelector("#text")
        const underlay = document.querySelector("#underlay")
        area.style.height = "0"
        underlay.style.alignSelf = "start"
        const heights = [underlay.offsetHeight, area.scrollHeight]
        area.style.height = underlay.style.alignSelf = ""
        return heights
    }""")
    assert abs(heights[0] - heights[1]) <= 1
    box = page.locator("#underlay mark").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    start = page.evaluate("document.querySelector('#text').selectionStart")
    assert text(page)[start] == "心"


def test_accept_all_is_one_step_back(page):
    page.fill("#text", "他己是来了。\n我很高心。\n平果")
    wait_until_checked(page, 3)
    page.click("#accept-all")
    assert text(page) == "他已是来了。\n我很高兴。\n苹果"
    wait_until_checked(page, 0)
    page.keyboard.press("Control+z")
    assert text(page) == "他己是来了。\n我很高心。\n平果"
    page.keyboard.press("Control+Shift+z")
    assert text(page) == "他已是来了。\n我很高兴。\n苹果"
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert text(page) == ""


def test_keyboard_alone(page):
    page.focus("#text")
    page.keyboard.insert_text("己是，高心，平果")
    wait_until_checked(page, 3)
    page.keyboard.press("Control+Home")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    page.wait_for_selector("#popover .option:focus")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    changed = text(page)
    assert changed == "己是，高星，平果"
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "text"
    assert text(page) == changed
    page.keyboard.press("Control+z")
    assert text(page) == "己是，高心，平果"


def test_the_focus_in_the_small_window_is_visible_also_after_a_click(page):
    page.click("#example")
    page.wait_for_selector("#underlay mark")
    page.keyboard.press("Alt+ArrowDown")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_writing_on_after_a_finding_was_looked_at_replaces_nothing(page):
    page.fill("#text", "我很高心")
    wait_until_checked(page, 1)
    mark = page.locator("#underlay mark").bounding_box()
    page.mouse.click(mark["x"] + mark["width"] + 40, mark["y"] + mark["height"] / 2)
    page.wait_for_selector("#popover .option")
    page.keyboard.insert_text("了")
    assert text(page) == "我很高心了"
    wait_until_checked(page, 1)
    page.keyboard.press("Alt+ArrowUp")
    page.wait_for_selector("#popover .option:focus")
    page.keyboard.press("Escape")
    page.keyboard.insert_text("吗")
    assert text(page) == "我很高心吗了"
    wait_until_checked(page, 1)
    page.keyboard.press("Alt+ArrowUp")
    page.locator("#popover").get_by_text("忽略").click()
    page.keyboard.insert_text("呢")
    assert text(page) == "我很高心呢吗了"


def test_ignoring_from_a_card_leaves_the_focus_at_the_next_row(page):
    page.fill("#text", "己是高心")
    wait_until_checked(page, 2)
    for source in ("己", "心"):
        page.locator(".finding .open").first.focus()
        page.keyboard.press("Enter")
        assert page.locator(".finding .open:focus del").text_content() == source
        page.locator(".card .ignore").focus()
        page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "text"


def test_undo_and_redo_work_among_the_findings(page):
    write(page, "己是高心", 2)
    reload(page)  # the browser itself has nothing to undo now
    wait_until_checked(page, 2)
    page.locator(".finding .tick").first.focus()
    page.keyboard.press("Enter")
    for keys, changed in (("Control+z", "己是高心"), ("Control+Shift+z", "已是高心")):
        assert page.evaluate("document.activeElement.className") == "open"
        page.keyboard.press(keys)
        assert text(page) == changed


def test_undo_in_a_field_of_a_card_leaves_the_text_alone(page):
    page.focus("#text")
    page.keyboard.insert_text("高心")
    wait_until_checked(page, 1)
    page.click(".finding .open")
    page.locator(".card .own input").press_sequentially("高")
    page.keyboard.press("Control+z")
    assert text(page) == "高心"
    assert page.input_value(".card .own input") == ""


def ignore_first(page):
    page.locator(".finding .open").first.click()
    page.click(".card .ignore")


def test_ignoring_can_be_undone_and_redone_in_turn_with_other_changes(page):
    page.fill("#text", "平果很好吃，他己是来了。")
    wait_until_checked(page, 2)
    ignore_first(page)
    assert marked(page) == ["己"]
    page.locator(".finding .tick").click()
    for keys, left in (("z", ["己"]), ("z", ["平", "己"]), ("Shift+z", ["己"]), ("Shift+z", [])):
        page.keyboard.press(f"Control+{keys}")
        wait_until_checked(page, len(left))
        assert marked(page) == left
    assert text(page) == "平果很好吃，他已是来了。"


def test_what_was_ignored_stays_so_when_the_paragraph_changes(page):
    page.fill("#text", "平果很好吃，他己是来了。")
    wait_until_checked(page, 2)
    ignore_first(page)
    wait_until_checked(page, 1)
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("我很高心。")
    wait_until_checked(page, 2)
    assert marked(page) == ["己", "心"]


def parts_read(page):
    """How many parts of texts the engine has read."""
    metrics = page.request.get(page.url + "metrics").text()
    return float(re.search(r"^nmspeller_batch_texts_sum (\S+)", metrics, re.MULTILINE)[1])


def test_only_the_changed_paragraph_is_read_again(page):
    page.fill("#text", "第一段高心。\n第二段己是。\n第三段。")
    wait_until_checked(page, 2)
    before = parts_read(page)
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("平果")
    wait_until_checked(page, 3)
    assert parts_read(page) == before + 1
    page.keyboard.press("Control+z")
    wait_until_checked(page, 2)
    assert parts_read(page) == before + 1


def test_level_words_and_ignore(page):
    page.fill("#text", "平果高心")
    wait_until_checked(page, 2)
    page.check("[name=level][value=careful]")
    wait_until_checked(page, 1)
    page.check("[name=level][value=balanced]")
    wait_until_checked(page, 2)
    ignore_first(page)
    wait_until_checked(page, 1)
    page.click("#open-words")
    page.fill("#word", "高心")
    page.keyboard.press("Enter")
    page.click("#words >> text=完成")
    wait_until_checked(page, 0)
    reload(page)
    assert page.text_content("#words-count") == "1"
    page.fill("#text", "平果高心")
    wait_until_checked(page, 1)
    page.click("#open-words")
    page.click("[aria-label='删除“高心”']")
    page.keyboard.press("Escape")
    wait_until_checked(page, 2)


def test_input_method_is_not_disturbed(page):
    sent = []
    page.on("request", lambda request: sent.append(request) if "check" in request.url else None)
    page.fill("#text", "己是。")
    wait_until_checked(page, 1)
    sent.clear()
    page.focus("#text")
    page.keyboard.press("Control+End")
    client = page.context.new_cdp_session(page)
    for letters in ("g", "gao", "gao xin"):
        client.send(
            "Input.imeSetComposition",
            {"text": letters, "selectionStart": len(letters), "selectionEnd": len(letters)},
        )
        page.wait_for_timeout(250)
    page.wait_for_timeout(600)
    assert text(page) == "己是。gao xin"
    assert sent == []
    client.send("Input.insertText", {"text": "高心"})
    wait_until_checked(page, 2)
    assert text(page) == "己是。高心"
    assert len(sent) == 1


def test_long_paste_stays_responsive(page):
    long = "".join(f"第{number}段，他己是来了，大家都很高心。\n" for number in range(1_100))
    assert len(long) > 20_000
    page.evaluate(
        """text => {
            window.slowest = 0
            new PerformanceObserver((list) => {
                for (const { duration } of list.getEntries())
                    window.slowest = Math.max(window.slowest, duration)
            }).observe({ type: "longtask" })
            return navigator.clipboard.writeText(text)
        }""",
        long,
    )
    page.focus("#text")
    page.keyboard.press("Control+v")
    wait_until_checked(page, 2_200)
    page.keyboard.insert_text("又一段高心")
    wait_until_checked(page, 2_201)
    assert page.evaluate("window.slowest") < 2_000
    page.click("#accept-all")
    assert "高心" not in text(page)
    page.keyboard.press("Control+z")
    assert "高心" in text(page)
    assert len(text(page)) == len(long) + 5


def test_server_gone_and_back(open_page, start_fake_server):
    server = start_fake_server()
    page = open_page(server.address, allow_errors=True)
    server.stop()
    page.type("#text", "我很高心。")
    page.wait_for_selector("#state[data-state=offline]")
    assert "重试" in page.text_content("#state-text")
    assert text(page) == "我很高心。"
    port = int(server.address.rsplit(":", 1)[1])
    start_fake_server(port=port)
    wait_until_checked(page, 1)


def test_what_is_too_long_for_the_server_is_checked_in_stretches_and_said_to_be(open_page, start_fake_server):
    server = start_fake_server(max_text_length=1_000)
    page = open_page(server.address, allow_errors=True)
    page.fill("#text", "\n".join(f"{number}" + "好" * 200 + "高心" for number in range(20)))
    wait_until_checked(page, 20)
    assert "分 10 段检查" in page.text_content("#state-text")
    page.fill("#text", "高心")
    wait_until_checked(page, 1)
    assert "段" not in page.text_content("#state-text")


def test_what_is_rejected_is_never_called_checked(open_page, start_fake_server):
    server = start_fake_server(max_text_length=100)
    page = open_page(server.address, allow_errors=True)
    page.fill("#text", "好" * 150 + "高心\n己是")
    page.wait_for_selector("#state[data-state=refused]")
    assert marked(page) == ["己"]
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("平果")
    page.locator("#underlay mark").nth(1).wait_for()
    page.wait_for_selector("#state[data-state=refused]")
    assert "100" in page.text_content("#state-text")
    page.fill("#text", "己是平果")
    wait_until_checked(page, 2)


def test_what_a_proxy_answers_in_json_is_never_called_checked(open_page, fake_server):
    page = open_page(fake_server, allow_errors=True)
    answer = {"status": 502, "content_type": "application/json", "body": '{"message": "Bad gateway"}'}
    page.route("**/v1/check", lambda route: route.fulfill(**answer))
    page.fill("#text", "我很高心。")
    page.wait_for_selector("#state[data-state=offline]")
    page.unroute("**/v1/check")
    wait_until_checked(page, 1)


def test_a_key_that_no_header_can_hold_is_a_wrong_key(open_page, start_fake_server):
    server = start_fake_server(api_key="s3cret")
    page = open_page(server.address, allow_errors=True)
    page.type("#text", "我很高心。")
    for key in ("密钥", "s3cret"):
        page.click("#give-key")
        page.fill("#key-input", key)
        page.keyboard.press("Enter")
    wait_until_checked(page, 1)


def test_a_missing_key_is_asked_for_and_a_wrong_one_named(open_page, start_fake_server):
    server = start_fake_server(api_key="s3cret")
    page = open_page(server.address, allow_errors=True)
    page.type("#text", "我很高心。")
    page.wait_for_selector("#state[data-state=needsKey]")
    page.click("#give-key")
    assert not page.is_visible("#key-wrong")
    page.fill("#key-input", "secret")
    page.keyboard.press("Enter")
    page.wait_for_selector("#state[data-state=wrongKey]")
    assert page.text_content("#state-text") == "访问密钥不对。"
    page.click("#give-key")
    assert page.is_visible("#key-wrong")
    page.fill("#key-input", "s3cret")
    page.keyboard.press("Enter")
    wait_until_checked(page, 1)


def test_copy(page):
    page.fill("#text", "平果😀")
    # It says so for a moment only, which a busy machine may miss; so all that it says is written down.
    page.evaluate("""() => {
        const button = document.querySelector("#copy-text")
        window.said = []
        new MutationObserver(() => said.push(button.textContent)).observe(button, { childList: true })
    }""")
    page.click("#copy")
    page.wait_for_function("() => said.includes('已复制')")
    assert page.evaluate("navigator.clipboard.readText()") == "平果😀"


def test_two_languages_and_two_themes_are_remembered(open_page, fake_server):
    page = open_page(fake_server, locale="en-US")
    assert page.text_content("#copy-text") == "Copy"
    page.click("#language")
    assert page.text_content("#copy-text") == "复制"
    assert page.get_attribute("html", "lang") == "zh-CN"
    page.click("#theme")
    reload(page)
    assert page.text_content("#copy-text") == "复制"
    assert page.get_attribute("html", "data-theme") == "dark"


@pytest.mark.parametrize("stored", ['"reckless"', "7", '["careful"]', "not JSON"])
def test_what_is_remembered_but_not_known_counts_as_nothing(page, stored):
    page.evaluate(
        """stored => {
            for (const name of ["level", "language", "theme"])
                localStorage.setItem(`nmspeller.${name}`, stored)
        }""",
        stored,
    )
    reload(page)
    assert page.is_checked("[name=level][value=balanced]")
    assert page.text_content("#copy-text") == "复制"
    assert page.get_attribute("html", "data-theme") == "light"
    page.fill("#text", "平果高心")
    wait_until_checked(page, 2)
    page.goto(page.url + "docs")
    wait_until_ready(page)
    assert page.get_attribute("html", "data-theme") == "light"


def test_everything_has_a_name(open_page, fake_server):
    """What a screen reader would have to say nothing about."""
    page = open_page(fake_server, allow_errors=True)
    page.fill("#text", "平果")
    wait_until_checked(page, 1)
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, input, textarea, [role]')]
            .filter((one) => one.checkVisibility())
            .filter((one) => one.role !== 'status')
            .filter((one) => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby')
                || one.textContent.trim() || one.labels?.[0]?.textContent.trim()))
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert page.get_attribute("#state-text", "aria-live") == "polite"


def test_phone_does_not_scroll_sideways(open_page, fake_server):
    page = open_page(fake_server, width=375, height=740, allow_errors=True)
    page.fill("#text", "他己是来了，我很高心。" * 20)
    wait_until_checked(page, 40)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_api_documentation(open_page, fake_server):
    page = open_page(fake_server, path="/docs")
    page.locator(".path").get_by_text("/v1/check", exact=True).wait_for()
    assert page.locator(".method").count() >= 9
    assert "curl" in page.inner_text("main")


def test_the_api_documentation_is_in_one_language(open_page, fake_server):
    prose = """() => {
        const copy = document.querySelector("main").cloneNode(true)
        copy.querySelectorAll("code, pre, .path, .method").forEach((one) => one.remove())
        return copy.textContent
    }"""
    page = open_page(fake_server, path="/docs")
    page.wait_for_selector("td")
    chinese = page.evaluate(prose)
    names = {"API", "JSON", "UTF", "Office", "Word", "Markdown", "LaTeX", "HTML", "LanguageTool"}
    names |= {"Prometheus", "Retry", "After", "nmspeller"}
    code = {
        "annotation",
        "text",
        "markup",
        "interpretAs",
        "offset",
        "length",
        "docx",
        "odt",
        "pptx",
        "md",
        "txt",
    }
    assert set(re.findall(r"[A-Za-z]{2,}", chinese)) <= names | code
    assert "检查文本" in chinese
    page.click("#language")
    page.wait_for_selector("h2 >> text=Check texts")
    assert re.findall(r"[\u3400-\u9fff]+", page.evaluate(prose)) == []
    page.goto(page.url.removesuffix("docs"))
    wait_until_ready(page)
    assert page.get_attribute("html", "lang") == "en"


class TestWithTheShippedModel:
    """The page as people see it; the docs' pictures are made here."""

    def wait(self, page, least=3):
        page.wait_for_function(
            "least => document.querySelector('#state').dataset.state === 'done'"
            " && document.querySelectorAll('#underlay mark').length >= least",
            arg=least,
        )

    def test_writing(self, open_page, real_server, screenshot):
        page = open_page(real_server)
        screenshot(page, "empty")
        page.click("#example")
        self.wait(page)
        page.keyboard.press("Control+Home")
        page.keyboard.press("Alt+ArrowDown")
        page.keyboard.press("Alt+ArrowDown")
        assert page.text_content("#popover .why").endswith("。")
        screenshot(page, "write")
        page.keyboard.press("Escape")
        page.click("#accept-all")
        assert "高兴" in text(page)

    def test_writing_in_the_dark(self, open_page, real_server, screenshot):
        page = open_page(real_server, dark=True, locale="en-US")
        page.click("#example")
        self.wait(page)
        page.locator(".finding .open").nth(1).click()
        red, green, blue = page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
        )
        assert max(red, green, blue) < 64
        screenshot(page, "write-dark")

    def test_writing_on_a_phone(self, open_page, real_server, screenshot):
        page = open_page(real_server, width=390, height=844)
        page.click("#example")
        self.wait(page)
        page.locator(".finding .open").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        screenshot(page, "phone")

    def test_a_word_document(self, open_page, real_server, screenshot):
        document = docx.Document()
        document.add_heading("家乡的变化")
        document.add_paragraph("我门的家乡在一条小河边。每到秋天，那里的平果又大又甜，大家都很高心。")
        document.add_paragraph("这几年，家乡的变化非长大：己是修好了公路，每天都有人认真的打扫街道。")
        content = io.BytesIO()
        document.save(content)
        page = open_page(real_server)
        page.set_input_files(
            "#file-input", {"name": "家乡的变化.docx", "mimeType": "", "buffer": content.getvalue()}
        )
        self.wait(page)
        page.locator(".tick").first.click()
        page.locator(".finding .open").first.click()
        assert page.is_visible("#download-tracked")
        screenshot(page, "file")
