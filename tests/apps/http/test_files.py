"""POST /v1/files: documents are checked, and the accepted edits written into them; nothing else."""

import io
import json
import random
import tempfile
import threading
import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsmap
from fakes import FakeChecker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.waiting import wait_until

from nmspeller.apps.http.engine_queue import SHORT_TOKENS

MARKDOWN = "# 我很高心\n\n```\n高心 = 1\n```\n\n他**己**是来了😀，平果很甜。\n"


@pytest.fixture(scope="module")
def word():
    document = docx.Document()
    document.add_heading("他己是来了")
    paragraph = document.add_paragraph("大家都很高")
    paragraph.add_run("心").bold = True
    paragraph.add_run("。")
    document.add_table(1, 1).cell(0, 0).text = "平果"
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def check(client, name, content, **fields):
    return client.post("/v1/files", files={"file": (name, content)}, data=fields)


def correct(client, name, content, edits, **fields):
    edits = edits if isinstance(edits, str) else json.dumps(edits)
    return client.post(
        "/v1/files/corrected", files={"file": (name, content)}, data={"edits": edits, **fields}
    )


def sentence(answer):
    return answer.json()["error"]


def test_only_prose_is_checked_and_offsets_are_those_of_the_source(client):
    answer = check(client, "文章.md", MARKDOWN.encode()).json()
    assert answer["source"] == MARKDOWN
    assert answer["tracks_changes"] is False
    found = [MARKDOWN[edit["offset"] : edit["offset"] + edit["length"]] for edit in answer["edits"]]
    assert found == ["心", "己", "平"] == [edit["source"] for edit in answer["edits"]]
    assert set(answer["edits"][0]) >= {"target", "confidence", "alternatives", "reason"}


def test_what_is_no_running_text_has_its_place(client, word):
    answer = check(client, "a.docx", word).json()
    assert [answer["source"][place["start"] : place["stop"]] for place in answer["places"]] == ["平果"]
    assert answer["places"][0]["region"] == "table 1"
    assert answer["places"][0]["label"] == "table 1, row 1, cell 1"
    assert check(client, "a.md", MARKDOWN.encode()).json()["places"] == []


def test_accepted_edits_and_no_others_are_written(client):
    edits = check(client, "文章.md", MARKDOWN.encode()).json()["edits"]
    answer = correct(client, "文章.md", MARKDOWN.encode(), edits[1:])
    assert answer.content.decode() == MARKDOWN.replace("**己**", "**已**").replace("平果", "苹果")
    assert answer.headers["content-disposition"] == ("attachment; filename*=UTF-8''%E6%96%87%E7%AB%A0.md")
    assert correct(client, "文章.md", MARKDOWN.encode(), []).content == MARKDOWN.encode()


def test_a_writer_may_choose_another_target(client):
    [edit] = check(client, "a.txt", "我很高心".encode()).json()["edits"]
    assert correct(client, "a.txt", "我很高心".encode(), [{**edit, "target": "星"}]).text == "我很高星"


@pytest.mark.parametrize(
    ("target", "corrected"),
    [("苹菓", "吃**苹**菓。"), ("几个梨", "吃**几个梨**。"), ("", "吃****。")],
)
def test_a_replacement_of_ones_own_leaves_the_markup_inside_it_where_it_is(client, target, corrected):
    edit = {"offset": 3, "length": 4, "source": "平**果", "target": target}
    assert correct(client, "a.md", "吃**平**果。".encode(), [edit]).text == corrected


@pytest.mark.parametrize(
    ("content", "offset", "source"),
    [
        ("平`code`果", 0, "平`code`果"),
        ("平\n\n果", 0, "平\n\n果"),
        ("吃**平**果", 1, "**平"),
        ("吃**平**", 3, "平**"),
    ],
)
def test_an_edit_covers_nothing_but_prose_and_marks(client, content, offset, source):
    edit = {"offset": offset, "length": len(source), "source": source, "target": "a"}
    answer = correct(client, "a.md", content.encode(), [edit])
    assert answer.status_code == 422
    assert "prose" in sentence(answer)


