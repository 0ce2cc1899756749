"""LanguageTool's protocol: shape, UTF-16 offsets, markup, rule selection, errors."""

import json

import pytest

from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.languagetool.annotated import plain_text, read_annotations
from nmspeller.apps.http.languagetool.matches import matches
from nmspeller.apps.http.languagetool.rules import Selection
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Edit, Reason


def check(client, text=None, **fields):
    fields = {"language": "zh-CN", **fields, **({"text": text} if text is not None else {})}
    return client.post("/v2/check", data=fields)


def apply(text, matches):
    """What a Java client does: replace from the back, in UTF-16 units."""
    units = text.encode("utf-16-le")
    for match in reversed(matches):
        start, stop = 2 * match["offset"], 2 * (match["offset"] + match["length"])
        units = units[:start] + match["replacements"][0]["value"].encode("utf-16-le") + units[stop:]
    return units.decode("utf-16-le")


def test_whole_answer(client):
    answer = check(client, "你好！😀他己是来了。再见。").json()
    assert answer["software"]["name"] == "nmspeller"
    assert answer["language"]["code"] == "zh-CN"
    assert answer["warnings"] == {"incompleteResults": False}
    [match] = answer["matches"]
    assert match["offset"] == 6
    assert match["length"] == 1
    assert match["replacements"] == [{"value": "已"}]
    assert match["context"] == {"text": "你好！😀他己是来了。再见。", "offset": 6, "length": 1}
    assert match["sentence"] == "😀他己是来了。"
    assert "已" in match["message"]
    assert match["shortMessage"]
    assert match["rule"]["id"] == "NMSPELLER_SIMILAR_SHAPE"
    assert match["rule"]["issueType"] == "misspelling"
    assert match["rule"]["category"] == {"id": "TYPOS", "name": "错别字"}
    assert match["type"]["typeName"] == "UnknownWord"


@pytest.mark.parametrize("prefix", ["/v2", ""])
def test_every_address_with_and_without_prefix(client, prefix):
    assert client.get(f"{prefix}/check", params={"text": "高心", "language": "auto"}).json()["matches"]
    assert client.post(f"{prefix}/check", data={"text": "高心", "language": "zh"}).json()["matches"]
    assert {"name": "Chinese (Simplified)", "code": "zh", "longCode": "zh-CN"} in client.get(
        f"{prefix}/languages"
    ).json()
    assert client.get(f"{prefix}/healthcheck").text == "OK"
    assert client.get(f"{prefix}/info").json()["software"]["name"] == "nmspeller"
    assert client.get(f"{prefix}/maxtextlength").text == "1000000"


def test_astral_characters_count_twice(client):
    text = "😀高心𠀀平果👨‍👩‍👧‍👦己是"
    answer = check(client, text).json()
    assert apply(text, answer["matches"]) == "😀高兴𠀀苹果👨‍👩‍👧‍👦已是"
    for match in answer["matches"]:
        context = match["context"]
        units = context["text"].encode("utf-16-le")
        within = units[2 * context["offset"] : 2 * (context["offset"] + context["length"])]
        assert within.decode("utf-16-le") in ("心", "平", "己")


def test_long_context_is_cut_on_both_sides(client):
    [match] = check(client, "字" * 100 + "高心" + "\n" + "字" * 100).json()["matches"]
    context = match["context"]
    assert context["text"].startswith("...字")
    assert context["text"].endswith("字...")
    assert "\n" not in context["text"]
    assert context["text"][context["offset"]] == "心"


