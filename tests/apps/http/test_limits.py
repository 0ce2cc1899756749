"""Limits, keys, health checks, metrics and logs."""

import asyncio
import concurrent.futures
import contextlib
import gzip
import json
import logging
import threading
import time

import pytest
from fakes import FakeChecker
from raw import check_request, connect, read_answer
from starlette.datastructures import Headers
from tests.waiting import wait_until

from nmspeller.apps.http import body_limit
from nmspeller.apps.http.engine_queue import SHORT_TOKENS
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.text_checks import TextChecks
from nmspeller.apps.http.threads import Threads
from nmspeller.errors import InputError

PROTOCOLS = ["/v1/check", "/v2/check"]


def ask(client, path, text, **more):
    if path == "/v1/check":
        return client.post(path, json={"text": text}, **more)
    return client.post(path, data={"text": text, "language": "zh"}, **more)


def sentence(answer):
    return answer.json()["error"] if "json" in answer.headers["content-type"] else answer.text


@contextlib.contextmanager
def engine_at_work(client, checker, path="/v1/check"):
    """One request is read, and reading never ends; another one, of 80 characters, waits for its turn."""
    queue = client.app.state.service.queue
    # Only one lane takes the first one, which is long, and none takes the second one of the same client.
    texts = "甲" * 2 * SHORT_TOKENS, "乙" * 80
    threads = [threading.Thread(target=ask, args=(client, path, text)) for text in texts]
    checker.hold.clear()
    try:
        threads[0].start()
        wait_until(lambda: checker.batches)
        threads[1].start()
        wait_until(lambda: queue.waiting_tokens >= 80)
        yield
    finally:
        checker.hold.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("path", PROTOCOLS)
def test_text_up_to_the_limit_and_no_longer(make_client, path):
    client = make_client(max_text_length=100)
    assert ask(client, path, "字" * 100).status_code == 200
    answer = ask(client, path, "字" * 101)
    assert answer.status_code == 413
    assert "101" in sentence(answer)
    assert "100" in sentence(answer)


def test_many_texts_count_together(make_client):
    client = make_client(max_text_length=100, max_texts=60)
    assert ask(client, "/v1/check", ["字字"] * 51).status_code == 413
    assert ask(client, "/v1/check", [""] * 61).status_code == 413
    assert ask(client, "/v1/check", [""] * 60).status_code == 200


@pytest.mark.parametrize("path", PROTOCOLS)
@pytest.mark.parametrize("announced", [True, False])
def test_body_up_to_the_limit_and_no_larger(make_client, path, announced):
    client = make_client(max_body_bytes=1_000)
    body = b" " * 5_000
    answer = client.post(path, content=body if announced else iter([body[:600], body[600:]]))
    assert answer.status_code == 413
    assert "1000" in sentence(answer)


@pytest.mark.parametrize("path", PROTOCOLS)
def test_full_queue_gives_the_time_to_retry(make_client, path):
    checker = FakeChecker()
    client = make_client(checker, queue_tokens=100)
    with engine_at_work(client, checker, path):
        answer = ask(client, path, "字" * 80)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) >= 1
    assert "busy" in sentence(answer)
    assert ask(client, path, "字" * 80).status_code == 200


def test_readiness_fails_while_the_queue_is_nearly_full(make_client):
    checker = FakeChecker()
    client = make_client(checker, queue_tokens=90)
    assert client.get("/readyz").status_code == 200
    with engine_at_work(client, checker):
        full = client.get("/readyz")
        health = client.get("/healthz")
    assert (full.status_code, full.text) == (503, "The queue is full.")
    assert health.status_code == 200
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("path", PROTOCOLS)
def test_who_has_too_much_waiting_is_refused_before_the_request_is_parsed(make_client, path):
    checker = FakeChecker()
    client = make_client(checker, longest_wait=1e-9)
    with engine_at_work(client, checker, path):
        answer = client.post(path, content=b"{ no JSON")
        rules = client.get("/v1/rules")
    assert answer.status_code == 429
    assert f'requests_total{{path="{path}",status="429"}}' in client.get("/metrics").text
    assert rules.status_code == 200  # which does not need the engine


@pytest.mark.parametrize("path", PROTOCOLS)
def test_time_over(make_client, path):
    answer = ask(make_client(time_limit=0.1), path, "慢慢来")
    assert answer.status_code == 503
    assert "0.1 s" in sentence(answer)