def test_a_replacement_of_ones_own_can_be_tracked(client, word):
    edits = check(client, "a.docx", word).json()["edits"]
    own = [{**edit, "target": f"{edit['source']}了不起", "reason": "context", "rule": None} for edit in edits]
    tracked = correct(client, "a.docx", word, own, track="true").content
    xml = zipfile.ZipFile(io.BytesIO(tracked)).read("word/document.xml").decode()
    assert xml.count("<w:ins ") == len(own) > 1


def test_replacements_are_a_field_of_the_form(client):
    pairs = json.dumps({"登陆": "登录"})
    answer = check(client, "a.md", "请`登陆`登陆".encode(), replacements=pairs).json()
    assert [(edit["offset"], edit["target"], edit["reason"]) for edit in answer["edits"]] == [
        (5, "登录", "user_list")
    ]
    assert sentence(check(client, "a.md", b"a", replacements="{")) == "Send `replacements` as JSON."
    wrong = check(client, "a.md", b"a", replacements="[]")
    assert sentence(wrong) == "replacements: Input should be an object."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "utf-16"])
def test_a_file_keeps_its_encoding(client, encoding):
    raw = "第一行很长很长，内容也不少。\r\n我很高心\r\n".encode(encoding)
    edits = check(client, "a.txt", raw).json()["edits"]
    assert correct(client, "a.txt", raw, edits).content == raw.decode(encoding).replace("心", "兴").encode(
        encoding
    )


def test_word_documents(client, word):
    answer = check(client, "报告.docx", word).json()
    assert answer["tracks_changes"] is True
    assert [edit["source"] for edit in answer["edits"]] == ["己", "心", "平"]
    plain = docx.Document(io.BytesIO(correct(client, "报告.docx", word, answer["edits"]).content))
    assert [paragraph.text for paragraph in plain.paragraphs] == ["他已是来了", "大家都很高兴。"]
    assert plain.paragraphs[1].runs[1].bold


def test_tracked_changes(client, word):
    edits = check(client, "报告.docx", word).json()["edits"]
    tracked = correct(client, "报告.docx", word, edits, track="true")
    xml = zipfile.ZipFile(io.BytesIO(tracked.content)).read("word/document.xml").decode()
    assert xml.count("<w:ins ") == xml.count("<w:del ") == 3
    assert "wordprocessingml" in tracked.headers["content-type"]
    answer = correct(client, "a.txt", "我很高心".encode(), [], track="true")
    assert answer.status_code == 422
    assert "tracked" in sentence(answer)


def test_streamed_answer_says_the_same(client, word):
    whole = check(client, "报告.docx", word).json()
    answer = check(client, "报告.docx", word, stream="true")
    first, *parts, last = [json.loads(line) for line in answer.text.splitlines()]
    assert first == {name: whole[name] for name in ("source", "tracks_changes", "places")}
    assert [edit for part in parts for edit in part["edits"]] == whole["edits"]
    assert all(
        part["start"] <= edit["offset"] < part["stop"] <= len(whole["source"])
        for part in parts
        for edit in part["edits"]
    )
    assert last == {"done": True, "edits": 3}


def of_two_people():
    """A document with somebody's insertion and somebody's comment, and findings in all of them."""
    document = docx.Document()
    paragraph = document.add_paragraph("平果甜（。")
    paragraph._p.append(parse_xml(INSERTION))
    document.add_comment(paragraph.runs, "平果也好（。", author="王编辑")
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


INSERTION = (
    f'<w:ins xmlns:w="{nsmap["w"]}" w:id="7" w:author="王编辑"><w:r><w:t>他己是来了。</w:t></w:r></w:ins>'
)


@pytest.mark.parametrize("stream", ["true", "false"])
def test_findings_in_another_person_s_words_say_so(client, stream):
    answer = check(client, "a.docx", of_two_people(), stream=stream, rules=["unbalanced_marks"])
    answers = [json.loads(line) for line in answer.text.splitlines()]
    parts = [one for one in answers if "hints" in one]
    for kind, expected in (
        ("edits", [("平", False), ("己", True), ("平", True)]),
        ("hints", [("（", False), ("（", True)]),
    ):
        assert [(one["source"], one["by_another"]) for part in parts for one in part[kind]] == expected
    [edit] = check(client, "a.txt", "平果".encode()).json()["edits"]
    assert edit["by_another"] is False


