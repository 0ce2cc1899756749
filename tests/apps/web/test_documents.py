"""Files on the page: opened or dropped, checked, corrected and downloaded; the written text is not lost."""

import io
import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsmap
from looking import marked, reload, text, wait_until_checked, write


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


@pytest.fixture(scope="module")
def word():
    document = docx.Document()
    document.add_heading("他己是来了")
    document.add_paragraph("大家都很高心。平果甜，平果脆。")
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def open_file(page, name, content):
    page.set_input_files("#file-input", {"name": name, "mimeType": "", "buffer": content})


def download(page, button="#download"):
    with page.expect_download() as started:
        page.click(button)
    return started.value.suggested_filename, started.value.path().read_bytes()


def test_a_word_document_comes_back_with_what_was_accepted(page, word):
    write(page, "我写的平果", 1)
    open_file(page, "报告.docx", word)
    wait_until_checked(page, 4)
    assert text(page) == "他己是来了\n大家都很高心。平果甜，平果脆。\n"
    assert page.get_attribute("#text", "readonly") is not None
    assert page.is_disabled("#download")
    page.locator(".tick").nth(2).click()
    assert page.text_content("#file-accepted") == "已采纳 2 处"
    name, content = download(page)
    assert name == "报告（已校对）.docx"
    paragraphs = [paragraph.text for paragraph in docx.Document(io.BytesIO(content)).paragraphs]
    assert paragraphs == ["他己是来了", "大家都很高心。苹果甜，苹果脆。"]
    page.click("#close-file")
    assert text(page) == "我写的平果"
    wait_until_checked(page, 1)
    page.click("#text", position={"x": 60, "y": 40})
    page.keyboard.press("Control+End")
    page.keyboard.type("b")
    assert text(page) == "我写的平果b"


def test_missing_and_extra_characters_are_written_into_the_file(page):
    content = "我喜跑步，他他来了。\n要赶快做完作"
    open_file(page, "a.txt", content.encode())
    wait_until_checked(page, 3)
    page.locator(".tick").first.click()
    assert text(page) == "我喜欢跑步，他他来了。\n要赶快做完作"
    page.click("#accept-all")
    assert page.text_content("#file-accepted") == "已采纳 3 处"
    assert download(page)[1].decode() == "我喜欢跑步，他来了。\n要赶快做完作业"


def test_a_signed_document_is_not_corrected(open_page, fake_server, word):
    page = open_page(fake_server, allow_errors=True)
    content = io.BytesIO(word)
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("META-INF/documentsignatures.xml", "<a/>")
    open_file(page, "报告.docx", content.getvalue())
    wait_until_checked(page, 4)
    page.click("#accept-all")
    page.click("#download")
    page.wait_for_selector("#notice:not([hidden])")
    assert page.text_content("#notice-text").startswith("报告.docx 带有数字签名")


def test_tracked_changes(page, word):
    open_file(page, "报告.docx", word)
    wait_until_checked(page, 4)
    page.locator(".tick").first.click()
    name, content = download(page, "#download-tracked")
    assert name == "报告（已校对）.docx"
    xml = zipfile.ZipFile(io.BytesIO(content)).read("word/document.xml").decode()
    assert xml.count("<w:ins ") == xml.count("<w:del ") == 1
    page.click("#close-file")
    open_file(page, "a.txt", "高心".encode())
    wait_until_checked(page, 1)
    assert not page.is_visible("#download-tracked")


def test_other_targets_and_surrogates_land_where_they_belong(page):
    open_file(page, "a.md", "# 😀高心\n\n`高心` **平**果😀己是\n".encode())
    wait_until_checked(page, 3)
    page.locator(".finding .open").first.click()
    page.click(".card .option >> text=星")
    page.locator(".tick").nth(1).click()
    name, content = download(page)
    assert name == "a（已校对）.md"
    assert content.decode() == "# 😀高星\n\n`高心` **平**果😀已是\n"


def test_no_two_downloads_have_the_same_name(page, word):
    open_file(page, "报告.docx", word)
    wait_until_checked(page, 4)
    page.locator(".tick").first.click()
    names = [download(page)[0], download(page, "#download-tracked")[0]]
    page.locator(".tick").first.click()
    names.append(download(page)[0])
    reload(page)
    open_file(page, "报告.docx", word)
    wait_until_checked(page, 4)
    page.click("#accept-all")
    names.append(download(page)[0])
    assert names == ["报告（已校对）.docx", *(f"报告（已校对） ({number}).docx" for number in (2, 3, 4))]