def test_time_limit_includes_the_time_of_the_body(start_fake_server):
    server = start_fake_server({"FAKE_SECONDS": "1.5"}, time_limit=2)
    request = check_request()
    with connect(server) as connection:
        connection.sendall(request[:-5])
        time.sleep(1)
        connection.sendall(request[-5:])
        status, _, body = read_answer(connection)
    assert status == 503
    assert "2 s" in json.loads(body)["error"]


def test_a_body_must_come_with_a_least_rate(monkeypatch):
    monkeypatch.setattr(body_limit, "LONGEST_HEAD_SECONDS", 0.1)
    sent = []

    async def receive():
        await asyncio.sleep(0.06)
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(message):
        sent.append(message)

    limited = body_limit.BodyLimit(None, limit=100, seconds=60)
    scope = {"type": "http", "path": "/v1/check", "headers": [], "method": "POST"}
    asyncio.run(limited(scope, receive, send))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


def test_a_compressed_body_is_named_as_what_it_is(make_client):
    body = gzip.compress(json.dumps({"texts": ["我门"]}).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = make_client().post("/v1/check", content=body, headers=headers)
    assert answer.status_code == 400
    assert sentence(answer) == "The request body is compressed; send it without Content-Encoding."


def test_requests_in_hand_are_limited_of_all_and_of_each_client(make_client):
    client = make_client()
    service = client.app.state.service
    service.in_hand["testclient"] = 256
    for path, form in zip(PROTOCOLS, ('{"error":"', "Error: "), strict=True):
        answer = ask(client, path, "高心")
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.text.startswith(form)
    assert client.get("/readyz").status_code == 200  # another client would be answered
    del service.in_hand["testclient"]
    service.in_hand["others"] = 511
    assert ask(client, "/v1/check", "高心").status_code == 200
    service.in_hand["others"] = 512
    assert ask(client, "/v1/check", "高心").status_code == 503
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_failing_engine_is_reported(make_client):
    client = make_client()
    assert client.get("/healthz").text == "OK"
    answer = ask(client, "/v1/check", "故障")
    assert answer.status_code == 503
    # The next probe succeeds: one bad text does not make a sick engine.
    assert client.get("/healthz").status_code == 200


def test_bug_is_answered_counted_and_readable_as_any_other_error(make_client, monkeypatch, caplog):
    client = make_client(allow_origins=("https://example.org",))
    monkeypatch.setattr("nmspeller.apps.http.native._checked_text", lambda _: 1 / 0)
    answer = ask(client, "/v1/check", "高心", headers={"Origin": "https://example.org"})
    assert answer.status_code == 500
    assert sentence(answer) == "Internal server error; see the server log."
    assert answer.headers["Access-Control-Allow-Origin"] == "https://example.org"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert [record.getMessage() for record in caplog.records].count("request failed") == 1
    figures = client.get("/metrics").text
    assert 'nmspeller_requests_total{path="/v1/check",status="500"} 1.0' in figures


def test_health_fails_with_a_broken_engine(make_client):
    checker = FakeChecker()
    client = make_client(checker)
    checker.model.read = None
    ask(client, "/v1/check", "高心")
    for path in ("/healthz", "/readyz", "/v2/healthcheck"):
        assert client.get(path).status_code == 503
    del checker.model.read
    assert client.get("/healthz").status_code == 200


def test_health_fails_with_a_dead_engine(make_client):
    client = make_client()
    assert ask(client, "/v1/check", "退出").status_code == 503
    assert client.get("/healthz").status_code == 503
    assert ask(client, "/v2/check", "高心").status_code == 503


def test_health_fails_with_a_hanging_engine(make_client):
    checker = FakeChecker()
    client = make_client(checker, time_limit=0.1)
    checker.hold.clear()
    ask(client, "/v1/check", "高心")
    time.sleep(0.2)
    assert client.get("/healthz").status_code == 503
    checker.hold.set()


def test_key_is_asked_for(make_client):
    client = make_client(api_key="s3cret")
    right = {"Authorization": "Bearer s3cret"}
    for path in PROTOCOLS:
        assert ask(client, path, "高心").status_code == 401
        assert ask(client, path, "高心", headers={"Authorization": "Bearer s3cre"}).status_code == 401
        assert ask(client, path, "高心", headers={"Authorization": "Basic s3cret"}).status_code == 401
        assert ask(client, path, "高心", headers={"Authorization": b"Bearer \xff\xfe"}).status_code == 401
        assert ask(client, path, "高心", headers=right).status_code == 200
    assert "Authorization: Bearer" in sentence(ask(client, "/v2/check", "高心"))
    fields = {"text": "高心", "language": "zh"}
    assert client.post("/v2/check", data={**fields, "apiKey": "s3cret"}).status_code == 200
    assert client.get("/check", params={**fields, "apiKey": "s3cret"}).status_code == 200
    assert client.post("/v2/check", data={**fields, "apiKey": "密"}).status_code == 401
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=right).status_code == 200
    for path in ("/", "/healthz", "/readyz", "/v2/healthcheck", "/v2/languages"):
        assert client.get(path).status_code == 200


