# ruff: noqa: E501  (the report at the end is a template)
"""`nmspeller serve` under load, beside the same model in a plain FastAPI handler.

    python benchmarks/serve.py [--out docs/results]

measures requests per second and latency with 1, 8 and 64 clients, then offers four times the capacity for a
minute, then sends short sentences beside a client with long texts and one that offers four times the
capacity, then kills a worker under load. Server, plain handler and load generators share this
machine's cores. Every answer is checked against its own request. Writes serve.md and its figures.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil

from page import PAGES, write_figures, write_page

SENTENCES = (
    "他每天早上都去公园跑步，身体越来越好。",
    "我门在家乡的小河边长大，那里的平果又大又甜。",
    "老师说这个问题很重要，大家要认真思考。",
    "今天天汽真好，我和朋友一起去爬山，大家都很高心。",
    "这家公司己经成立三年了，产品卖到了许多国家。",
)

SECONDS_BETWEEN_SHORT_REQUESTS = 0.2


class Wrong(Exception):
    """An answer that does not belong to its request."""


class Client:
    """One keep-alive connection that sends numbered sentences and checks that each answer is its own."""

    numbers = itertools.count()

    def __init__(self, port: int, program: str = "benchmark") -> None:
        self._port = port
        self._program = program
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, more: str = "") -> int:
        """Send a sentence, and more; the status, after the answer has been checked."""
        number = next(self.numbers)
        text = f"第{number}号：{SENTENCES[number % len(SENTENCES)]}{more}"
        body = json.dumps({"text": text}).encode()
        head = (
            f"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nUser-Agent: {self._program}\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        status, content = await self._exchange(head.encode() + body)
        if status == 200:
            _check(text, json.loads(content)["results"][0])
        return status

    async def _exchange(self, request: bytes) -> tuple[int, bytes]:
        """Send and read. A server may close a connection that was idle; then, as browsers do, try a fresh one."""
        reused = self._streams is not None
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            pipeline, writer = self._streams
            writer.write(request)
            return await _read_answer(pipeline)
        except (OSError, asyncio.IncompleteReadError):
            await self.close()
            if not reused:
                raise
            return await self._exchange(request)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _read_answer(pipeline: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await pipeline.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.split("content-length:")[1].split("\r\n")[0])
    return int(head.split()[1]), await pipeline.readexactly(length)


def _check(text: str, result: dict) -> None:
    corrected = list(text)
    for edit in result["edits"]:
        if text[edit["offset"]] != edit["source"][0]:
            raise Wrong(f"an edit of another text came back for {text}")
        corrected[edit["offset"] : edit["offset"] + edit["length"]] = edit["target"]
    if "".join(corrected) != result["text"]:
        raise Wrong(f"another text came back for {text}")


async def closed_loop(port: int, clients: int, seconds: float) -> dict:
    """Clients that ask again as soon as they are answered."""
    latencies: list[float] = []
    statuses: Counter[str] = Counter()
    end = time.perf_counter() + seconds

    async def work() -> None:
        client = Client(port)
        while (began := time.perf_counter()) < end:
            try:
                status = await client.ask()
            except (OSError, asyncio.IncompleteReadError):
                statuses["lost"] += 1
                await asyncio.sleep(0.05)
                continue
            statuses[str(status)] += 1
            if status == 200:
                latencies.append(time.perf_counter() - began)
            else:
                await asyncio.sleep(0.2)
        await client.close()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    return {
        "clients": clients,
        "requests_per_second": len(latencies) / (time.perf_counter() - began),
        "statuses": dict(statuses),
        **_percentiles(latencies),
    }


async def open_loop(port: int, rate: float, seconds: float, process: psutil.Process) -> dict:
    """Requests at a fixed rate, whether or not earlier ones are answered; then how soon all is calm again."""
    statuses: Counter[str] = Counter()
    latencies: list[float] = []
    idle: list[Client] = []
    memory: list[float] = []

    async def one() -> None:
        client = idle.pop() if idle else Client(port)
        began = time.perf_counter()
        try:
            status = await client.ask()
        except (OSError, asyncio.IncompleteReadError):
            statuses["lost"] += 1
            return
        statuses[str(status)] += 1
        if status == 200:
            latencies.append(time.perf_counter() - began)
        idle.append(client)

    tasks = set()
    began = time.perf_counter()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        tasks.add(asyncio.ensure_future(one()))
        if number % max(1, int(rate)) == 0:
            memory.append(process.memory_info().rss / 2**20)
    load_ended = time.perf_counter()
    recovered = None
    single = Client(port)
    while recovered is None and time.perf_counter() < load_ended + 60:
        asked = time.perf_counter()
        if await single.ask() == 200 and time.perf_counter() - asked < 1:
            recovered = time.perf_counter() - load_ended
        await asyncio.sleep(0.05)
    await asyncio.gather(*tasks)
    quarter = len(memory) // 4
    return {
        "offered_per_second": rate,
        "seconds": load_ended - began,
        "statuses": dict(statuses),
        "answered_per_second": len(latencies) / (load_ended - began),
        "recovery_seconds": recovered,
        "memory_mib_first_quarter": statistics.median(memory[:quarter] or memory),
        "memory_mib_last_quarter": statistics.median(memory[-quarter:]),
        "still_alive": process.is_running(),
        **_percentiles(latencies),
    }


async def short_requests(port: int, seconds: float) -> dict:
    """One client that sends a short sentence now and then, as a person who writes does."""
    client = Client(port, "writer")
    statuses: Counter[str] = Counter()
    latencies: list[float] = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        statuses[str(await client.ask())] += 1
        latencies.append(time.perf_counter() - began)
        await asyncio.sleep(SECONDS_BETWEEN_SHORT_REQUESTS)
    await client.close()
    return {"statuses": dict(statuses), **_percentiles(latencies)}


async def paste_for_ever(port: int, again: bool) -> None:
    """One client that sends 20,000 characters, new ones or the same `again`, as soon as it is answered."""
    client = Client(port, "paste")
    for number in itertools.count():
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if await client.ask(_long_text(0 if again else number)) != 200:
                await asyncio.sleep(1)


def _long_text(number: int) -> str:
    """About 20,000 characters in paragraphs; no two of their sentences are the same, nor those of two texts."""
    sentences = [f"第{1_000 * number + each}次，{SENTENCES[each % len(SENTENCES)]}" for each in range(740)]
    return "".join("\n" * (each % 10 == 0) + sentence for each, sentence in enumerate(sentences))


async def flood_for_ever(port: int, rate: float) -> None:
    """One client that sends sentences at a fixed rate over as many connections as that takes."""
    idle: list[Client] = []
    tasks = set()

    async def one() -> None:
        client = idle.pop() if idle else Client(port, "flood")
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await client.ask()
            idle.append(client)

    began = time.perf_counter()
    for number in itertools.count():
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        task = asyncio.ensure_future(one())
        tasks.add(task)
        task.add_done_callback(tasks.discard)


def neighbours(port: int, rate: float, seconds: float) -> dict:
    """Short requests on an idle server, and beside a client with long texts and one that floods the server."""
    result = {"offered_per_second": rate, "idle": asyncio.run(short_requests(port, seconds))}
    for name, paste in (("new", "--paste"), ("again", "--paste-again")):
        loads = [(paste, str(port)), ("--flood", str(port), "--rate", str(rate))]
        others = [subprocess.Popen([sys.executable, __file__, *load]) for load in loads]
        time.sleep(15)  # until both are at work, and what is sent again has been read once
        try:
            result[name] = asyncio.run(short_requests(port, 4 * seconds))
        finally:
            for other in others:
                other.kill()
                other.wait()
    return result


async def kill_a_worker(port: int, parent: psutil.Process, seconds: float) -> dict:
    """Eight clients ask two workers; one worker is killed."""

    def workers() -> list[int]:
        found = []
        for child in parent.children():
            with contextlib.suppress(psutil.Error):  # it may die, or be dead, while it is looked at
                found += [child.pid] if "spawn_main" in " ".join(child.cmdline()) else []
        return found

    load = asyncio.ensure_future(closed_loop(port, 8, seconds))
    await asyncio.sleep(seconds / 4)
    before = workers()
    os.kill(before[0], signal.SIGKILL)
    killed = time.perf_counter()
    returned = None
    while not load.done():
        await asyncio.sleep(0.1)
        if returned is None and len(workers()) == len(before) and before[0] not in workers():
            returned = time.perf_counter() - killed
    return {**await load, "workers": len(before), "replaced_after_seconds": returned}


def _percentiles(latencies: list[float]) -> dict:
    if len(latencies) < 2:
        return {}
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")
    return {f"p{percent}_ms": 1000 * cuts[percent - 1] for percent in (50, 95, 99)}


def plain_handler(port: int) -> None:
    """The same model as most would serve it: one request, one call."""
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    from nmspeller import Speller

    class Body(BaseModel):
        text: str

    app = FastAPI()
    speller = Speller()

    @app.get("/readyz")
    def ready() -> str:
        return "OK"

    @app.post("/v1/check")
    def check(body: Body) -> dict:
        correction = speller.check(body.text)
        edits = [
            {"offset": e.offset, "length": e.length, "source": e.source, "target": e.target}
            for e in correction.edits
        ]
        return {"results": [{"text": correction.text, "edits": edits}]}

    uvicorn.run(app, port=port, log_level="error")


class Server:
    """A server process, ready when entered and gone when left."""

    def __init__(self, *command: str) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self._command = [sys.executable, *command, str(self.port)]

    def __enter__(self) -> "Server":
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.process = psutil.Process(self._process.pid)
        for _ in range(600):
            try:
                asyncio.run(Client(self.port).ask())
                return self
            except OSError:
                time.sleep(0.1)
        self._process.kill()
        raise SystemExit("the server did not start")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)


def measure(seconds: float, overload_seconds: float) -> dict:
    serve = ("-m", "nmspeller", "serve", "--port")
    result: dict = {"cores": len(os.sched_getaffinity(0)), "seconds": seconds, "serve": [], "plain": []}
    cores_before = _core_seconds()
    with Server(*serve) as ours, Server(__file__, "--plain") as plain:
        for clients in (1, 8, 64):
            # One after the other at each step, so that both meet the machine in the same mood.
            result["serve"].append(asyncio.run(closed_loop(ours.port, clients, seconds)))
            result["plain"].append(asyncio.run(closed_loop(plain.port, clients, seconds)))
            print(result["serve"][-1], result["plain"][-1], sep="\n", flush=True)
    capacity = max(row["requests_per_second"] for row in result["serve"])
    with Server(*serve) as ours:
        asyncio.run(closed_loop(ours.port, 8, min(5, seconds)))
        result["overload"] = asyncio.run(open_loop(ours.port, 4 * capacity, overload_seconds, ours.process))
        print(result["overload"], flush=True)
    with Server(*serve) as ours:
        result["neighbours"] = neighbours(ours.port, 4 * capacity, max(10, seconds))
        print(result["neighbours"], flush=True)
    with Server("-m", "nmspeller", "serve", "--workers", "2", "--port") as ours:
        time.sleep(20)  # until the second worker is there too
        result["kill"] = asyncio.run(kill_a_worker(ours.port, ours.process, max(20, 2 * seconds)))
        print(result["kill"], flush=True)
    cores_after = _core_seconds()
    result["used_by_others"] = 1 - (cores_after["idle and own"] - cores_before["idle and own"]) / (
        cores_after["all"] - cores_before["all"]
    )
    return result


def _core_seconds() -> dict[str, float]:
    """The seconds of all cores so far, and those of them that were idle or used by this benchmark."""
    all_cores = psutil.cpu_times()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(each.ru_utime + each.ru_stime for each in used)
    return {"all": sum(all_cores[:8]), "idle and own": all_cores.idle + all_cores.iowait + own}


def as_markdown(result: dict) -> str:
    rows = [
        f"| {ours['clients']} | {_cell(ours)} | {_cell(plain)} "
        f"| {ours['requests_per_second'] / plain['requests_per_second']:.2f} |"
        for ours, plain in zip(result["serve"], result["plain"], strict=True)
    ]
    overload, kill = result["overload"], result["kill"]
    return f"""\
