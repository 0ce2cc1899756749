"""POST /v1/check: shape, offsets, streaming, errors."""

import json
from itertools import pairwise

import pytest


def check(client, text, **more):
    return client.post("/v1/check", json={"text": text, **more})


def test_edits_have_code_point_offsets(client):
    answer = check(client, "😀我很高心。").json()
    assert answer == {
        "results": [
            {
                "text": "😀我很高兴。",
                "edits": [
                    {
                        "offset": 4,
                        "length": 1,
                        "source": "心",
                        "target": "兴",
                        "probability": 0.98,
                        "confidence": 0.97,
                        "alternatives": ["星"],
                        "reason": "similar_sound",
                        "rule": None,
                    }
                ],
                "hints": [],
            }
        ]
    }


@pytest.mark.parametrize(
    ("text", "edit", "corrected"),
    [
        ("我喜跑步。", (2, 0, "", "欢", ["爱"], "missing"), "我喜欢跑步。"),
        ("😀他他来了。", (2, 1, "他", "", [], "extra"), "😀他来了。"),
        ("他在觉睡。", (2, 2, "觉睡", "睡觉", [], "swapped"), "他在睡觉。"),
    ],
)
def test_missing_extra_and_swapped_characters(client, text, edit, corrected):
    [result] = check(client, text, explain=True).json()["results"]
    assert result["text"] == corrected
    [found] = result["edits"]
    names = ("offset", "length", "source", "target", "alternatives", "reason")
    assert tuple(found[name] for name in names) == edit
    assert found["why"].endswith(".")


def test_what_the_model_and_what_the_rules_find_stand_side_by_side(client):
    text = "我很高心。。他己是走了。"
    [result] = check(client, text, rules=True).json()["results"]
    assert [(edit["source"], edit["target"], edit["reason"]) for edit in result["edits"]] == [
        ("心", "兴", "similar_sound"),
        ("。。", "。", "rule"),
        ("己", "已", "similar_shape"),
    ]
    assert result["text"] == "我很高兴。他已是走了。"


def test_each_text_of_a_list_has_its_own_result(client):
    results = check(client, ["己是", "", "没有错", "高心"]).json()["results"]
    assert [result["text"] for result in results] == ["已是", "", "没有错", "高兴"]
    assert check(client, []).json() == {"results": []}


def test_level_and_words_reach_the_speller(client):
    assert check(client, "平果", level="careful").json()["results"][0]["edits"] == []
    assert check(client, "平果", level="balanced").json()["results"][0]["text"] == "苹果"
    assert check(client, "平果", words=["平果"]).json()["results"][0]["edits"] == []


def test_replacements_of_a_request_are_made_with_and_without_the_model(client):
    text = "请登陆帐号，登陆艇很高心。"
    pairs = {"登陆": "登录", "登陆艇": "登陆艇", "帐号": "", "心": "欣"}
    [result] = check(client, text, replacements=pairs).json()["results"]
    assert result["text"] == "请登录，登陆艇很高欣。"
    assert {edit["reason"] for edit in result["edits"]} == {"user_list"}
    [fast] = check(client, text, replacements=pairs, model=False).json()["results"]
    assert fast == result
    [other] = check(client, text, model=False).json()["results"]
    assert other["edits"] == []


def test_words_go_before_replacements(client):
    [result] = check(client, "登陆", replacements={"登陆": "登录"}, words=["登陆"]).json()["results"]
    assert result["edits"] == []


def test_lone_surrogate_is_returned_unchanged(client):
    body = b'{"text": "\\ud83d \\u9ad8\\u5fc3"}'
    answer = client.post("/v1/check", content=body, headers={"Content-Type": "application/json"})
    assert answer.json()["results"][0]["text"] == "\ud83d 高兴"


def read_lines(response):
    assert response.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in response.text.splitlines()]