def test_an_allowed_site_can_read_answers(make_client):
    origin = {"Origin": "https://example.org"}
    client = make_client(allow_origins=("https://example.org",))
    allowed = ask(client, "/v2/check", "高心", headers=origin)
    assert allowed.headers["access-control-allow-origin"] == "https://example.org"
    preflight = client.options("/v1/check", headers={**origin, "Access-Control-Request-Method": "POST"})
    assert preflight.status_code == 200


def test_origin_is_normalised(make_client):
    client = make_client(allow_origins=("https://Example.org/", "moz-extension://3a-f", "http://[::1]:80"))
    answer = client.get("/healthz", headers={"Origin": "https://example.org"})
    assert answer.headers["access-control-allow-origin"] == "https://example.org"


def test_answers_carry_security_headers(client):
    for answer in (client.get("/"), client.get("/nowhere"), ask(client, "/v1/check", "高心")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/../etc/passwd", "/page/../app.py", "/page/%2e%2e/index.html", "/shipped/model.onnx"]
)
def test_no_file_is_found_by_its_path(client, path):
    assert client.get(path).status_code == 404


def test_unknown_address_is_answered_with_a_sentence(client):
    assert client.get("/nowhere").json() == {"error": "Not found."}
    wrong = client.get("/v1/check")
    assert wrong.status_code == 405
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/v2/languages", "/openapi.json"])
def test_head_is_get_without_the_body(client, path):
    got, head = client.get(path), client.head(path)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(got.content))
    assert head.headers["content-type"] == got.headers["content-type"]


def test_head_is_an_error_where_get_is(client):
    assert client.head("/v1/check").status_code == 405
    assert client.head("/nowhere").status_code == 404
    assert client.delete("/healthz").headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])