def test_what_a_person_accepts_is_written_into_another_person_s_words(client):
    raw = of_two_people()
    edits = check(client, "a.docx", raw).json()["edits"]
    corrected = docx.Document(io.BytesIO(correct(client, "a.docx", raw, edits).content))
    assert [comment.text for comment in corrected.comments] == ["苹果也好（。"]
    assert "已是" in corrected.element.xml


def test_what_cannot_be_tracked_is_named_by_its_number(client):
    raw = of_two_people()
    edits = check(client, "a.docx", raw).json()["edits"]
    tracked = correct(client, "a.docx", raw, edits, track="true")
    assert tracked.headers["nmspeller-left-out"] == "3"
    corrected = docx.Document(io.BytesIO(tracked.content))
    assert "平果也好（。" in [comment.text for comment in corrected.comments]
    assert "nmspeller-left-out" not in correct(client, "a.docx", raw, edits[:2], track="true").headers
    assert "nmspeller-left-out" not in correct(client, "a.docx", raw, edits).headers


def test_level_and_words(make_client):
    checker = FakeChecker()
    client = make_client(checker)
    answer = check(client, "a.txt", "平果高心己是".encode(), level="careful", words=["高心", "新词"])
    assert [edit["source"] for edit in answer.json()["edits"]] == ["己"]
    assert check(client, "a.txt", b"", level="reckless").status_code == 422
    assert check(client, "a.txt", b"", stream="perhaps").status_code == 422
    assert check(client, "a.txt", b"", unknown="1").status_code == 422


def test_rules_hints_and_explanations(client):
    raw = "# 他说的的**对**\n\n（他己是来了。\n".encode()
    answer = check(
        client, "a.md", raw, rules=["doubled_character", "unbalanced_marks"], explain="true"
    ).json()
    assert [edit["rule"] for edit in answer["edits"]] == ["doubled_character", None]
    assert [hint["source"] for hint in answer["hints"]] == ["（"]
    assert answer["source"][answer["hints"][0]["offset"]] == "（"
    assert all(found["why"] for found in answer["edits"] + answer["hints"])
    assert [found["label"] for found in answer["edits"] + answer["hints"]] == [
        "rule",
        "similar shape",
        "rule",
    ]
    chinese = client.post(
        "/v1/files",
        files={"file": ("a.md", raw)},
        data={"rules": "true", "explain": "true", "stream": "true"},
        headers={"Accept-Language": "zh"},
    )
    edits = [edit for part in chinese.text.splitlines()[1:-1] for edit in json.loads(part)["edits"]]
    assert {edit["source"] for edit in edits} >= {"己"}
    assert all(edit["why"].endswith("。") for edit in edits)
    assert all("why" not in edit for edit in check(client, "a.md", raw).json()["edits"])
    assert check(client, "a.md", raw, rules="nonsense").status_code == 422
    alone = check(client, "a.md", raw, rules="true", model="false").json()
    assert [edit["rule"] for edit in alone["edits"]] == ["doubled_character"]
    assert alone["hints"]


@pytest.mark.parametrize("stream", ["true", "false"])
def test_rules_read_a_document_as_a_whole(client, stream):
    raw = "张琳说好。他说“走吧。\n\n张琳说走吧。”\n\n张林说不。\n\n明天见，张林说。\n".encode()
    answer = check(client, "a.md", raw, rules=["name_variants", "unbalanced_marks"], stream=stream)
    answers = [json.loads(line) for line in answer.text.splitlines()]
    hints = [hint["source"] for each in answers for hint in each.get("hints", ())]
    assert hints == ["张林", "张林"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"source": "兴"}, "another text"),
        ({"offset": 0}, "another text"),
        ({"offset": 400}, "prose"),
        ({"length": 9}, "prose"),
        ({"offset": -1}, "offset"),
        ({"target": None}, "target"),
    ],
)
def test_edits_that_do_not_fit_are_an_error(client, change, problem):
    raw = "我很高心\n".encode()
    [edit] = check(client, "a.txt", raw).json()["edits"]
    answer = correct(client, "a.txt", raw, [{**edit, **change}])
    assert answer.status_code == 422
    assert problem in sentence(answer)


def test_edits_are_counted_from_one(client):
    raw = MARKDOWN.encode()
    edits = check(client, "a.md", raw).json()["edits"]
    assert sentence(correct(client, "a.md", raw, [edits[0], edits[0]])).startswith("Edit 2 cannot be applied")