def own_replacement(page, number, target):
    page.locator(".finding .open").nth(number).click()
    page.fill(".card .own input", target)
    page.keyboard.press("Enter")


def test_a_replacement_of_ones_own_is_written_at_its_place(page, word):
    open_file(page, "报告.docx", word)
    wait_until_checked(page, 4)
    own_replacement(page, 1, "兴😀！")
    wait_until_checked(page, 3)
    assert text(page) == "他己是来了\n大家都很高兴😀！。平果甜，平果脆。\n"
    _, content = download(page)
    paragraphs = [paragraph.text for paragraph in docx.Document(io.BytesIO(content)).paragraphs]
    assert paragraphs == ["他己是来了", "大家都很高兴😀！。平果甜，平果脆。"]
    _, content = download(page, "#download-tracked")
    xml = zipfile.ZipFile(io.BytesIO(content)).read("word/document.xml").decode()
    assert "兴😀！" in xml
    page.focus("#text")
    page.keyboard.press("Control+z")
    assert text(page).startswith("他己是来了\n大家都很高心。")


def test_what_a_rule_only_doubts_can_be_replaced_too(page):
    page.click("#open-rules")
    page.check("#rule-unbalanced_marks")
    page.keyboard.press("Escape")
    open_file(page, "a.txt", "他说“你好。\n".encode())
    wait_until_checked(page, 1)
    own_replacement(page, 0, "：")
    assert text(page) == "他说：你好。\n"
    assert download(page)[1].decode() == "他说：你好。\n"


def test_what_is_typed_stays_while_its_card_is_drawn_anew(page):
    open_file(page, "a.txt", "平果甜\n平果脆\n".encode())
    wait_until_checked(page, 2)
    page.locator(".finding .open").click()
    page.click("[aria-label='下一处']")
    page.click(".card .option >> nth=0")
    wait_until_checked(page, 1)
    if not page.locator(".card").count():
        page.locator(".finding .open").click()
    page.type(".card .own input", "梨")
    page.keyboard.press("ArrowLeft")
    page.evaluate("document.querySelector('#undo').click()")
    wait_until_checked(page, 2)
    assert page.text_content(".place") == "1/2"
    assert page.input_value(".card .own input") == "梨"


def test_accepting_can_be_undone_and_redone(page):
    open_file(page, "a.txt", "高心\n己是\n".encode())
    wait_until_checked(page, 2)
    page.click("#accept-all")
    assert text(page) == "高兴\n已是\n"
    assert page.is_enabled("#download")
    page.focus("#text")
    page.keyboard.press("Control+z")
    assert text(page) == "高心\n己是\n"
    assert page.is_disabled("#download")
    page.keyboard.press("Control+y")
    assert text(page) == "高兴\n已是\n"


def test_ignoring_can_be_undone_and_redone_and_leaves_nothing_to_download(page):
    open_file(page, "a.txt", "己是高心".encode())
    wait_until_checked(page, 2)
    page.locator(".finding .open").first.click()
    page.click(".card .ignore")
    assert marked(page) == ["心"]
    assert page.is_disabled("#download")
    page.click("#undo")
    assert marked(page) == ["己", "心"]
    page.keyboard.press("Control+Shift+z")
    assert marked(page) == ["心"]


def test_the_level_can_change_and_what_was_accepted_stays(page):
    open_file(page, "a.txt", "高心\n平果\n".encode())
    wait_until_checked(page, 2)
    page.locator(".tick").first.click()
    wait_until_checked(page, 1)
    page.check("[name=level][value=careful]")
    wait_until_checked(page, 0)
    assert text(page) == "高兴\n平果\n"
    assert download(page)[1].decode() == "高兴\n平果\n"


def test_a_dropped_file_is_opened(page):
    transfer = page.evaluate_handle("""() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File(["我很高心"], "a.txt"))
        return transfer
    }""")
    page.dispatch_event("body", "dragover", {"dataTransfer": transfer})
    assert page.is_visible("#drop")
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    wait_until_checked(page, 1)
    assert not page.is_visible("#drop")
    assert page.text_content("#file-name") == "a.txt"


