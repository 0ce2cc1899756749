# ruff: noqa: E501  (the report at the end is a template)
"""Damaged documents of every format that `/v1/files` takes: each is corrected or refused, in bounded time.

    python benchmarks/damaged_documents.py --each 50000 [--out docs/results]

runs tests/apps/documents/mutations.py for one format after the other, some documents at a time, so that all
formats have had equally many whenever it is stopped. It writes damaged_documents.md and its figures after
every round, and continues from them when it is started again. Where tests/apps/documents/real_files.py finds
a file of the format, every second document is a damaged copy of it. Bounded by --each.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from page import PAGES, figures_path, read_figures, table, write_figures, write_page

DOCUMENTS = Path(__file__).resolve().parents[1] / "tests" / "apps" / "documents"
sys.path.insert(0, str(DOCUMENTS))

from random_documents import FORMATS  # noqa: E402
from real_files import real_files  # noqa: E402

ROUND = 1_000
SECONDS_A_ROUND = 3_600


def run(format: str, first: int, count: int, file: Path | None) -> dict:
    """The figures of some documents, and the output of those that failed."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(DOCUMENTS / "mutations.py"),
        format,
        str(count),
        str(first),
    ]
    result = subprocess.run(
        [*command, *([str(file)] if file else [])],
        capture_output=True,
        text=True,
        timeout=SECONDS_A_ROUND,
        check=False,
    )
    *failures, last = result.stdout.splitlines() or [""]
    try:
        figures = json.loads(last)
    except ValueError:  # it did not come to its end
        figures = {"corrected": 0, "refused": 0, "failed": count, "slowest_seconds": 0.0}
        failures.append(
            f"{format}, seeds from {first}: exit code {result.returncode}\n{result.stderr[-2000:]}"
        )
    return {**figures, "failures": failures}


def added(before: dict, now: dict) -> dict:
    summed = {name: before.get(name, 0) + now[name] for name in ("corrected", "refused", "failed")}
    slowest = max(before.get("slowest_seconds", 0.0), now["slowest_seconds"])
    failures = [*before.get("failures", []), *now["failures"]]
    return {**before, **summed, "slowest_seconds": slowest, "failures": failures}


def total(figures: dict) -> int:
    return sum(figures.get(name, 0) for name in ("corrected", "refused", "failed"))


def as_markdown(formats: dict[str, dict]) -> str:
    rows = [
        [
            format,
            f"{total(one):,}",
            ", ".join(f"{count:,} of `{name}`" for name, count in one["copies"].items()) or "–",
            f"{one['corrected']:,}",
            f"{one['refused']:,}",
            str(one["failed"]),
            f"{one['slowest_seconds']:.2f}",
        ]
        for format, one in formats.items()
    ]
    header = ["format", "documents", "copies", "corrected", "refused", "failed", "slowest, s"]
    real = sum(1 for one in formats.values() if one["copies"])
    failed = sum(one["failed"] for one in formats.values())
    return f"""\
# Damaged documents

Written by `python benchmarks/damaged_documents.py`. {sum(map(total, formats.values())):,} documents with random damage: bytes changed, removed,
repeated and inserted, in a text, in a whole archive or in its members. Each was read, checked and corrected as an upload is, in a
process with 2 GiB of memory, and had 20 s. It must be corrected, and then be readable again, or be refused with a sentence; anything
else failed: {failed}. The time is that of the processor. Of {real} of the {len(formats)} formats some documents were
damaged copies of real files, which are named: Office files and HTML that LibreOffice wrote, texts of other programs on the machine, and
the texts of this project (`a.md`, `a.json`, `a.po`). All others were random.

{table(header, rows)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=50_000, help="documents of each format, in all")
    parser.add_argument("--out", type=Path, default=PAGES)
    arguments = parser.parse_args()
    formats: dict[str, dict] = {}
    if figures_path("damaged_documents", arguments.out).exists():
        formats = read_figures("damaged_documents", arguments.out)
    for end in range(ROUND, arguments.each + ROUND, ROUND):
        for format in FORMATS:
            figures = formats.setdefault(format, {})
            first = total(figures)
            if first >= end:
                continue
            file = real_files().get(format)
            copies = figures.setdefault("copies", {})
            if file:
                copies[file.name] = copies.get(file.name, 0) + (end - first) // 2
            formats[format] = added(figures, run(format, first, end - first, file))
            print(f"{format}: {total(formats[format])}", flush=True)
        write_figures("damaged_documents", formats, arguments.out)
        write_page("damaged_documents", as_markdown(formats), arguments.out)
    if any(one["failed"] for one in formats.values()):
        sys.exit("some documents failed; the figures have their seeds")


if __name__ == "__main__":
    main()
