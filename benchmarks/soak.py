# ruff: noqa: E501  (the report at the end is a template)
"""`nmspeller serve` under a long mixed load, on the loopback interface.

    python benchmarks/soak.py --minutes 60 --output docs/results/soak

Clients that write, paste, stream, upload documents, go away in the middle and speak LanguageTool's protocol ask
two workers. Meanwhile a worker is killed now and then and the word list is swapped. Every answer is checked
against its own request. Writes OUTPUT.json and, from it, OUTPUT.md: latency and memory over time, and every
request that was lost or got another's answer. Bounded by --minutes, and by one request a client at a time.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import httpx
import psutil

from serve import SENTENCES, Server

SECONDS_BETWEEN_KILLS = 60
SECONDS_BETWEEN_SWAPS = 15
SECONDS_BETWEEN_SAMPLES = 10
WORDS = ("高心集团", "天汽预报")


class Soak:
    """What happened so far."""

    def __init__(self, server: Server, words: Path, minutes: float) -> None:
        self.server = server
        self.words = words
        self.end = time.monotonic() + 60 * minutes
        self.began = time.monotonic()
        self.outcomes: dict[str, Counter[str]] = {}
        self.latencies: dict[str, list[float]] = {}
        self.wrong: list[str] = []
        self.samples: list[dict] = []
        self.kills = self.swaps = 0
        self.numbers = itertools.count()

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.end

    def text(self, sentences: int) -> str:
        """A text like no other."""
        number = next(self.numbers)
        chosen = (SENTENCES[(number + more) % len(SENTENCES)] for more in range(sentences))
        return f"第{number}号：" + "".join(chosen)

    def note(self, kind: str, outcome: str, seconds: float) -> None:
        self.outcomes.setdefault(kind, Counter())[outcome] += 1
        if outcome == "200":
            self.latencies.setdefault(kind, []).append(seconds)


def mismatch(text: str, edits: list[dict]) -> bool:
    """Whether an edit belongs to another text."""
    return any(text[edit["offset"] : edit["offset"] + edit["length"]] != edit["source"] for edit in edits)


async def write(soak: Soak, client: httpx.AsyncClient) -> int:
    text = soak.text(1)
    answer = await client.post("/v1/check", json={"text": text})
    if answer.status_code == 200:
        [result] = answer.json()["results"]
        number = text.partition("号")[0]
        if mismatch(text, result["edits"]) or not result["text"].startswith(number):
            soak.wrong.append(text)
    return answer.status_code


async def paste(soak: Soak, client: httpx.AsyncClient) -> int:
    text = soak.text(200)
    async with client.stream("POST", "/v1/check", json={"text": text, "stream": True}) as answer:
        lines = [json.loads(line) async for line in answer.aiter_lines()]
    if answer.status_code == 200:
        if any(mismatch(text, line.get("edits", ())) for line in lines if "start" in line):
            soak.wrong.append(text[:20])
        if "done" not in lines[-1]:
            return 503  # the stream ended with an error, which says so
    return answer.status_code


async def languagetool(soak: Soak, client: httpx.AsyncClient) -> int:
    text = soak.text(3)
    answer = await client.post("/v2/check", data={"text": text, "language": "zh-CN"})
    if answer.status_code == 200 and any(
        match["context"]["text"].strip(".…") not in text for match in answer.json()["matches"]
    ):
        soak.wrong.append(text)
    return answer.status_code


async def upload(soak: Soak, client: httpx.AsyncClient) -> int:
    text = soak.text(5)
    name, content = random.choice([("a.md", f"# {text}\n".encode()), ("a.py", f"# {text}\n".encode())])
    answer = await client.post("/v1/files", files={"file": (name, content)})
    if answer.status_code == 200:
        result = answer.json()
        if result["source"].encode() != content or mismatch(result["source"], result["edits"]):
            soak.wrong.append(text)
    return answer.status_code


async def hostile_upload(soak: Soak, client: httpx.AsyncClient) -> int:
    """An archive of nothing but empty paragraphs; refused, or given up by its client."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("word/document.xml", "<p/>" * 500_000)
        file.seek(0)
        answer = await client.post("/v1/files", files={"file": ("a.docx", file.read())})
    return 200 if answer.status_code == 422 else answer.status_code


async def go_away(soak: Soak, client: httpx.AsyncClient) -> int:
    with contextlib.suppress(httpx.TimeoutException):
        await client.post("/v1/check", json={"text": soak.text(100)}, timeout=0.3)
    return 200


CLIENTS = {write: 4, paste: 1, languagetool: 1, upload: 1, hostile_upload: 1, go_away: 1}


async def ask_for_ever(soak: Soak, ask, number: int) -> None:
    headers = {"User-Agent": f"{ask.__name__} {number}"}
    address = f"http://127.0.0.1:{soak.server.port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=90, verify=False) as client:
        while not soak.is_over:
            began = time.monotonic()
            try:
                outcome = str(await ask(soak, client))
            except httpx.TransportError:
                outcome = "lost"
            soak.note(ask.__name__, outcome, time.monotonic() - began)
            await asyncio.sleep(0.2 if outcome == "200" else 1.0)