def test_half_of_a_surrogate_pair_cannot_be_written(client):
    raw = "我很高心\n".encode()
    [edit] = check(client, "a.txt", raw).json()["edits"]
    answer = correct(client, "a.txt", raw, [{**edit, "target": "\ud83d"}])
    assert (answer.status_code, sentence(answer)) == (
        422,
        r"a.txt: '\ud83d' is half of a surrogate pair and cannot be written.",
    )


def test_utf16_without_a_mark_is_an_error_with_advice(client):
    answer = check(client, "a.txt", "今天我很高心，天气很好。".encode("utf-16-le"))
    assert answer.status_code == 422
    assert "save it as UTF-8" in sentence(answer)


def test_edits_outside_prose_or_out_of_order_are_an_error(client):
    raw = MARKDOWN.encode()
    edits = check(client, "a.md", raw).json()["edits"]
    assert correct(client, "a.md", raw, [edits[1], edits[0]]).status_code == 422
    assert correct(client, "a.md", raw, [edits[0], edits[0]]).status_code == 422
    in_code = {**edits[0], "offset": MARKDOWN.index("高心 =") + 1}
    assert "prose" in sentence(correct(client, "a.md", raw, [in_code]))
    assert correct(client, "a.md", raw, "not JSON").status_code == 422


def test_a_form_without_a_file_is_an_error(client):
    assert client.post("/v1/files", json={"text": "高心"}).status_code == 422
    assert client.post("/v1/files", data={"file": "高心"}).status_code == 422
    assert client.post("/v1/files", files={"other": ("a.txt", b"")}).status_code == 422
    assert check(client, "", b"").status_code in (400, 422)
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/v1/files", content=b"--y\r\n\r\n", headers=broken).status_code == 400
    no_boundary = {"Content-Type": "multipart/form-data"}
    assert client.post("/v1/files", content=b"", headers=no_boundary).status_code == 400


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.pdf", b"%PDF-1.7"), ("a.docx", b"PK\x03\x04 broken"), ("a.txt", b"\xff\x00\x00\xffabc")],
)
def test_what_cannot_be_read_is_an_error_that_names_the_file(client, name, content):
    answer = check(client, name, content)
    assert answer.status_code == 422
    assert name in sentence(answer)


def test_no_folder_of_the_writer_is_repeated(client):
    assert r"C:\secret" not in sentence(check(client, r"C:\secret\a.pdf", b"%PDF-1.7"))


def test_limits_are_those_of_texts(make_client, word):
    client = make_client(max_text_length=10, max_body_bytes=100_000)
    assert check(client, "a.txt", ("字" * 10).encode()).status_code == 200
    assert "11" in sentence(check(client, "a.txt", ("字" * 11).encode()))
    assert check(client, "a.txt", b"a" * 50_000).status_code == 413
    assert check(client, "a.docx", word).status_code == 413
    assert correct(client, "a.txt", ("字" * 11).encode(), []).status_code == 413
    assert check(client, "a.txt", b"a" * 200_000).status_code == 413


def test_a_document_may_have_large_pictures_but_no_longer_text(make_client):
    document = docx.Document()
    document.add_paragraph("我很高心。")
    output = io.BytesIO()
    document.save(output)
    picture = random.Random(0).randbytes(10_000_000)
    with zipfile.ZipFile(output, "a") as archive:
        archive.writestr("word/media/image1.png", picture)
    raw = output.getvalue()
    client = make_client()
    [edit] = check(client, "a.docx", raw).json()["edits"]
    corrected = correct(client, "a.docx", raw, [edit]).content
    assert [one.text for one in docx.Document(io.BytesIO(corrected)).paragraphs] == ["我很高兴。"]
    assert zipfile.ZipFile(io.BytesIO(corrected)).read("word/media/image1.png") == picture
    assert check(make_client(max_text_length=4), "a.docx", raw).status_code == 413
    assert check(make_client(host="0.0.0.0", insecure=True), "a.docx", raw).status_code == 413
    assert check(make_client(allow_hosts=("spell.example.org",)), "a.docx", raw).status_code == 413


