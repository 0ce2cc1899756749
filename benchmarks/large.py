"""How the page takes the largest documents that a server for its own machine takes, in a real browser.

    python benchmarks/large.py

Three cases, each on a fresh page with the shipped model: a Word document of 20,000 characters and 60 MB of
pictures (random bytes, which no compression makes smaller), a plain text file of 1,000,000 characters, and
the same text pasted into the page. For each: seconds until the text, the progress and the first finding are
seen, and the CPU seconds of the page's main thread and of the server's process until then, which say more on
a busy machine; the median CPU seconds and the longest time of the page for a key, of ten that are pressed
while the check goes on (letters in a written text; in a file, which cannot be written in, the arrow key); the
longest time in which the page did not answer; and memory. Then the page is closed: the rest of the text is
not checked. Needs Chromium. Writes docs/results/large.md and its figures.
"""

import argparse
import contextlib
import io
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
from playwright.sync_api import Page, sync_playwright

from long_text import cpu_seconds, made_text, peak_memory
from page import table, write_figures, write_page

TEXT, PICTURES, SHORT_TEXT = 1_000_000, 60_000_000, 20_000
KEYS = 10
LONGEST_WAIT = 120_000  # milliseconds

# Notes when things are first seen, and the longest gap between two ticks of a timer.
WATCH = """
window.seen = {}
window.longest = 0
let last = performance.now()
setInterval(() => {
  const now = performance.now()
  window.longest = Math.max(window.longest, now - last)
  last = now
  const area = document.querySelector("#text")
  if (area?.value.length > 1000) seen.text ??= now
  if (document.querySelector("#underlay mark")) seen.finding ??= now
  if (document.querySelector("#progress")?.checkVisibility()) seen.progress ??= now
}, 20)
addEventListener("keydown", () => {
  const start = performance.now()
  requestAnimationFrame(() => setTimeout(() => (window.strokes ??= []).push(performance.now() - start)))
}, { capture: true })
"""


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    text = made_text(TEXT, "\n")[:TEXT]
    cases: dict[str, Any] = {
        "Word document, 60 MB": ("a.docx", word_document()),
        "text file, 1,000,000 characters": ("a.txt", text.encode()),
        "pasted, 1,000,000 characters": (None, text),
    }
    figures: dict[str, Any] = {"cores": os.cpu_count(), "load": [], "cases": {}}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, (file, content) in cases.items():
            with server() as (address, pid):
                figures["load"].append(round(os.getloadavg()[0], 1))
                context = browser.new_context(viewport={"width": 1280, "height": 800})
                context.add_init_script(WATCH)
                page = context.new_page()
                page.goto(address)
                page.wait_for_function("() => document.documentElement.dataset.theme")
                figures["cases"][name] = measure(page, file, content, pid) | {"server_mb": peak_memory(pid)}
                context.close()
                print(name, figures["cases"][name], flush=True)
    write_figures("large", figures)
    write_page("large", report(figures))


def measure(page: Page, file: str | None, content: Any, server_pid: int) -> dict[str, Any]:
    """Seconds and megabytes of one document on a page."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def page_cpu() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    page.focus("#text")
    page.wait_for_timeout(500)
    page.evaluate("() => { seen = {}; longest = 0 }")
    start, cpu_start, server_start = page.evaluate("performance.now()"), page_cpu(), cpu_seconds(server_pid)
    if file is None:
        page.evaluate(
            """text => {
                const area = document.querySelector("#text")
                area.setRangeText(text, 0, 0, "end")
                area.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }))
            }""",
            content,
        )
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.write_bytes(content)
            page.set_input_files("#file-input", str(path))
            page.wait_for_function("() => seen.text", timeout=LONGEST_WAIT)
    page.wait_for_function("() => seen.finding", timeout=LONGEST_WAIT)
    cpu, server_cpu = page_cpu() - cpu_start, cpu_seconds(server_pid) - server_start
    page.focus("#text")
    key_cpu = []
    for number in range(KEYS):
        before = page_cpu()
        page.keyboard.press("ArrowRight" if file else "a")
        page.wait_for_function("count => window.strokes?.length > count", arg=number, timeout=LONGEST_WAIT)
        key_cpu.append(page_cpu() - before)
        page.wait_for_timeout(300)
    seen, keys, longest, heap = page.evaluate("[seen, strokes, longest, performance.memory.usedJSHeapSize]")
    return {
        "text": seconds(seen["text"] - start),
        "first_finding": seconds(seen["finding"] - start),
        "progress": seconds(seen["progress"] - start) if "progress" in seen else None,
        "page_cpu": round(cpu, 2),
        "server_cpu": round(server_cpu, 2),
        "key_cpu": round(statistics.median(key_cpu), 2),
        "key_longest": seconds(max(keys)),
        "longest_pause": seconds(longest),
        "page_mb": round(heap / 2**20),
    }


def seconds(milliseconds: float) -> float:
    return round(milliseconds / 1000, 2)


def word_document() -> bytes:
    document = docx.Document()
    for line in made_text(SHORT_TEXT, "\n").splitlines():
        document.add_paragraph(line)
    content = io.BytesIO()
    document.save(content)
    chance = random.Random(0)
    with zipfile.ZipFile(content, "a") as archive:
        for number in range(20):
            archive.writestr(f"word/media/picture{number}.png", chance.randbytes(PICTURES // 20))
    return content.getvalue()


@contextlib.contextmanager
def server() -> Iterator[tuple[str, int]]:
    """The address and the process of `nmspeller serve`."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "nmspeller", "serve", "--port", str(port), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/readyz")
                break
            time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(60)


def report(figures: dict[str, Any]) -> str:
    columns = {
        "text": "text seen",
        "progress": "progress",
        "first_finding": "first finding",
        "page_cpu": "page, CPU",
        "server_cpu": "server, CPU",
        "key_cpu": "a key, CPU",
        "key_longest": "a key, longest",
        "longest_pause": "longest pause",
        "page_mb": "page, MB",
        "server_mb": "server, MB",
    }
    rows = [
        [name, *("–" if one[key] is None else str(one[key]) for key in columns)]
        for name, one in figures["cases"].items()
    ]
    load = ", ".join(map(str, figures["load"]))
    return f"""# The largest documents on the page

Written by `python benchmarks/large.py`, which says what is measured. Seconds, on {figures["cores"]} cores;
the load average, which tells how many processes shared them, was {load} at the start of the cases.

{table(["", *columns.values()], rows)}
"""


if __name__ == "__main__":
    main()