async def disturb(soak: Soak) -> None:
    """Kill a worker now and then, and swap the word list."""
    next_kill = time.monotonic() + SECONDS_BETWEEN_KILLS
    while not soak.is_over:
        await asyncio.sleep(SECONDS_BETWEEN_SWAPS)
        soak.words.write_text(WORDS[soak.swaps % 2], encoding="utf-8")
        soak.swaps += 1
        soak.server.process.send_signal(signal.SIGHUP)
        workers = _workers(soak.server.process)
        if time.monotonic() > next_kill and len(workers) > 1:
            os.kill(workers[0].pid, signal.SIGKILL)
            soak.kills += 1
            next_kill = time.monotonic() + SECONDS_BETWEEN_KILLS


def _workers(parent: psutil.Process) -> list[psutil.Process]:
    found = []
    for child in parent.children():
        with contextlib.suppress(psutil.Error):  # it may die, or be dead, while it is looked at
            found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


async def sample(soak: Soak) -> None:
    """Memory of all processes, and how fast a health check is answered."""
    address = f"http://127.0.0.1:{soak.server.port}/healthz"
    while not soak.is_over:
        await asyncio.sleep(SECONDS_BETWEEN_SAMPLES)
        began = time.monotonic()
        try:
            async with httpx.AsyncClient(timeout=30, verify=False) as client:
                status = str((await client.get(address)).status_code)
        except httpx.TransportError:
            status = "lost"
        memory = 0.0
        for process in [soak.server.process, *soak.server.process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                memory += process.memory_info().rss / 2**20
        taken = time.monotonic() - began
        soak.samples.append(
            {"minute": (began - soak.began) / 60, "mib": memory, "health": status, "health_ms": 1000 * taken}
        )


async def run(soak: Soak) -> None:
    clients = [ask_for_ever(soak, ask, number) for ask, count in CLIENTS.items() for number in range(count)]
    await asyncio.gather(*clients, disturb(soak), sample(soak))


def as_dict(soak: Soak, minutes: float, exit_code: int | None) -> dict:
    return {
        "minutes": minutes,
        "cores": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg()[0],
        "kills": soak.kills,
        "swaps": soak.swaps,
        "wrong": soak.wrong,
        "exit_code": exit_code,
        "outcomes": {kind: dict(counts) for kind, counts in soak.outcomes.items()},
        "p50_ms": {kind: 1000 * statistics.median(all_) for kind, all_ in soak.latencies.items()},
        "p99_ms": {
            kind: 1000 * statistics.quantiles([*all_, *all_], n=100)[98]
            for kind, all_ in soak.latencies.items()
        },
        "samples": soak.samples,
    }


def as_markdown(result: dict) -> str:
    rows = [
        f"| {kind} | {counts.get('200', 0)} | {result['p50_ms'].get(kind, 0):.0f} | {result['p99_ms'].get(kind, 0):.0f} "
        f"| {', '.join(f'{status}: {count}' for status, count in sorted(counts.items()) if status not in ('200', 'lost')) or '–'} "
        f"| {counts.get('lost', 0)} |"
        for kind, counts in sorted(result["outcomes"].items())
    ]
    step = max(1, len(result["samples"]) // 12)
    memory = [
        f"| {one['minute']:.1f} | {one['mib']:.0f} | {one['health']} | {one['health_ms']:.0f} |"
        for one in result["samples"][::step]
    ]
    return f"""\
# A soak of `nmspeller serve`

Written by `python benchmarks/soak.py`. {result["minutes"]:g} minutes, two workers, {result["cores"]} cores shared with the load
generator (load average {result["load_average"]:.1f} at the end). {result["kills"]} workers were killed with SIGKILL, and the word list
was swapped {result["swaps"]} times. Answers that belong to another request: {len(result["wrong"])}. The server ended with code {result["exit_code"]}.
Lost are requests whose connection broke; those in the hands of a killed worker do.

| client | answered | p50 ms | p99 ms | other answers | lost |
|---|---:|---:|---:|---|---:|
{chr(10).join(rows)}

| minute | memory of all processes, MiB | health check | ms |
|---:|---:|---:|---:|
{chr(10).join(memory)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--output", type=Path, default=Path("docs/results/soak"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder, "words.txt")
        words.write_text(WORDS[0], encoding="utf-8")
        command = ("-m", "nmspeller", "serve", "--workers", "2", "--words", str(words), "--port")
        with Server(*command) as server:
            time.sleep(10)  # until the second worker is there too
            soak = Soak(server, words, arguments.minutes)
            asyncio.run(run(soak))
            server.process.send_signal(signal.SIGTERM)
            exit_code = server.process.wait(90)
    result = as_dict(soak, arguments.minutes, exit_code)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    arguments.output.with_suffix(".md").write_text(as_markdown(result))
    if soak.wrong:
        sys.exit("some answers belong to other requests")


if __name__ == "__main__":
    main()