def test_bare_utf8_form_as_curl_sends_it(client):
    answer = client.post(
        "/v2/check",
        content="language=zh-CN&text=我很高心".encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert len(answer.json()["matches"]) == 1


def test_multipart_form(client):
    files = {"language": (None, "zh-CN"), "text": (None, "我很高心")}
    assert len(client.post("/v2/check", files=files).json()["matches"]) == 1


@pytest.mark.parametrize(
    ("text", "asked", "detected"),
    [("这个问题", "zh-TW", "zh-CN"), ("這個問題", "zh-CN", "zh-TW"), ("高心", "zh-TW", "zh-TW")],
)
def test_the_detected_language_may_be_another_than_that_asked_for(client, text, asked, detected):
    language = check(client, text, language=asked).json()["language"]
    assert language["code"] == asked
    assert language["detectedLanguage"]["code"] == detected


def test_language_is_detected_by_script(client):
    assert check(client, "這個問題", language="auto").json()["language"]["code"] == "zh-TW"
    assert (
        check(client, "这个问题", language="auto").json()["language"]["detectedLanguage"]["code"] == "zh-CN"
    )
    assert check(client, "高心", language="zh_tw").json()["language"]["code"] == "zh-TW"


def test_picky_is_thorough(make_client):
    from fakes import FakeChecker

    checker = FakeChecker()
    client = make_client(checker)
    for level in ("default", "picky", "PICKY"):
        check(client, f"平果{level}", level=level)
    assert [level for _, level in checker.batches] == ["balanced", "thorough", "thorough"]


@pytest.mark.parametrize(
    ("text", "place", "replacements", "rule"),
    [
        ("我喜跑步。", (1, 1), ["喜欢", "喜爱"], "MISSING"),
        ("😀他他来了。", (2, 2), ["他"], "EXTRA"),
        ("他在觉睡。", (2, 2), ["睡觉"], "SWAPPED"),
    ],
)
def test_missing_extra_and_swapped_characters(client, text, place, replacements, rule):
    [match] = check(client, text).json()["matches"]
    assert (match["offset"], match["length"]) == place
    assert [each["value"] for each in match["replacements"]] == replacements
    assert match["rule"]["id"] == f"NMSPELLER_{rule}"
    assert match["rule"]["category"]["id"] == "TYPOS"
    [result] = client.post(
        "/v1/check", json={"text": text, "explain": True}, headers={"Accept-Language": "zh"}
    ).json()["results"]
    assert result["edits"][0]["why"] in match["message"]  # that of the edit, and not of what is shown
    assert apply(text, [match]) == result["text"]


def found_in(text, *edits):
    """The matches for some edits (offset, source, target) of an annotated text."""
    edits = [Edit(at, len(old), old, new, 1.0, (), Reason.MISSING) for at, old, new in edits]
    return matches(text, Correction.of(text.plain, edits), Selection())


@pytest.mark.parametrize(
    ("text", "edits", "shown"),
    [
        ("天很好", [(0, "", "今")], [(0, 1, "今天")]),
        ("甲。\n天很好", [(3, "", "今")], [(3, 1, "今天")]),
        ("甲乙丙", [(0, "甲", "假"), (1, "", "了")], [(0, 1, "假"), (1, 1, "了乙")]),
        ("甲乙丙", [(1, "", "了"), (2, "", "吗")], [(0, 1, "甲了"), (1, 1, "乙吗")]),
        ("甲乙丙", [(3, "", "了")], [(2, 1, "丙了")]),
        ("甲", [(0, "甲", "")], [(0, 1, "")]),
        ("甲乙", [(0, "甲", "")], [(0, 2, "乙")]),
        ("\n", [(1, "", "甲")], [(0, 1, "\n甲")]),
    ],
)
def test_an_insertion_is_shown_with_a_neighbour_that_is_free(text, edits, shown):
    found = found_in(plain_text(text), *edits)
    assert [(m["offset"], m["length"], m["replacements"][0]["value"]) for m in found] == shown
    assert (
        apply(text, found)
        == Correction.of(
            text, [Edit(at, len(old), old, new, 1.0, (), Reason.MISSING) for at, old, new in edits]
        ).text
    )


def test_an_insertion_beside_markup_is_shown_with_the_neighbour_in_the_prose():
    text = read_annotations('{"annotation": [{"markup": "<br>", "interpretAs": "。"}, {"text": "天很好"}]}')
    [match] = found_in(text, (1, "", "今"))
    assert (match["offset"], match["length"], match["replacements"]) == (4, 1, [{"value": "今天"}])


def test_what_the_model_and_what_the_rules_find_stand_side_by_side(client):
    text = "我很高心。。他己是走了。"
    found = check(client, text, enabledRules="NMSPELLER_DOUBLED_PUNCTUATION").json()["matches"]
    assert [match["replacements"][0]["value"] for match in found] == ["兴", "。", "已"]
    assert apply(text, found) == "我很高兴。他已是走了。"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, "已兴"),
        ({"disabledRules": "NMSPELLER_SIMILAR_SHAPE, OTHER"}, "兴"),
        ({"enabledRules": "NMSPELLER_SIMILAR_SHAPE"}, "已兴"),
        ({"enabledRules": "NMSPELLER_SIMILAR_SHAPE", "enabledOnly": "true"}, "已"),
        ({"enabledCategories": "TYPOS", "enabledOnly": "true"}, "已兴"),
        ({"enabledCategories": "GRAMMAR", "enabledOnly": "true"}, ""),
        ({"disabledCategories": "TYPOS"}, ""),
        ({"disabledCategories": "TYPOS", "enabledRules": "NMSPELLER_SIMILAR_SOUND"}, "兴"),
        ({"mode": "textLevelOnly"}, ""),
        ({"mode": "allButTextLevelOnly"}, "已兴"),
    ],
)
def test_rules_can_be_chosen(client, fields, found):
    matches = check(client, "己是很高心", **fields).json()["matches"]
    assert "".join(match["replacements"][0]["value"] for match in matches) == found