# `nmspeller serve` under load

Written by `python benchmarks/serve.py`. {result["cores"]} cores, shared by the server, the plain handler and
the load generators; other programs used {result["used_by_others"]:.0%} of them meanwhile. {result["seconds"]:g} s a cell;
sentences of about 25 characters, one a request; latencies as the client sees them. Every answer was checked
against its own request; one that does not fit stops the run. Absolute figures are this machine's on that day;
what counts is the ratio, measured in one run. The server calls the engine from two threads, the plain handler from up to
40.

| clients | serve: requests/s | p50 / p95 / p99 ms | plain: requests/s | p50 / p95 / p99 ms | ratio |
|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}

**Overload.** {overload["offered_per_second"]:.0f} requests/s, four times the capacity, for {overload["seconds"]:.0f} s:
{overload["answered_per_second"]:.1f} answered a second (p50 {overload["p50_ms"]:.0f} ms, p99 {overload["p99_ms"]:.0f} ms).
Answers by status: {_by_status(overload["statuses"])}.
Memory {overload["memory_mib_first_quarter"]:.0f} MiB in the first quarter, {overload["memory_mib_last_quarter"]:.0f} MiB in the last.
A single request was answered within 1 s again {_after(overload["recovery_seconds"])} the load ended.

**Neighbours.** One client sends one sentence every {SECONDS_BETWEEN_SHORT_REQUESTS:g} s, alone, and beside two others: one sends
20,000 characters in a loop, another offers four times the capacity. The long text is a new one each time, or the same but
for its first sentence, as the page sends it after a change: most of it has been read, but all of it is analyzed again.

