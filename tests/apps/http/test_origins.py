"""Pages of other sites cannot use a server on the reader's machine; add-ons and programs can."""

import pytest

from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError

FORM = {"text": "高心", "language": "zh"}
FOREIGN = "https://example.org"


@pytest.fixture(scope="module")
def own(make_shared_client):
    return make_shared_client(allow_hosts=("spell.example.org",))


def status(client, path="/v2/check", method="POST", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"data": FORM} if method == "POST" else {"params": FORM}
    return client.request(method, path, headers=headers, **body).status_code


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8081", "LOCALHOST:1", "127.0.0.1:8081", "[::1]:8081", "spell.example.org"],
)
def test_a_host_that_is_the_server_itself(own, host):
    assert status(own, host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil", "[::1", "@"],
)
@pytest.mark.parametrize("path", ["/", "/v1/rules", "/v2/check", "/metrics", "/healthz"])
def test_a_name_that_was_led_here_is_refused(own, host, path):
    answer = own.get(path, headers={"host": host})
    assert answer.status_code == 403
    assert "--allow-host" in answer.text


def test_the_host_does_not_matter_where_others_reach_the_server(make_client):
    client = make_client(host="0.0.0.0", insecure=True)
    assert status(client, host="any.example") == 200
    named = make_client(host="0.0.0.0", insecure=True, allow_hosts=("spell.example.org",))
    assert status(named, host="any.example") == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": FOREIGN},
        {"origin": "null"},
        {"origin": "http://localhost:3000", "host": "localhost:8081"},
        {"origin": FOREIGN, "sec_fetch_site": "cross-site"},
        {"origin": "http://localhost:3000", "sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    ],
)
def test_a_foreign_page_is_refused(own, headers):
    assert status(own, **headers) == 403
    assert status(own, method="GET", **headers) == 403
    upload = own.post("/v1/files", files={"file": ("a.txt", b"a")}, headers=_spelled(headers))
    assert upload.status_code == 403


def _spelled(headers):
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost", "host": "localhost"},
        {"origin": "http://127.0.0.1:8081", "host": "127.0.0.1:8081"},
        {"origin": "https://spell.example.org", "host": "127.0.0.1:8081", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none"},
    ],
)
def test_the_own_page_and_programs_may_ask(own, headers):
    assert status(own, **headers) == 200


@pytest.mark.parametrize("site", [{}, {"sec-fetch-site": "cross-site"}])
@pytest.mark.parametrize(
    "origin",
    [
        "chrome-extension://oldceeleldhonbafppcapldpdifcinji",
        "moz-extension://0a1b2c3d-0000-4000-8000-000000000000",
        "safari-web-extension://0A1B2C3D-0000-4000-8000-000000000000",
    ],
)
def test_an_add_on_for_languagetool_may_ask_and_read_the_answer(own, origin, site):
    headers = {"origin": origin, **site}
    for answer in (
        own.get("/v2/languages", headers=headers),
        own.post("/v2/check", data=FORM, headers=headers),
        own.options("/v2/check", headers={**headers, "access-control-request-method": "POST"}),
    ):
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin


def test_a_foreign_page_that_asks_for_permission_is_refused_with_a_sentence(own):
    headers = {"origin": FOREIGN, "access-control-request-method": "POST"}
    answer = own.options("/v1/check", headers=headers)
    assert answer.status_code == 403
    assert "--allow-origin" in answer.text
    assert "access-control-allow-origin" not in answer.headers


def test_an_add_on_speaks_nothing_but_languagetool(own):
    assert status(own, "/metrics", "GET", origin="moz-extension://a") == 403


def test_a_link_may_lead_to_the_page_and_no_further(own):
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert status(own, "/", "GET", **link) == 200
    assert status(own, "/docs", "GET", **link) == 200
    assert status(own, "/v1/rules", "GET", **link) == 403


def test_an_allowed_page_may_ask(make_client):
    client = make_client(allow_origins=(FOREIGN,))
    assert status(client, origin=FOREIGN, sec_fetch_site="cross-site") == 200
    assert status(client, origin="https://example.com", sec_fetch_site="cross-site") == 403


def test_no_redirect_leads_to_a_host_that_the_client_named(make_client):
    client = make_client(host="0.0.0.0", insecure=True)
    for path in ("/docs/", "/v1/check/", "/page/"):
        answer = client.get(path, headers={"host": "evil.example"}, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers


@pytest.mark.parametrize("host", ["http://a.example", "a.example/x", "*", ""])
def test_what_is_no_host_name_is_an_error(host):
    with pytest.raises(InputError, match="--allow-host"):
        Settings(allow_hosts=(host,))


@pytest.mark.parametrize("key", ["abc\n", "abc\r\ndef", "a b", "\tabc", "", "密"])
def test_a_key_that_cannot_be_in_a_header_is_refused_with_one_sentence(key):
    with pytest.raises(InputError, match="line break"):
        Settings(api_key=key)
