"""`nmspeller serve` under a long mixed load, on the loopback interface.

    python benchmarks/soak.py --minutes 60 [--out docs/results] [--beside WHAT]

Clients that write, paste, stream, upload documents, go away in the middle and speak LanguageTool's protocol
ask two workers, with pauses, so that two cores can answer all of it. Meanwhile the word list is swapped and
one of the workers is killed now and then; the other lives to the end, so that its memory can be watched.
Every answer is checked against its own request. Writes soak.md and its figures; exits with 1 if an answer
belonged to another request, or a request was lost that no killed worker had. Bounded by --minutes (Ctrl-C
ends it early), and by one request a client at a time.
"""

import argparse
import asyncio
import contextlib
import io
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

from page import PAGES, write_figures, write_page
from serve import SENTENCES, Server
from soak_report import ANSWERED, KILLED, LEFT, LOST, as_markdown, summary

SECONDS_BETWEEN_SWAPS = 20
SECONDS_BETWEEN_KILLS = 120
SECONDS_BETWEEN_SAMPLES = 10
WORDS = ("高心集团", "天汽预报")
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


class Soak:
    """What happened so far; times are in seconds since the beginning."""

    def __init__(self, server: Server, words: Path, minutes: float) -> None:
        self.server = server
        self.words = words
        self.began = time.monotonic()
        self.length = 60 * minutes
        self.requests: list[tuple[str, float, float, str]] = []  # client, beginning, duration, outcome
        self.samples: list[dict] = []
        self.kills: list[float] = []
        self.cut: dict[int, float] = {}  # the clients' ports whose worker was killed, and when
        self.children_of_the_killed: list[psutil.Process] = []
        self.swaps = 0
        self.wrong: list[str] = []
        self._numbers = itertools.count()
        self.survivor = min(self.workers(), key=psutil.Process.create_time)

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    @property
    def is_over(self) -> bool:
        return self.now > self.length

    def stop(self) -> None:
        """End now, as if it had been meant to be that long."""
        self.length = self.now

    def text(self, sentences: int) -> str:
        """A text like no other."""
        number = next(self._numbers)
        chosen = (SENTENCES[(number + more) % len(SENTENCES)] for more in range(sentences))
        return f"第{number}号：" + "".join(chosen)

    def expect(self, fits: bool, text: str) -> None:
        if not fits:
            self.wrong.append(text[:40])

    def workers(self) -> list[psutil.Process]:
        found = []
        for child in self.server.process.children():
            with contextlib.suppress(psutil.Error):  # it may die, or be dead, while it is looked at
                found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
        return found

    def kill_a_worker(self) -> None:
        """Kill a worker that is not the survivor, and note whose connections it had."""
        for worker in self.workers():
            if worker != self.survivor:
                worker.suspend()  # it accepts no more connections while they are listed
                cut = (one.raddr.port for one in worker.net_connections("tcp") if one.raddr)
                self.cut.update(dict.fromkeys(cut, self.now))
                self.children_of_the_killed += worker.children(recursive=True)
                worker.kill()
                self.kills.append(self.now)
                return


def is_own(text: str, edits: list[dict]) -> bool:
    """Whether all edits can belong to this text."""
    return all(text[edit["offset"] : edit["offset"] + edit["length"]] == edit["source"] for edit in edits)


async def write(soak: Soak, client: httpx.AsyncClient) -> str:
    """A person who writes a sentence and looks at what is marked."""
    text = soak.text(1)
    answer = await client.post("/v1/check", json={"text": text})
    if answer.status_code == 200:
        [result] = answer.json()["results"]
        number = text.partition("号")[0]
        soak.expect(is_own(text, result["edits"]) and result["text"].startswith(number), text)
    return _outcome(answer)


async def paste(soak: Soak, client: httpx.AsyncClient) -> str:
    """A long text, of which the answer comes in parts."""
    text = soak.text(30)
    async with client.stream("POST", "/v1/check", json={"text": text, "stream": True}) as answer:
        lines = [json.loads(line) async for line in answer.aiter_lines()]
    if answer.status_code == 200:
        parts = [line for line in lines if "start" in line]
        soak.expect(all(is_own(text, line.get("edits", ())) for line in parts), text)
        if "done" not in lines[-1]:
            return "ended with an error"
    return _outcome(answer)