def test_a_file_that_has_left_the_disk_is_corrected_as_it_was(page, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("我很高心", "utf-8")
    page.set_input_files("#file-input", file)
    wait_until_checked(page, 1)
    file.unlink()
    page.click("#accept-all")
    _, content = download(page)
    assert content.decode() == "我很高兴"


def test_a_folder_is_not_opened(page, tmp_path):
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(tmp_path)], "dragOperationsMask": 1}
    for type_ in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": type_, "x": 400, "y": 400, "data": data})
    page.wait_for_selector("#notice:not([hidden])")
    assert "文件夹" in page.text_content("#notice-text")
    assert page.get_attribute("#text", "readonly") is None


def test_what_cannot_be_opened_is_said_and_nothing_is_lost(open_page, fake_server):
    page = open_page(fake_server, allow_errors=True)
    write(page, "我写的平果", 1)
    open_file(page, "论文.pdf", b"%PDF-1.7")
    page.wait_for_selector("#notice")
    assert "论文.pdf" in page.text_content("#notice-text")
    assert page.get_attribute("#notice", "role") == "alert"
    assert text(page) == "我写的平果"
    assert page.get_attribute("#text", "readonly") is None
    page.click("#notice-close")
    assert not page.is_visible("#notice")


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [
        (
            "en",
            "报告.docx is not a Word document that can be read "
            "(its content is damaged or written in an unusual way).",
        ),
        ("zh-CN", "报告.docx 不是可读取的 Word 文档（内容已损坏，或写法特殊）。"),
    ],
)
def test_a_damaged_document_is_told_of_in_plain_words(open_page, fake_server, word, locale, sentence):
    page = open_page(fake_server, allow_errors=True, locale=locale)
    damaged = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word)) as old, zipfile.ZipFile(damaged, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            new.writestr(member, content[:100] if member == "word/document.xml" else content)
    open_file(page, "报告.docx", damaged.getvalue())
    page.wait_for_selector("#notice:not([hidden])")
    assert page.text_content("#notice-text") == sentence


def test_a_file_over_the_limit_is_said_to_be(open_page, start_fake_server):
    page = open_page(start_fake_server(max_text_length=100).address, allow_errors=True)
    open_file(page, "a.txt", ("字" * 101).encode())
    page.wait_for_selector("#notice")
    assert "101" in page.text_content("#notice-text")


def test_leaving_or_closing_with_changes_that_were_not_downloaded_warns(page):
    asked = []

    def answer(dialog):
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", answer)
    open_file(page, "a.txt", "高心\n己是".encode())
    wait_until_checked(page, 2)
    page.click("#accept-all")
    page.click("#close-file")
    assert asked == ["confirm"]
    assert page.is_visible("#file")
    page.close(run_before_unload=True)
    page.wait_for_timeout(300)
    assert asked == ["confirm", "beforeunload"]
    download(page)
    page.click("#close-file")
    assert asked == ["confirm", "beforeunload"]
    assert not page.is_visible("#file")


def test_a_server_that_returns_goes_on_with_the_file(open_page, start_fake_server):
    server = start_fake_server()
    page = open_page(server.address, allow_errors=True)
    server.stop()
    open_file(page, "a.txt", "高心".encode())
    page.wait_for_selector("#state[data-state=offline]")
    start_fake_server(port=int(server.address.rsplit(":", 1)[1]))
    wait_until_checked(page, 1)


INSERTION = (
    f'<w:ins xmlns:w="{nsmap["w"]}" w:id="7" w:author="王编辑"><w:r><w:t>他也很高心。</w:t></w:r></w:ins>'
)


@pytest.fixture(scope="module")
def of_two_people():
    document = docx.Document()
    paragraph = document.add_paragraph("我很高心。")
    paragraph._p.append(parse_xml(INSERTION))
    for _ in range(2):
        document.add_comment(paragraph.runs, "大家高心。", author="王编辑")
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("locale", "chip", "sentence", "button"),
    [
        ("zh-CN", "他人", "这是他人的文字，“全部采纳”不会改动。", "全部采纳（1）"),
        (
            "en",
            "another's",
            "Another person's words: “Accept all” leaves them as they are.",
            "Accept all (1)",
        ),
    ],
)
def test_another_person_s_words_are_accepted_one_by_one(
    open_page, fake_server, of_two_people, locale, chip, sentence, button
):
    page = open_page(fake_server, locale=locale)
    open_file(page, "a.docx", of_two_people)
    wait_until_checked(page, 4)
    assert page.locator(".finding .doubt.whose").all_text_contents() == [chip] * 3
    assert page.text_content("#accept-all") == button
    page.click("#accept-all")
    wait_until_checked(page, 3)
    assert text(page) == "我很高兴。他也很高心。\n大家高心。\n大家高心。\n"
    assert page.is_disabled("#accept-all")
    page.locator(".finding .open").nth(1).click()
    assert page.text_content(".card p.whose") == sentence
    assert not page.locator(".accept-these").count()
    page.click(".card .option.best")
    wait_until_checked(page, 2)
    page.locator(".tick").first.click()
    wait_until_checked(page, 1)
    assert text(page) == "我很高兴。他也很高兴。\n大家高兴。\n大家高心。\n"
    corrected = docx.Document(io.BytesIO(download(page)[1]))
    assert [comment.text for comment in corrected.comments] == ["大家高兴。", "大家高心。"]
    assert "他也很高兴" in corrected.element.xml


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [
        (
            "zh-CN",
            "批注中的修改不能写成修订，所以这个文件里没有：心→兴（批注 1）。"
            "点“下载”可得到包含全部修改的文件。",
        ),
        (
            "en",
            "Not in this file, because changes in comments cannot be tracked: 心 → 兴 (comment 1). "
            "“Download” writes all changes.",
        ),
    ],
)
def test_what_cannot_be_tracked_is_told_with_the_download(
    open_page, fake_server, of_two_people, locale, sentence
):
    page = open_page(fake_server, locale=locale)
    open_file(page, "a.docx", of_two_people)
    wait_until_checked(page, 4)
    page.locator(".tick").nth(2).click()
    page.locator(".tick").first.click()
    wait_until_checked(page, 2)
    _, tracked = download(page, "#download-tracked")
    page.wait_for_selector("#notice:not([hidden])")
    assert page.text_content("#notice-text") == sentence
    comments = [comment.text for comment in docx.Document(io.BytesIO(tracked)).comments]
    assert comments[:2] == ["大家高心。", "大家高心。"]
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.click("#close-file")
    assert page.is_visible("#file")  # for the change in the comment was not downloaded
    _, corrected = download(page)
    page.wait_for_selector("#notice", state="hidden")
    comments = [comment.text for comment in docx.Document(io.BytesIO(corrected)).comments]
    assert comments == ["大家高兴。", "大家高心。"]
    page.click("#close-file")
    assert not page.is_visible("#file")


