"""Write the figures of docs/results/data/batch.json into docs/scale.md, between its markers.

    python benchmarks/batch_report.py [--gpu SUMMARY.json --gpu-device "NVIDIA H200" --gpu-workers 8]

SUMMARY.json is what `nmspeller batch … --device cuda -o json` printed on a machine with a GPU.
"""

import argparse
import json
import textwrap
from pathlib import Path
from typing import Any

from page import figures_path

ROOT = Path(__file__).parents[1]
RESULTS = figures_path("batch")
PAGE = ROOT / "docs" / "scale.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"

# What is assumed and not measured; the page says so beside the numbers.
CORE_HOUR = 0.04
GPU_HOUR = 4.00
COLLECTION = 1_000_000_000
MACHINES = (1, 10, 100)
CORES = 16


def figures(results: dict[str, Any]) -> str:
    """All figures as Markdown."""
    parts = [_machine(results["machine"])]
    for name, show in (
        ("speed", _speed),
        ("stages", _stages),
        ("growth", _growth),
        ("memory", _memory),
        ("cache", _cache),
    ):
        if name in results:
            parts.append(show(results[name]))
    if "gpu" in results:
        parts.append(_gpu(results["gpu"]))
    if "speed" in results and "memory" in results:
        parts.append(_collection(results))
    lines = "\n\n".join(parts).split("\n")
    return "\n".join(
        line if line.startswith("|") else textwrap.fill(line, 120, subsequent_indent=_indent(line))
        for line in lines
    )


def _indent(line: str) -> str:
    return "  " if line.startswith("- ") else ""


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"Measured on {machine['cores']} cores of {machine['cpu']}, Python {machine['python']}, with a "
        f"shipped model of {machine['model_bytes'] / 1e6:,.0f} MB, by `python benchmarks/batch.py`, and "
        "written here by `python benchmarks/batch_report.py`."
    )


