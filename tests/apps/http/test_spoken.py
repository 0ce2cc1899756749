"""Each request is answered in its own language; the log stays English."""

import asyncio

import httpx
import pytest

from nmspeller.apps.http.middleware import Spoken
from nmspeller.messages import _, language, speak, speaking

ZH = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}


def is_chinese(text):
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": 1}, 422),
        ({}, 422),
        ({"text": "a", "level": "wild"}, 422),
        ({"text": "a", "words": [""]}, 422),
        ({"text": "a", "other": 1}, 422),
        ({"text": "a", "rules": ["grammar"]}, 422),
        ({"text": "a", "stream": 1}, 422),
        ({"text": "字" * 1_000_001}, 413),
        ({"text": ["字"] * 2_000}, 413),
        ({"text": "故障"}, 503),
    ],
)
def test_errors_are_in_the_language_of_the_request(client, body, status):
    for headers, chinese in ((ZH, True), ({}, False), ({"Accept-Language": "fr, en;q=0.5"}, False)):
        answer = client.post("/v1/check", json=body, headers=headers)
        assert answer.status_code == status
        assert is_chinese(answer.json()["error"]) == chinese
        assert answer.json()["error"].endswith("。" if chinese else ".")


def test_errors_of_every_address(client):
    for path, headers in (("/nothing", ZH), ("/v2/check?text=a", ZH), ("/v2/check?language=xx&text=a", ZH)):
        assert is_chinese(client.get(path, headers=headers).text)
        assert not is_chinese(client.get(path).text)


def test_an_error_in_a_stream_is_in_the_language_of_the_request(client):
    text = "好\n" * 3_000 + "故障\n"
    answer = client.post("/v1/check", json={"text": text, "stream": True}, headers=ZH)
    assert is_chinese(answer.text.splitlines()[-1])


def test_languages_of_requests_at_once_do_not_mix():
    async def hello(scope, receive, send):
        await asyncio.sleep(0)
        in_thread = await asyncio.to_thread(language)
        await asyncio.sleep(0)
        body = f"{language()} {in_thread} {_('Repetitions')}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def ask(client, tag):
        answer = await client.get("http://test/", headers={"Accept-Language": tag})
        return answer.text

    async def many():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(Spoken(hello))) as client:
            return await asyncio.gather(*(ask(client, tag) for tag in ("en", "zh") * 50))

    with speaking("en"):
        assert asyncio.run(many()) == ["en en Repetitions", "zh zh 重复"] * 50


def test_the_language_of_the_operator_is_not_that_of_requests(make_client):
    with speaking("zh"):
        speak("zh")
        assert not is_chinese(make_client().get("/nothing").text)