def test_what_is_no_running_text_is_marked_with_its_place(page):
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "页眉也高心"
    document.add_paragraph("正文很好。")
    table = document.add_table(2, 2)
    for row, cell, content in ((0, 0, "表头"), (1, 0, "平果"), (1, 1, "甜")):
        table.cell(row, cell).text = content
    document.add_paragraph("他己是来了。")
    output = io.BytesIO()
    document.save(output)
    open_file(page, "表格.docx", output.getvalue())
    wait_until_checked(page, 3)
    drawn = page.evaluate(
        """[...document.querySelectorAll("#underlay > div")]
            .map((one) => [one.textContent.trim(), one.dataset.region ?? ""])"""
    )
    where = dict(drawn)
    assert where["页眉也高心"] == "页眉"
    assert where["表头"] == "表格 1"
    assert where["平果"] == where["甜"] == "┆"
    assert where["正文很好。"] == where["他己是来了。"] == ""
    page.locator(".finding", has_text="平").locator(".open").click()
    assert page.text_content(".card .where") == "表格 1，第 2 行，第 1 格"
    heights = page.evaluate(
        "[document.querySelector('#underlay').clientHeight, document.querySelector('#text').scrollHeight]"
    )
    assert abs(heights[0] - heights[1]) <= 1
    page.click("#close-file")
    write(page, "我很高心", 1)
    assert page.locator("[data-margin], [data-region]").count() == 0