def test_markup_is_not_checked_and_offsets_lie_in_the_original(client):
    pieces = [
        {"markup": "<p title='己是'>"},
        {"text": "😀我很"},
        {"markup": "<b>", "interpretAs": ""},
        {"text": "高心"},
        {"markup": "</b>"},
        {"markup": "<br/>", "interpretAs": "\n"},
        {"text": "平"},
        {"markup": "<i>"},
        {"text": "果"},
        {"markup": "&ji;", "interpretAs": "己"},
        {"text": "经"},
    ]
    matches = check(client, data=json.dumps({"annotation": pieces})).json()["matches"]
    original = "".join(piece.get("text") or piece["markup"] for piece in pieces)
    assert apply(original, matches) == original.replace("高心", "高兴").replace("平<i>", "苹<i>")


def test_of_a_word_cut_by_markup_the_wrong_character_is_shown(client):
    pieces = [{"text": "他自抱"}, {"markup": "<i>"}, {"text": "自弃。"}]
    (match,) = check(client, data=json.dumps({"annotation": pieces})).json()["matches"]
    assert (match["offset"], match["length"]) == (2, 1)
    assert match["replacements"][0]["value"] == "暴"


def test_edit_cut_by_markup_is_left_out():
    text = read_annotations('{"annotation": [{"text": "平"}, {"markup": "<b>"}, {"text": "果"}]}')
    assert text.plain == "平果"
    assert text.locate(0, 1) == (0, 1)
    assert text.locate(1, 2) == (4, 5)
    assert text.locate(0, 2) is None
    # Markup that is read as a text of its own length is markup all the same.
    text = read_annotations(
        '{"annotation": [{"text": "甲"}, {"markup": "&", "interpretAs": "和"}, {"text": "乙"}]}'
    )
    assert text.locate(0, 3) is None
    assert plain_text("平果").locate(0, 2) == (0, 2)


def test_half_a_character_in_annotations_keeps_the_length():
    text = read_annotations('{"annotation": [{"text": "\\ud83d高心"}]}')
    assert text.plain == "\ufffd高心"


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{",
        "1",
        "[]",
        "{}",
        '{"annotation": 1}',
        '{"annotation": [1]}',
        '{"annotation": [{}]}',
        "[" * 10_000,
        '{"annotation": [{"text": 1}]}',
        '{"annotation": [{"text": "a", "markup": "b"}]}',
        '{"annotation": [{"markup": "a", "interpretAs": 1}]}',
        '{"text": 1}',
    ],
)
def test_bad_annotations_are_errors(data):
    with pytest.raises(ApiError) as error:
        read_annotations(data)
    assert error.value.status == 400


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"language": "zh-CN"}, "Missing 'text'"),
        ({"text": "a"}, "Missing 'language'"),
        ({"text": "a", "language": ""}, "Missing 'language'"),
        ({"text": "a", "language": "en-US"}, "zh-CN"),
        ({"text": "a", "data": "{}", "language": "zh"}, "not both"),
        ({"text": "a", "language": "zh", "level": "wild"}, "picky"),
        ({"text": "a", "language": "zh", "mode": "wild"}, "mode"),
        ({"text": "a", "language": "zh", "enabledOnly": "true"}, "enabled"),
        ({"text": "a", "language": "zh", "enabledOnly": "yes", "disabledRules": "A"}, "disabled"),
        ({f"f{number}": "a" for number in range(200)}, "fields"),
    ],
)
def test_bad_requests_get_an_error_in_plain_text(client, fields, word):
    for answer in (client.post("/v2/check", data=fields), client.get("/check", params=fields)):
        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.text.startswith("Error: ")
        assert word in answer.text


