"""How masking sees a sentence: literal masks through the engine, and the layer's attention in numpy."""

import httpx
import numpy as np
import pytest

from nmspeller.apps.http.masking import masking_attention


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


@pytest.fixture
def layer():
    random = np.random.default_rng(0)
    shapes = {
        "query_vectors": (12, 8),
        "word_embeddings": (30, 8),
        "position_embeddings": (12, 8),
        "norm_weight": (8,),
        "norm_bias": (8,),
        "wq": (8, 8),
        "wk": (8, 8),
        "bq": (8,),
        "bk": (8,),
    }
    arrays = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    return {**arrays, "heads": np.array(2)}


def test_attention_passes_over_the_window(layer):
    ids = np.array([1, 5, 6, 7, 8, 2])
    bounds = [(0, 2), (0, 3), (1, 4), (2, 4)]
    weights = masking_attention(layer, ids, bounds)
    assert weights.shape == (4, 4)
    for at, (start, stop) in enumerate(bounds):
        assert (weights[at, start:stop] == 0).all()
        outside = np.delete(weights[at], range(start, stop))
        assert (outside > 0).all()
    # [CLS] and [SEP] take their share too.
    assert (weights.sum(1) < 1).all()


def test_attention_is_that_of_two_plain_heads(layer):
    ids = np.array([1, 5, 6, 2])
    embedded = layer["word_embeddings"][ids] + layer["position_embeddings"][:4]
    normal = (embedded - embedded.mean(1, keepdims=True)) / embedded.std(1, keepdims=True)
    keys = (normal * layer["norm_weight"] + layer["norm_bias"]) @ layer["wk"] + layer["bk"]
    queries = layer["query_vectors"][:4] @ layer["wq"] + layer["bq"]
    expected = 0
    for head in (slice(0, 4), slice(4, 8)):
        row = np.exp(queries[1, head] @ keys[:, head].T / 2)
        row[1] = 0
        expected = expected + row / row.sum() / 2
    np.testing.assert_allclose(masking_attention(layer, ids, [(0, 1), (1, 2)])[0], expected[1:3], rtol=1e-4)
