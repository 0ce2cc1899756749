"""How masking sees a sentence: literal masks through the engine, and the layer's attention."""

import httpx
import pytest
from fakes import FakeChecker


@pytest.mark.parametrize(("window", "expected"), [("character", (3, 4)), ("left", (2, 4)), ("both", (2, 5))])
def test_each_position_has_its_window_and_two_lists(real_server, window, expected):
    answer = httpx.post(
        f"{real_server}/v1/masking", json={"text": "我很高心！", "window": window}, timeout=180
    )
    positions = answer.raise_for_status().json()["positions"]
    assert [position["character"] for position in positions] == list("我很高心！")
    assert tuple(positions[3]["window"]) == expected
    assert positions[0]["window"][0] == 0
    assert positions[4]["window"][1] == 5
    for position in positions:
        for candidates in (position["as_is"], position["masked"]):
            chances = [candidate["probability"] for candidate in candidates]
            assert len(chances) == 5
            assert chances == sorted(chances, reverse=True)
            assert sum(chances) <= 1.001
    assert positions[3]["as_is"] != positions[3]["masked"]
    attention = answer.json()["attention"]
    for (start, stop), weights in zip((each["window"] for each in positions), attention, strict=True):
        assert len(weights) == 5
        assert not any(weights[start:stop])
        assert 0 < sum(weights) <= 1


def test_masked_reading_does_not_depend_on_what_is_masked(real_server):
    first, second = (
        httpx.post(f"{real_server}/v1/masking", json={"text": text, "window": "character"}, timeout=99).json()
        for text in ("我很高心！", "我很高大！")
    )
    assert first["positions"][3]["masked"] == second["positions"][3]["masked"]
    assert first["positions"][3]["as_is"] != second["positions"][3]["as_is"]


def test_sentence_must_be_short_and_model_present(make_client):
    client = make_client(model="nowhere")
    assert client.post("/v1/masking", json={"text": ""}).status_code == 422
    assert client.post("/v1/masking", json={"text": "字" * 41}).status_code == 422
    answer = client.post("/v1/masking", json={"text": "字"})
    assert answer.status_code == 404
    assert "model" in answer.json()["error"]


def test_after_a_reload_the_new_model_is_shown(make_client, monkeypatch):
    class Reader:
        def __init__(self, folder):
            self.shown = {"positions": [], "attention": None, "trained": len(loaded) > 0}
            loaded.append(folder)

        def read(self, text, window):
            return self.shown

    loaded = []
    monkeypatch.setattr("nmspeller.apps.http.masking.MaskedReader", Reader)
    checker = FakeChecker()
    client = make_client(checker)
    shown = [client.post("/v1/masking", json={"text": "字"}).json()["trained"] for _ in range(2)]
    checker.model_hash = "another"
    shown.append(client.post("/v1/masking", json={"text": "字"}).json()["trained"])
    assert shown == [False, False, True]