async def languagetool(soak: Soak, client: httpx.AsyncClient) -> str:
    text = soak.text(3)
    answer = await client.post("/v2/check", data={"text": text, "language": "zh-CN"})
    if answer.status_code == 200:
        contexts = (match["context"]["text"].strip(".…") for match in answer.json()["matches"])
        soak.expect(all(context in text for context in contexts), text)
    return _outcome(answer)


async def upload(soak: Soak, client: httpx.AsyncClient) -> str:
    text = soak.text(5)
    name, content = random.choice(
        [("a.md", f"# {text}\n".encode()), ("a.py", f"# {text}\n".encode()), ("a.docx", word_document(text))]
    )
    answer = await client.post("/v1/files", files={"file": (name, content)})
    if answer.status_code == 200:
        source, edits = answer.json()["source"], answer.json()["edits"]
        soak.expect(text in source and is_own(source, edits), text)
    return _outcome(answer)


async def hostile_upload(soak: Soak, client: httpx.AsyncClient) -> str:
    """A Word document of many elements, of which the last is not closed; it must be refused."""
    answer = await client.post("/v1/files", files={"file": ("a.docx", HOSTILE)})
    return ANSWERED if answer.status_code == 422 else str(answer.status_code)


async def go_away(soak: Soak, client: httpx.AsyncClient) -> str:
    """A client that does not wait for the answer."""
    try:
        return _outcome(await client.post("/v1/check", json={"text": soak.text(40)}, timeout=0.3))
    except httpx.TimeoutException:
        return LEFT


def _outcome(answer: httpx.Response) -> str:
    return ANSWERED if answer.status_code == 200 else str(answer.status_code)


def word_document(body: str) -> bytes:
    relationship = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types"/>')
        archive.writestr(
            "_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{relationship}</Relationships>'
        )
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{W}"><w:p><w:r><w:t>{body}</w:t></w:r></w:p></w:document>',
        )
    return output.getvalue()


HOSTILE = word_document("<w:p/>" * 200_000 + "<w:p>")


class Kind(NamedTuple):
    """Some clients that ask in one way, with a pause of some seconds after each answer."""

    ask: Callable[[Soak, httpx.AsyncClient], Awaitable[str]]
    clients: int
    pause: float


KINDS = (
    Kind(write, 3, 2),
    Kind(languagetool, 1, 4),
    Kind(upload, 1, 6),
    Kind(paste, 1, 20),
    Kind(go_away, 1, 20),
    Kind(hostile_upload, 1, 20),
)
# The server closes a connection that is idle for a minute. Clients use none that has been idle for long: else
# the two could meet, and a request be lost for which nobody is to blame.
LIMITS = httpx.Limits(keepalive_expiry=30)
REQUESTS_A_CONNECTION = 5


async def ask_until_over(soak: Soak, kind: Kind, number: int) -> None:
    name = kind.ask.__name__
    headers = {"User-Agent": f"{name} {number}"}
    port, opened = 0, 0.0  # of this end of the connection, and when

    async def note_port(event: str, details: dict) -> None:
        nonlocal port, opened
        if event == "connection.connect_tcp.complete":
            port, opened = details["return_value"].get_extra_info("client_addr")[1], soak.now

    async def note_request(request: httpx.Request) -> None:
        request.extensions["trace"] = note_port

    address = f"http://127.0.0.1:{soak.server.port}"
    options = {"base_url": address, "headers": headers, "timeout": 90, "limits": LIMITS}
    await asyncio.sleep(kind.pause * random.random())
    while not soak.is_over:
        # Now and then a new connection: else all would stay with the worker that is never killed.
        async with httpx.AsyncClient(**options, event_hooks={"request": [note_request]}) as client:
            for _ in range(REQUESTS_A_CONNECTION):
                if soak.is_over:
                    break
                began = soak.now
                try:
                    outcome = await kind.ask(soak, client)
                except httpx.TransportError as error:
                    outcome = KILLED if opened <= soak.cut.get(port, -1) else LOST
                    print(f"{began:.1f} to {soak.now:.1f} s: {name}: {error!r}, {outcome}", flush=True)
                soak.requests.append((name, began, soak.now - began, outcome))
                await asyncio.sleep(kind.pause)


