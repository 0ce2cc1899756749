"""Documents are read in processes that end with their request, whatever is in them."""

import concurrent.futures
import io
import json
import signal
import subprocess
import sys
import time
import zipfile

import httpx
import pytest
from tests.waiting import wait_until

from nmspeller.apps.http.processes import write_frame

RELATIONSHIPS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="a" Target="word/document.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>'
    "</Relationships>"
)
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture(scope="module")
def slow_document():
    """Some kilobytes that take many seconds to read."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", RELATIONSHIPS)
        body = f'<w:document xmlns:w="{WORD}"><w:body>{"<w:p/>" * 990_000}</w:body></w:document>'
        archive.writestr("word/document.xml", body)
    return output.getvalue()


def upload(server, name, content, program="a"):
    files, headers = {"file": (name, content)}, {"User-Agent": program}
    return httpx.post(f"{server.address}/v1/files", files=files, headers=headers, timeout=60, verify=False)


def processes_of(server):
    return server.own_process.children(recursive=True)


def test_slow_documents_stop_neither_checks_nor_the_end_of_the_server(start_fake_server, slow_document):
    server = start_fake_server(time_limit=4)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        uploads = [pool.submit(upload, server, "a.docx", slow_document, program) for program in "abcdef"]
        wait_until(lambda: len(processes_of(server)) == 2)
        check = httpx.post(f"{server.address}/v1/check", json={"text": "高心"}, timeout=60, verify=False)
        assert check.status_code == 200
        assert httpx.get(f"{server.address}/readyz", verify=False).status_code == 200
        assert {one.result().status_code for one in uploads} == {503}
    # The processes that were at work have been killed.
    wait_until(lambda: sum(process.cpu_percent(0.2) > 50 for process in processes_of(server)) == 0)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for program in "abcd":
            pool.submit(upload, server, "a.docx", slow_document, program)
        time.sleep(1)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(4 + 5 + 20) is not None


def test_documents_of_one_client_leave_a_process_for_those_of_others(start_fake_server, slow_document):
    server = start_fake_server(time_limit=10)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        slow = [pool.submit(upload, server, "a.docx", slow_document) for _ in range(20)]
        wait_until(lambda: len(processes_of(server)) == 1)
        assert upload(server, "a.txt", "高心".encode(), "b").status_code == 200
        assert not all(one.done() for one in slow)
        # Those that never had their turn, and those for which there was no place.
        assert {one.result().status_code for one in slow} - {200} == {429, 503}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers on this system")
def test_a_process_whose_server_was_killed_ends_with_the_time_of_its_document():
    program = (
        "import time; from nmspeller.apps.http import uploads\n"
        "uploads._answer = lambda raw, **asked: time.sleep(600)\n"
        "uploads.main()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as process:
        write_frame(process.stdin, json.dumps({"seconds": 0.5}).encode())
        write_frame(process.stdin, b"a document")
        assert process.wait(60) == -signal.SIGALRM


def test_the_process_of_a_client_that_went_away_is_killed(start_fake_server, slow_document):
    server = start_fake_server()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{server.address}/v1/files", files={"file": ("a.docx", slow_document)}, timeout=2, verify=False
        )
    wait_until(lambda: not processes_of(server))
    assert upload(server, "a.txt", "高心".encode()).status_code == 200


@pytest.mark.parametrize("name", ["x.xpp", "x.au3", "x.mm", "x.xml"])
def test_no_language_is_slow_to_read(make_client, name):
    client = make_client(time_limit=30)
    for content in (b"a\n" * 20_000, b"&#x" * 10_000):
        answer = client.post("/v1/files", files={"file": (name, content)})
        assert answer.status_code == 200