def test_public_address_needs_a_key_or_the_insecure_option(host):
    with pytest.raises(InputError, match="--api-key"):
        Settings(host=host)
    Settings(host=host, api_key="k")
    Settings(host=host, insecure=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_own_address_needs_nothing(host):
    assert Settings(host=host).is_loopback


@pytest.mark.parametrize(
    "wrong",
    [{"workers": 0}, {"time_limit": 0}, {"time_limit": float("nan")}, {"queue_tokens": 0}, {"api_key": " "}],
)
def test_invalid_settings_are_errors(wrong):
    with pytest.raises(InputError):
        Settings(**wrong)


def test_metrics_contain_no_text(make_client):
    client = make_client()
    ask(client, "/v1/check", "我很高心")
    ask(client, "/v2/check", "我己是")
    client.get("/no/such/place")
    page = client.get("/metrics").text
    assert 'nmspeller_requests_total{path="/v1/check",status="200"} 1.0' in page
    assert 'nmspeller_requests_total{path="/v2/check",status="200"} 1.0' in page
    assert 'nmspeller_requests_total{path="other",status="404"} 1.0' in page
    assert "nmspeller_characters_total 7.0" in page
    assert 'nmspeller_edits_total{reason="similar_sound"} 1.0' in page
    assert "nmspeller_batch_texts_count 3.0" in page  # with the one that woke the engine
    assert "nmspeller_queue_tokens 0.0" in page
    assert "no/such" not in page


@pytest.mark.parametrize("with_text", [False, True])
def test_log_holds_the_text_only_where_asked(make_client, capsys, with_text):
    from nmspeller.apps.http.logs import start_logging

    start_logging(with_text)
    client = make_client(log_text=with_text)
    ask(client, "/v1/check", "高心之极")
    ask(client, "/v2/check", "故障之极")
    client.get("/v2/check", params={"text": "己是之极", "language": "zh"})
    logged = capsys.readouterr().err
    logging.getLogger("nmspeller.serve").handlers.clear()
    assert ("之极" in logged) is with_text
    events = [json.loads(line) for line in logged.splitlines()]
    request = next(event for event in events if event["event"] == "request")
    assert (request["path"], request["status"], request["characters"], request["edits"]) == (
        "/v1/check",
        200,
        4,
        1,
    )
    assert request["milliseconds"] > 0
    failure = next(event["failure"] for event in events if event["event"] == "engine failed")
    assert "RuntimeError" in failure


@pytest.mark.parametrize(
    ("settings", "characters", "body"),
    [
        ({}, 1_000_000, 70_000_000),
        ({"host": "::1"}, 1_000_000, 70_000_000),
        ({"allow_hosts": ("spell.example.org",)}, 100_000, 2_000_000),
        ({"host": "0.0.0.0", "insecure": True}, 100_000, 2_000_000),
        ({"max_text_length": 5, "max_body_bytes": 7}, 5, 7),
    ],
)
def test_a_server_for_this_machine_alone_takes_whole_books(settings, characters, body):
    chosen = Settings(**settings)
    assert (chosen.longest_text, chosen.largest_body) == (characters, body)


def test_time_of_a_request_is_counted_from_its_head():
    """However long that took to come, the whole time limit is left."""
    deadlines = []

    async def app(scope, receive, send):
        deadlines.append(scope["nmspeller.deadline"])

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def request():
        loop = asyncio.get_running_loop()
        before = loop.time()
        await body_limit.BodyLimit(app, limit=100, seconds=30)(
            {"type": "http", "headers": []}, receive, send=None
        )
        assert before + 30 <= deadlines[0] <= loop.time() + 30

    asyncio.run(request())


@pytest.mark.parametrize("stays", [True, False])
def test_one_client_has_one_thread_at_a_time_also_while_one_works_for_nobody(stays):
    threads, free, running, most = Threads(), threading.Event(), [], []

    def work():
        running.append(1)
        most.append(len(running))
        free.wait(30)
        running.pop()
        return "done"

    async def ask(client):
        return await threads.unless_short(client, 1_000, work)

    async def scene():
        many = [asyncio.ensure_future(ask("who sends much")) for _ in range(40)]
        await asyncio.sleep(0.1)
        for request in () if stays else many[:20]:
            request.cancel()
        other = asyncio.ensure_future(ask("who sends one"))
        while len(running) < 2:
            await asyncio.sleep(0.01)
        free.set()
        assert await other == "done"
        assert await many[-1] == "done"
        outcomes = await asyncio.gather(*many, return_exceptions=True)
        assert outcomes.count("done") == (40 if stays else 20)

    asyncio.run(asyncio.wait_for(scene(), 60))
    assert max(most) == 2
    assert len(most) == (41 if stays else 22)  # of those that left, one had begun


@pytest.mark.parametrize("path", PROTOCOLS)
def test_long_texts_of_one_client_do_not_keep_others_from_being_answered(make_client, monkeypatch, path):
    analyzed, free = threading.Semaphore(0), threading.Event()

    class Slow(TextChecks):
        def __init__(self, checker, texts, options):
            if "长" in texts[0]:
                analyzed.release()
                free.wait(30)
            super().__init__(checker, texts, options)

    monkeypatch.setattr("nmspeller.apps.http.service.TextChecks", Slow)
    monkeypatch.setattr(
        "nmspeller.apps.http.service.client_of", lambda scope: Headers(scope=scope)["user-agent"]
    )
    client = make_client()
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        many = [pool.submit(ask, client, path, "长" * 1_000, headers={"User-Agent": "a"}) for _ in range(40)]
        analyzed.acquire()
        answer = ask(client, path, "高心" + "字" * 1_000, headers={"User-Agent": "b"})
        begun = analyzed.acquire(timeout=0.1)
        free.set()
    assert answer.status_code == 200
    assert not begun  # the others of the first client
    assert {one.result().status_code for one in many} <= {200, 429}


def test_the_analysis_of_a_text_that_is_streamed_has_its_time_too(make_client, monkeypatch):
    monkeypatch.setattr("nmspeller.apps.http.service.TextChecks", lambda *_: time.sleep(1))
    answer = make_client(time_limit=0.2).post("/v1/check", json={"text": "字" * 1_000, "stream": True})
    assert answer.status_code == 503