@pytest.mark.parametrize("track", ["true", "false"])
def test_a_signed_document_is_checked_but_not_corrected(client, word, track):
    content = io.BytesIO(word)
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("META-INF/documentsignatures.xml", "<a/>")
    signed = content.getvalue()
    edits = check(client, "报告.docx", signed).json()["edits"]
    assert len(edits) == 3
    answer = correct(client, "报告.docx", signed, edits, track=track)
    assert answer.status_code == 422
    assert sentence(answer).startswith("报告.docx has a digital signature")
    assert "--" not in sentence(answer)  # options of the command are no help here


def test_an_archive_that_unpacks_to_too_much_is_an_error(make_client):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 3_000_000)
    client = make_client(max_body_bytes=100_000)
    answer = check(client, "a.docx", output.getvalue())
    assert answer.status_code == 413
    assert "3000000" in sentence(answer)


def test_key_queue_and_failures(make_client):
    client = make_client(api_key="s3cret")
    assert check(client, "a.txt", b"").status_code == 401
    assert correct(client, "a.txt", b"", []).status_code == 401
    checker = FakeChecker()
    client = make_client(checker, queue_tokens=100)
    assert check(client, "a.txt", "故障".encode()).status_code == 503
    assert check(client, "a.txt", "故障".encode(), stream="true").status_code == 503
    assert check(make_client(time_limit=0.2), "a.txt", "慢慢来".encode()).status_code == 503


def test_a_full_queue_gives_the_time_to_retry(make_client):
    checker = FakeChecker()
    client = make_client(checker, queue_tokens=100)
    check(client, "a.txt", "字".encode())  # starts the process that reads documents
    checker.batches.clear()
    checker.hold.clear()
    queue = client.app.state.service.queue
    # Only one lane takes the first one, which is long, and none takes the second one of the same client.
    texts = "甲" * 2 * SHORT_TOKENS, "乙" * 80
    waiting = [threading.Thread(target=check, args=(client, "a.txt", text.encode())) for text in texts]
    waiting[0].start()
    wait_until(lambda: checker.batches)
    waiting[1].start()
    wait_until(lambda: queue.waiting_tokens >= 80)
    answer = check(client, "a.txt", ("丙" * 80).encode())
    checker.hold.set()
    for thread in waiting:
        thread.join()
    assert answer.status_code == 429, answer.text
    assert int(answer.headers["retry-after"]) >= 1


def test_uploads_stay_in_memory(make_client, monkeypatch):
    def no_file(*_arguments, **_more):
        raise AssertionError("a file was written")

    client = make_client(max_body_bytes=8_000_000, max_text_length=3_000_000)
    # What a spooled file becomes when it outgrows the memory.
    monkeypatch.setattr(tempfile, "TemporaryFile", no_file)
    raw = b"a" * 3_000_000
    assert correct(client, "a.txt", raw, []).content == raw


def test_openapi_describes_both(client):
    paths = client.get("/openapi.json").json()["paths"]
    for path, fields in (
        ("/v1/files", {"level", "words", "stream"}),
        ("/v1/files/corrected", {"edits", "track"}),
    ):
        schema = paths[path]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
        assert fields | {"file"} <= set(schema["properties"])
        assert {"413", "422", "429"} <= set(paths[path]["post"]["responses"])


def test_openapi_says_whose_words_a_finding_is_in(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name in ("FileEditAnswer", "FileHintAnswer"):
        assert "another person" in schemas[name]["properties"]["by_another"]["description"]
        assert "by_another" in schemas[name]["required"]


pieces = st.one_of(
    st.sampled_from(["高心", "己是", "平果", "\n", "**", "# ", "`", "😀", "\r\n", " "]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(pieces, max_size=12), chosen=st.integers(0, 255))
def test_any_text_comes_back_with_nothing_but_the_accepted_edits(client, parts, chosen):
    text = "".join(parts)
    raw = text.encode()
    answer = check(client, "a.md", raw).json()
    edits = [edit for number, edit in enumerate(answer["edits"]) if chosen >> number % 8 & 1]
    expected, end = "", 0
    for edit in edits:
        expected += answer["source"][end : edit["offset"]] + edit["target"]
        end = edit["offset"] + edit["length"]
    assert (
        correct(client, "a.md", raw, edits).content.decode("utf-8-sig") == expected + answer["source"][end:]
    )