@pytest.mark.parametrize("asked", ["body", "header"])
def test_streamed_answer_is_the_answer(client, asked):
    text = "".join(f"第{number}段😀，我己是很高心。\n\n" for number in range(900))
    whole = check(client, text).json()["results"][0]
    if asked == "body":
        *parts, end = read_lines(check(client, text, stream=True))
    else:
        *parts, end = read_lines(
            client.post("/v1/check", json={"text": text}, headers={"Accept": "application/x-ndjson"})
        )
    assert len(parts) > 5
    assert [edit for part in parts for edit in part["edits"]] == whole["edits"]
    assert parts[0]["start"] == 0
    assert parts[-1]["stop"] == len(text)
    assert all(left["stop"] == right["start"] for left, right in pairwise(parts))
    assert end == {"done": True, "edits": 1800}


def test_stream_of_an_empty_text_is_complete(client):
    assert read_lines(check(client, "", stream=True)) == [{"done": True, "edits": 0}]


def test_error_before_the_stream_begins_has_a_status(make_client):
    client = make_client(max_text_length=10)
    assert check(client, "字" * 11, stream=True).status_code == 413


def test_error_inside_a_stream_is_reported(client):
    text = "好\n" * 3_000 + "故障\n"
    *parts, end = read_lines(check(client, text, stream=True))
    assert parts
    assert "engine failed" in end["error"]


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"{", 400, "JSON"),
        (b"", 422, "equired"),
        (b"[]", 422, "object"),
        (b'{"text": 1}', 422, "text"),
        (b'{"text": ["a", 1]}', 422, "text"),
        (b'{"text": null}', 422, "text"),
        (b'{"text": "a", "level": "wild"}', 422, "level"),
        (b'{"text": "a", "words": [""]}', 422, "words"),
        (b'{"text": "a", "replacements": {"": "b"}}', 422, "replacements: String should have at least 1"),
        (b'{"text": "a", "replacements": ["ab"]}', 422, "replacements: Input should be an object"),
        (b'{"text": "a", "replacements": {"secret": 1}}', 422, "replacements: Input should be a string."),
        (
            json.dumps({"text": "a", "words": ["a"] * 2001}),
            422,
            "words: Input should have at most 2000 items.",
        ),
        (b'{"text": "a", "model": "/etc/passwd"}', 422, "model"),
        (b'{"\\ud800": "a", "text": "a"}', 422, ""),
        (b'{"text": "\xff"}', 400, ""),
        (b'{"text": "a", "level": NaN}', 422, "level"),
        (b"[" * 100_000, 400, "JSON"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(client, body, status, word):
    answer = client.post("/v1/check", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert word in answer.json()["error"]
    assert answer.json()["error"].endswith(".")


def test_the_interface_is_described(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) >= {
        "/v1/check",
        "/v2/check",
        "/v2/languages",
        "/healthz",
        "/readyz",
        "/metrics",
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["summary"]
            assert operation["description"]


def operations_of(client):
    document = client.get("/openapi.json").json()
    named = {
        f"{method} {path}": operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    return document, named


def test_the_interface_is_described_in_the_language_of_the_reader(client):
    def summary(language):
        document = client.get("/openapi.json", headers={"Accept-Language": language}).json()
        return document["paths"]["/v1/check"]["post"]["summary"]

    assert summary("zh-CN") == "检查文本"
    assert summary("en") == summary("fr") == "Check texts"


def test_security_is_declared_only_where_a_key_is_set(make_client):
    document, operations = operations_of(make_client())
    assert "securitySchemes" not in document["components"]
    assert not any("security" in operation for operation in operations.values())
    document, operations = operations_of(make_client(api_key="key"))
    assert {name for name, operation in operations.items() if "security" in operation} == {
        "post /v1/check",
        "post /v1/files",
        "post /v1/files/corrected",
        "get /v1/rules",
        "post /v1/words/around",
        "get /v2/check",
        "post /v2/check",
        "get /metrics",
    }
    named = {scheme for each in operations.values() for one in each.get("security", ()) for scheme in one}
    assert named == set(document["components"]["securitySchemes"])
