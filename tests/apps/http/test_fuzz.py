"""No input makes the server fail, and every edit lies inside its text and does what it says.

NMSPELLER_FUZZ_EXAMPLES sets how many requests are made from the schema for each operation.
"""

import json
import os

import pytest
import schemathesis
from fakes import KNOWN, MISCOUNTED, SWAPPED, FakeChecker
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmspeller.apps.http.app import create_app
from nmspeller.apps.http.settings import Settings
from nmspeller.text.windows import sentences

LIMITS = {"max_text_length": 2_000, "max_body_bytes": 50_000}
schema = schemathesis.openapi.from_asgi(
    "/openapi.json",
    create_app(Settings(api_key="key", model="nowhere", allow_hosts=("testserver",)), FakeChecker),
)
JSON = {"Content-Type": "application/json"}
examples = int(os.environ.get("NMSPELLER_FUZZ_EXAMPLES", 10))
from_the_schema = settings(
    max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
some = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

anything = st.text(st.characters(codec="utf-8"), max_size=60)
errors = st.sampled_from(
    sorted([*KNOWN, *MISCOUNTED, *SWAPPED, "。。", "张林说好。张林来了。张琳说好。张琳来了。"])
)
text_with_errors = st.lists(st.one_of(anything, errors), max_size=8).map("".join)


@pytest.fixture(scope="module")
def fuzzed():
    app = create_app(Settings(**LIMITS), FakeChecker)
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        yield client


@schema.parametrize()
@from_the_schema
def test_answers_conform_to_the_schema(case):
    # The schema cannot say that `data` is JSON, which fields exclude one another, what a document is, or that
    # a place lies in its text.
    is_loose = any(name in case.path for name in ("v2", "files", "words"))
    excluded = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")] if is_loose else []
    case.call_and_validate(headers={"Authorization": "Bearer key"}, excluded_checks=excluded)


def in_units(text, start, length):
    units = text.encode("utf-16-le")
    assert 0 <= 2 * start <= 2 * (start + length) <= len(units)
    return units[2 * start : 2 * (start + length)].decode("utf-16-le")


@some
@given(text=text_with_errors)
def test_languagetool_matches_lie_inside_any_text(fuzzed, text):
    answer = fuzzed.post("/v2/check", data={"text": text, "language": "auto"})
    assert answer.status_code == 200
    [native] = fuzzed.post("/v1/check", json={"text": text, "rules": ["spelling"]}).json()["results"]
    found = answer.json()["matches"]
    assert len(found) == len(native["edits"]) + len(native["hints"])
    units = text.encode("utf-16-le")
    for match in reversed(found):
        shown = in_units(text, match["offset"], match["length"])
        assert shown
        context = match["context"]
        in_units(context["text"], context["offset"], context["length"])
        value = (match["replacements"] or [{"value": shown}])[0]["value"].encode("utf-16-le")
        units = units[: 2 * match["offset"]] + value + units[2 * (match["offset"] + match["length"]) :]
    assert units.decode("utf-16-le") == native["text"]
    ranges = answer.json()["sentenceRanges"]
    assert [in_units(text, start, end - start) for start, end in ranges] == [
        text[start:stop].strip() for start, stop in sentences(text) if text[start:stop].strip()
    ]


@some
@given(
    pieces=st.lists(
        st.tuples(text_with_errors, st.sampled_from(["text", "markup", "read"]), anything), max_size=6
    )
)
def test_matches_never_touch_markup(fuzzed, pieces):
    annotation = []
    prose = set()
    start = 0
    for content, kind, read in pieces:
        annotation.append({"text": content} if kind == "text" else {"markup": content})
        if kind == "read":
            annotation[-1]["interpretAs"] = read
        length = len(content.encode("utf-16-le")) // 2
        if kind == "text":
            prose.update(range(start, start + length))
        start += length
    data = json.dumps({"annotation": annotation})
    answer = fuzzed.post("/v2/check", data={"data": data, "language": "zh"})
    assert answer.status_code == 200
    for match in answer.json()["matches"]:
        assert prose.issuperset(range(match["offset"], match["offset"] + match["length"]))


@some
@given(
    body=st.one_of(
        st.binary(max_size=300),
        st.dictionaries(st.sampled_from(["text", "data", "language", "level", "x"]), anything).map(
            lambda fields: "&".join(f"{name}={value}" for name, value in fields.items()).encode("utf-8")
        ),
    ),
    kind=st.sampled_from(
        [
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "multipart/form-data",
            "text/plain",
            "",
        ]
    ),
    path=st.sampled_from(["/v2/check", "/check", "/v1/check"]),
)
def test_malformed_bodies_do_not_make_the_server_fail(fuzzed, body, kind, path):
    answer = fuzzed.post(path, content=body, headers={"Content-Type": kind} if kind else {})
    assert answer.status_code in (200, 400, 413, 422)


@some
@given(query=st.binary(max_size=200))
def test_malformed_queries_do_not_make_the_server_fail(fuzzed, query):
    encoded = "".join(f"%{byte:02x}" if byte % 3 else "&=%"[byte % 2] for byte in query)
    assert fuzzed.get(f"/v2/check?language=zh&text={encoded}").status_code in (200, 400)


def test_real_speller_survives_any_text(real_server):
    import httpx

    texts = []

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(text=st.text(max_size=40))
    def collect(text):
        texts.append(text)

    collect()
    texts += ["", "\n", "\x00", "\ud800", "😀" * 30, "𠮷野家", "a" * 400, "\u202e高心", "e\u0301" * 20, "﷽"]
    answer = httpx.post(
        f"{real_server}/v1/check", content=json.dumps({"text": texts}), headers=JSON, timeout=180
    )
    results = answer.raise_for_status().json()["results"]
    assert len(results) == len(texts)
    for text, result in zip(texts, results, strict=True):
        corrected = list(text)
        for edit in reversed(result["edits"]):
            stop = edit["offset"] + edit["length"]
            assert text[edit["offset"] : stop] == edit["source"]
            corrected[edit["offset"] : stop] = edit["target"]
        assert "".join(corrected) == result["text"]
