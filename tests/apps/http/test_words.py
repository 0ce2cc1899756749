"""POST /v1/words/around: the word at a place."""

import pytest


def around(client, text, **place):
    return client.post("/v1/words/around", json={"text": text, **place})


def test_the_likeliest_word_comes_first(client):
    answer = around(client, "😀我们高心集团的产品", offset=4).json()
    assert answer["words"][:2] == [
        {"offset": 3, "length": 2, "word": "高心"},
        {"offset": 3, "length": 4, "word": "高心集团"},
    ]
    assert around(client, "我，", offset=1).json() == {"words": []}


@pytest.mark.parametrize("character", "高a")
def test_a_long_stretch_is_no_word_and_is_not_read(client, monkeypatch, character):
    read = []
    monkeypatch.setattr(
        "nmspeller.runtime.word_guess.is_hanzi", lambda one: not read.append(one) and one > "a"
    )
    text = character * 1_000
    assert around(client, text, offset=0, length=len(text)).json() == {"words": []}
    assert around(client, text, offset=500).status_code == 200
    assert len(read) < 300


@pytest.mark.parametrize(("offset", "length"), [(2, 1), (0, 3), (-1, 1), (10**30, 0)])
def test_a_place_outside_the_text_is_an_error(client, offset, length):
    answer = around(client, "高心", offset=offset, length=length)
    assert answer.status_code == 422
    assert "offset" in answer.json()["error"]