def _speed(speed: dict[str, Any]) -> str:
    rows = [f"| plain loop over `Speller.check` | 1 | {speed['loop']:,.1f} | | 1.00 | |"]
    for name in ("local 1", "local 2", "ray 1", "ray 2"):
        run = speed[name]
        engine, workers = name.split()
        rows.append(
            f"| `--engine {engine}` | {workers} | {run['steady']:,.1f} | {run['whole']:,.1f} | "
            f"{run['steady'] / speed['loop']:.2f} | {run['peak_memory'] / 1e6:,.0f} |"
        )
    return "\n".join(
        [
            "### Engines",
            "",
            f"{speed['sentences']:,} sentences of the corpus, one a line, no cache, one thread a worker. "
            "Every engine wrote the same bytes as the loop. The steady rate leaves out the start of the "
            "workers, the whole one has it in.",
            "",
            "| | workers | sentences/s, steady | sentences/s, whole job | ratio to the loop | MB a worker |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )


def _stages(stages: dict[str, float]) -> str:
    total = sum(stages.values())
    rows = [
        f"| {stage} | {1000 * spent:,.1f} | {100 * spent / total:.2f} % |" for stage, spent in stages.items()
    ]
    return "\n".join(
        [
            "### Stages",
            "",
            "One worker, milliseconds for 1,000 sentences. *Window* is all that is done before the model "
            "(protected spans, script, windows, ids), *decide* all that is done after it.",
            "",
            "| stage | ms | share |",
            "|---|---|---|",
            *rows,
        ]
    )


def _growth(growth: list[dict[str, float]]) -> str:
    rows = [
        f"| {run['sentences']:,} | {run['seconds']:.1f} | {1e6 * run['seconds'] / run['sentences']:.1f} | "
        f"{run['plan']:.2f} | {run['correct']:.2f} | {run['assemble']:.2f} | {run['peak_memory'] / 1e6:.0f} |"
        for run in growth
    ]
    return "\n".join(
        [
            "### Growth",
            "",
            "Two local workers with a speller that takes no time: what is left is the cost of everything but "
            "the model, which is linear in the sentences by itself.",
            "",
            "| sentences | s | µs a sentence | plan, s | correct, s | assemble, s | MB a worker |",
            "|---|---|---|---|---|---|---|",
            *rows,
        ]
    )


def _memory(memory: dict[str, Any]) -> str:
    return "\n".join(
        [
            "### Memory",
            "",
            f"One text file of {memory['bytes'] / 1e9:.2f} GB ({memory['sentences']:,} sentences, 20,000 "
            "different ones over and over, "
            f"{memory['shards']:,} shards), two local workers, the speller that takes no time and the "
            f"cache at its default: peak of a worker {memory['worker_peak'] / 1e6:.0f} MB, of the process "
            f"that leads them {memory['leader_peak'] / 1e6:.0f} MB. The model comes on top of a worker's: "
            "see the last column of *Engines*. Planning read "
            f"{memory['bytes'] / 1e6 / memory['plan']:.0f} MB/s, assembling wrote "
            f"{memory['bytes'] / 1e6 / memory['assemble']:.0f} MB/s.",
        ]
    )


def _cache(cache: dict[str, Any]) -> str:
    rows = [
        f"| {kind} | {100 * cache[f'{kind} 50000']:.2f} % | {100 * cache[f'{kind} 1000000']:.2f} % |"
        for kind in ("lines", "sentences")
    ]
    return "\n".join(
        [
            "### Repetitions",
            "",
            f"Of the first {cache['texts']:,} lines and sentences of the corpus (news, essays, fiction, "
            "subtitles, dialogue), so many were answered from a worker's memory and not checked again:",
            "",
            "| row | `--cache 50000` | `--cache 1000000` |",
            "|---|---|---|",
            *rows,
        ]
    )


def _gpu(gpu: dict[str, Any]) -> str:
    job, phases = gpu["summary"], gpu["summary"]["phase_seconds"]
    return "\n".join(
        [
            "### On a GPU",
            "",
            f"`nmspeller batch --device cuda` on one {gpu['device']}: {job['rows']:,} sentences of the "
            "corpus, one a line, with a checkpoint of the shipped model's size that was not rounded, "
            f"{gpu['workers']} workers, in {job['seconds']:.1f} s, "
            f"{job['rows'] / job['seconds']:,.0f} a second. Of these {phases['start']:.1f} s went by before "
            f"the job began and {phases['correct']:.1f} s in correcting, compilation of the model in every "
            "worker included. In the time in which the workers were at a shard, "
            f"{gpu_rate(gpu):,.0f} a second. Peak memory of a worker: "
            f"{job['peak_memory'] / 1e6:,.0f} MB on the host, most of it PyTorch's.",
        ]
    )


def gpu_rate(gpu: dict[str, Any]) -> float:
    """Sentences a second while workers had a shard in hand: read, checked, written."""
    busy: float = sum(gpu["summary"]["worker_seconds"].values()) / gpu["workers"]
    return float(gpu["summary"]["rows"] / busy)


def _collection(results: dict[str, Any]) -> str:
    """What 10⁹ sentences take and cost."""
    core = results["speed"]["local 2"]["steady"] / 2
    memory = results["memory"]
    size = COLLECTION * memory["bytes"] / memory["sentences"]
    alone = size / memory["bytes"] * (memory["plan"] + memory["assemble"]) / 3600
    gpu = results.get("gpu")
    kinds = [(f"{CORES} cores", CORES * core, CORES * CORE_HOUR)]
    if gpu:
        kinds.append(("1 GPU", gpu_rate(gpu), GPU_HOUR))
    rows = []
    for kind, rate, price in kinds:
        for machines in MACHINES:
            hours = COLLECTION / (rate * machines) / 3600
            cost = hours * machines * price
            rows.append(f"| {kind} | {machines} | {_time(hours)} | {_time(hours + alone)} | {cost:,.0f} |")
    # Workers beyond this number finish a shard before the leader can plan and assemble one.
    balance = COLLECTION / (alone * 3600) / core
    said = [
        "### A collection of 10⁹ sentences",
        "",
        "| machine | machines | correcting | with planning and assembling | cost, $ |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "Assumed, not measured:",
        "",
        f"- {size / 1e9:,.0f} GB of text, as many bytes a sentence as in the file above; no repetitions; "
        "storage that every worker reads and writes at the speed of its own work.",
        f"- A core corrects {core:,.1f} sentences/s, half of what two local workers did above, and {CORES} "
        f"cores {CORES} times as many.",
        f"- ${CORE_HOUR:.2f} a core-hour and ${GPU_HOUR:.2f} a GPU-hour.",
    ]
    if gpu:
        said.append(
            f"- A GPU with {gpu['workers']} cores beside it corrects {gpu_rate(gpu):,.0f} sentences/s, as "
            "above while its workers were at a shard."
        )
    said += [
        "",
        f"Planning and assembling run in one process and take {_time(alone)} for the collection, however "
        f"many machines there are. Up to about {balance:,.0f} cores the model is the bottleneck; beyond "
        "that, cut the collection into several jobs, each with its own OUTPUT: they plan and assemble side "
        "by side.",
    ]
    return "\n".join(said)


def _time(hours: float) -> str:
    if hours >= 48:
        return f"{hours / 24:,.1f} days"
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:,.1f} min"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", type=Path, help="what `batch --device cuda -o json` printed")
    parser.add_argument("--gpu-device", default="GPU")
    parser.add_argument("--gpu-workers", type=int, default=8)
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if options.gpu:
        results["gpu"] = {
            "device": options.gpu_device,
            "workers": options.gpu_workers,
            "summary": json.loads(options.gpu.read_text(encoding="utf-8")),
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{figures(results)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