async def disturb(soak: Soak) -> None:
    """Swap the word list, and kill a worker now and then."""
    next_kill = float(SECONDS_BETWEEN_KILLS)
    while not soak.is_over:
        await asyncio.sleep(SECONDS_BETWEEN_SWAPS * random.uniform(0.5, 1.5))
        soak.words.write_text(WORDS[soak.swaps % 2], encoding="utf-8")
        soak.swaps += 1
        soak.server.process.send_signal(signal.SIGHUP)
        if soak.now > next_kill:
            await asyncio.sleep(2 * random.random())  # also in the middle of reloading
            soak.kill_a_worker()
            next_kill = soak.now + SECONDS_BETWEEN_KILLS


async def watch(soak: Soak) -> None:
    """Memory, and how fast a health check is answered."""
    address = f"http://127.0.0.1:{soak.server.port}/healthz"
    while not soak.is_over:
        await asyncio.sleep(SECONDS_BETWEEN_SAMPLES)
        began = soak.now
        try:
            async with httpx.AsyncClient(timeout=30) as client:
                status = str((await client.get(address)).status_code)
        except httpx.TransportError as error:
            # A health check may meet a killed worker, too; which one it met is not known.
            status = KILLED if any(began - 1 < kill < soak.now for kill in soak.kills) else repr(error)
        taken = soak.now - began
        survivor, all_ = await asyncio.to_thread(_memories, soak)
        soak.samples.append(
            {
                "second": round(began, 1),
                "survivor_mib": round(survivor, 1),
                "all_mib": round(all_, 1),
                "health": status,
                "health_ms": round(1000 * taken, 1),
            }
        )


def _memories(soak: Soak) -> tuple[float, float]:
    """MiB of the worker that lives, and of all processes."""
    parent = soak.server.process
    return _memory(soak.survivor), sum(map(_memory, [parent, *parent.children(recursive=True)]))


def _memory(process: psutil.Process) -> float:
    """MiB of a process; of memory that it shares, only its share."""
    with contextlib.suppress(psutil.Error):
        return process.memory_full_info().pss / 2**20
    return 0.0


async def run(soak: Soak) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, soak.stop)
    clients = [ask_until_over(soak, kind, number) for kind in KINDS for number in range(kind.clients)]
    await asyncio.gather(*clients, disturb(soak), watch(soak))


def soaked(minutes: float) -> dict:
    """The figures of a run."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder, "words.txt")
        words.write_text(WORDS[0], encoding="utf-8")
        command = ("-m", "nmspeller", "serve", "--workers", "2", "--words", str(words), "--port")
        with Server(*command) as server:
            time.sleep(10)  # until the second worker is there too
            load_before = os.getloadavg()[0]
            soak = Soak(server, words, minutes)
            asyncio.run(run(soak))
            survived = soak.survivor.is_running()
            server.process.send_signal(signal.SIGTERM)
            exit_code = server.process.wait(90)
    return {
        "minutes": round(soak.length / 60, 1),
        "cores": len(os.sched_getaffinity(0)),
        "load_average": [load_before, os.getloadavg()[0]],
        "pauses": {kind.ask.__name__: [kind.clients, kind.pause] for kind in KINDS},
        "kills": len(soak.kills),
        "swaps": soak.swaps,
        "wrong": soak.wrong,
        "exit_code": exit_code,
        "survivor_survived": survived,
        "processes_left": sum(child.is_running() for child in soak.children_of_the_killed),
        **summary(soak.requests, soak.samples),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=Path, default=PAGES)
    parser.add_argument("--beside", default="", help="what else runs on the machine meanwhile, for the page")
    arguments = parser.parse_args()
    figures = {**soaked(arguments.minutes), "beside": arguments.beside}
    write_figures("soak", figures, arguments.out)
    write_page("soak", as_markdown(figures), arguments.out)
    if figures["wrong"] or any(LOST in counts for counts in figures["outcomes"].values()):
        sys.exit("some answers belong to other requests, or were lost for no known reason")


if __name__ == "__main__":
    main()