def test_empty_text_has_no_matches(client):
    answer = check(client, "")
    assert answer.status_code == 200
    assert answer.json()["matches"] == []
    assert answer.json()["sentenceRanges"] == []


def test_only_part_of_a_very_long_sentence_is_quoted(client):
    text = "他" * 3000 + "己是" + "他" * 3000
    [match] = check(client, text).json()["matches"]
    assert match["sentence"] == "他" * 500 + "己是" + "他" * 499


def test_sentence_ranges_count_in_the_original(client):
    annotations = [
        {"markup": "<p>😀", "interpretAs": "\n\n"},
        {"text": "我"},
        {"markup": "<b>"},
        {"text": "门今天很高"},
        {"markup": "</b>"},
        {"text": "心。他来了。"},
    ]
    fields = {"data": json.dumps({"annotation": annotations}), "language": "zh"}
    answer = client.post("/v2/check", data=fields).json()
    assert answer["sentenceRanges"] == [[5, 20], [20, 24]]


def test_sentence_ranges_leave_blanks_out(client):
    assert check(client, "  😀一。 \n\n 　\n二。\n").json()["sentenceRanges"] == [[2, 6], [12, 14]]


def test_sentence_range_holds_the_markup_that_is_read_as_a_part_of_it(client):
    annotations = [
        {"markup": "<x/>", "interpretAs": "他"},
        {"text": "来"},
        {"markup": "<br>", "interpretAs": "。"},
    ]
    fields = {"data": json.dumps({"annotation": annotations}), "language": "zh"}
    assert client.post("/v2/check", data=fields).json()["sentenceRanges"] == [[0, 9]]


@pytest.mark.parametrize("content", ["文本".encode("gb18030"), b"%CE%C4%B1%BE", b"\xff"])
def test_form_that_is_not_utf8_is_an_error(client, content):
    body = b"language=zh&text=" + content
    form = client.post(
        "/v2/check", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    query = client.get("/v2/check?" + body.decode("latin-1") if content.isascii() else "/v2/check?%FF=1")
    for answer in (form, query):
        assert answer.status_code == 400
        assert answer.text == "Error: The form is not in UTF-8."


def test_multipart_form_that_is_not_utf8_is_an_error(client):
    body = (
        b'--x\r\nContent-Disposition: form-data; name="language"\r\n\r\nzh\r\n'
        b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n\xce\xc4\r\n--x--\r\n'
    )
    answer = client.post(
        "/v2/check", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("text", "lowest", "highest"),
    [
        ("今天天气很好。", 0.9, 1),
        ("我们用Python写程序。", 0.4, 0.6),
        ("The weather is fine today.", 0, 0),
        ("これは日本語の文章です。", 0, 0.5),
        ("123 ……", 0, 0),
        ("", 0, 0),
    ],
)
def test_confidence_in_chinese_is_the_share_of_hanzi(client, text, lowest, highest):
    language = check(client, text, language="auto").json()["language"]
    assert lowest <= language["detectedLanguage"]["confidence"] <= highest


def test_description_requires_one_of_text_and_data(client):
    path = client.get("/openapi.json").json()["paths"]["/v2/check"]
    [form] = path["post"]["requestBody"]["content"].values()
    assert form["schema"]["oneOf"] == [{"required": ["text"]}, {"required": ["data"]}]
    for fields in ({}, {"text": "a", "data": '{"text": "a"}'}):
        assert client.post("/v2/check", data={"language": "zh", **fields}).status_code == 400