| beside | p50 / p99 ms | p99 by the p50 alone | p99 by the p99 alone | answers by status |
|---|---:|---:|---:|---|
{_neighbour_rows(result["neighbours"])}

**Kill -9 of a worker**, {kill["workers"]} workers, {kill["clients"]} clients: replaced {_after(kill["replaced_after_seconds"])} it;
{kill["statuses"].get("200", 0)} requests answered, {kill["statuses"].get("lost", 0)} lost with it.
"""


def _neighbour_rows(measured: dict) -> str:
    names = {
        "idle": "nobody",
        "new": "a flood and new long texts",
        "again": "a flood and one long text, again and again",
    }
    alone = measured["idle"]
    return "\n".join(
        f"| {label} | {row['p50_ms']:.0f} / {row['p99_ms']:.0f} | {row['p99_ms'] / alone['p50_ms']:.1f} "
        f"| {row['p99_ms'] / alone['p99_ms']:.1f} | {_by_status(row['statuses'])} |"
        for label, row in ((label, measured[name]) for name, label in names.items())
    )


def _by_status(statuses: dict[str, int]) -> str:
    return ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))


def _after(seconds: float | None) -> str:
    return "not within the run of" if seconds is None else f"{seconds:.1f} s after"


def _cell(row: dict) -> str:
    return (
        f"{row['requests_per_second']:.1f} | {row['p50_ms']:.0f} / {row['p95_ms']:.0f} / {row['p99_ms']:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10, help="of each cell")
    parser.add_argument("--overload-seconds", type=float, default=60)
    parser.add_argument("--out", type=Path, default=PAGES)
    parser.add_argument("--plain", type=int, metavar="PORT", help="only serve the plain handler there")
    parser.add_argument("--paste", type=int, metavar="PORT", help="only paste new long texts there")
    parser.add_argument("--paste-again", type=int, metavar="PORT", help="only send one long text there")
    parser.add_argument("--flood", type=int, metavar="PORT", help="only send --rate requests a second there")
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--neighbours", type=float, metavar="CAPACITY", help="only measure that scene")
    arguments = parser.parse_args()
    if arguments.plain:
        plain_handler(arguments.plain)
        return
    if arguments.paste:
        asyncio.run(paste_for_ever(arguments.paste, again=False))
    if arguments.paste_again:
        asyncio.run(paste_for_ever(arguments.paste_again, again=True))
    if arguments.flood:
        asyncio.run(flood_for_ever(arguments.flood, arguments.rate))
    if arguments.neighbours:
        with Server("-m", "nmspeller", "serve", "--port") as ours:
            print(json.dumps(neighbours(ours.port, 4 * arguments.neighbours, arguments.seconds), indent=1))
        return
    result = measure(arguments.seconds, arguments.overload_seconds)
    write_figures("serve", result, arguments.out)
    write_page("serve", as_markdown(result), arguments.out)


if __name__ == "__main__":
    main()
