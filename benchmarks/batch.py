"""Measure `nmspeller batch` and write docs/results/data/batch.json.

    python benchmarks/batch.py [--sentences 2000] [--growth 10000 100000 1000000] [--gigabytes 5]

Sentences are taken from the corpus in the data folder, or made up where there is none. Figures are ratios
within one run on one machine; `python benchmarks/batch_report.py` writes them into docs/scale.md.
"""

import argparse
import json
import lzma
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmspeller.apps.batch import BatchJob, SpellerSettings, run
from nmspeller.apps.batch.local import LocalEngine, cores
from nmspeller.apps.batch.store import Store
from nmspeller.apps.batch.tally import peak_memory
from nmspeller.apps.batch.worker import ShardWorker
from nmspeller.errors import InputError
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.evaluation.speed import processor
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.pipeline import SHIPPED
from nmspeller.text.windows import sentences
from page import figures_path

RESULTS = figures_path("batch")
INSTANT = SpellerSettings(factory="batch:Instant")


class Instant:
    """A speller that takes no time and finds nothing: what is left is the cost of everything else."""

    model_hash = "instant"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def check_many(self, texts: list[str]) -> list[Correction]:
        return [Correction(text, text, ()) for text in texts]


class HereEngine:
    """One worker in this process."""

    def correct(self, order, shards, stop):
        worker = ShardWorker(order)
        for shard in shards:
            yield worker.correct(shard)


class Watched:
    """An engine whose entries are timed, so that the start of its workers can be told from their work."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.times: list[tuple[float, int]] = []

    def correct(self, order, shards, stop):
        for entry in self._engine.correct(order, shards, stop):
            if entry is not None:
                self.times.append((time.perf_counter(), entry["sentences"]))
            yield entry

    def steady_rate(self, workers: int) -> float:
        """Sentences a second once every worker has finished its first shard."""
        began = self.times[workers - 1][0]
        rest = self.times[workers:]
        return sum(count for _, count in rest) / (rest[-1][0] - began)


def corpus_lines() -> Iterator[str]:
    """The lines of the corpus, or synthetic ones without end."""
    try:
        parts = sorted((data_folder() / "corpus").glob("*.txt.xz"))
    except InputError:
        parts = []
    for part in parts:
        with lzma.open(part, "rt", encoding="utf-8") as stream:
            yield from (line.rstrip("\n") for line in stream)
    people, places = ["我", "你", "他", "老师", "妈妈", "朋友"], ["学校", "公园", "上海", "家里"]
    chance = random.Random(7)
    while not parts:
        yield f"{chance.choice(people)}昨天在{chance.choice(places)}看书，一共看了{chance.random():.6f}遍。"


def corpus_sentences() -> Iterator[str]:
    """The sentences of the corpus that a person would call one."""
    for line in corpus_lines():
        for start, stop in sentences(line):
            sentence = line[start:stop].strip()
            if 5 <= len(sentence) <= 100:
                yield sentence


def write_sentences(path: Path, count: int) -> list[str]:
    """A file of sentences, one a line; more than the corpus has are had by numbering them."""
    written: list[str] = []
    with path.open("w", encoding="utf-8") as stream:
        while len(written) < count:
            turn = len(written)
            for sentence in corpus_sentences():
                shown = sentence if turn == 0 else f"{turn}{sentence}"
                stream.write(shown + "\n")
                written.append(shown)
                if len(written) == count:
                    break
    return written


def measure_speed(folder: Path, count: int) -> dict[str, Any]:
    """Sentences a second of each engine at 1 and 2 workers, beside a plain loop over `Speller.check`."""
    from nmspeller import Speller
    from nmspeller.apps.batch.on_ray import RayEngine

    path = folder / "sentences.txt"
    texts = write_sentences(path, count)
    speller = Speller(threads=1)
    speller.check(texts[0])
    began = time.perf_counter()
    loop = [speller.check(text).text for text in texts]
    result: dict[str, Any] = {"sentences": count, "loop": count / (time.perf_counter() - began)}
    shard_bytes = path.stat().st_size // 40
    for name, make in (("local", LocalEngine), ("ray", RayEngine)):
        for workers in (1, 2):
            engine = Watched(make(workers))
            output = folder / f"{name}{workers}"
            job = BatchJob((str(path),), str(output), shard_bytes=shard_bytes)
            summary = run(job, engine, cache=0)
            if (output / path.name).read_text(encoding="utf-8").splitlines() != loop:
                raise SystemExit(f"{name} with {workers} workers does not write what the loop does")
            result[f"{name} {workers}"] = {
                "steady": engine.steady_rate(workers),
                "whole": summary["sentences"] / summary["seconds"],
                "seconds": summary["seconds"],
                "peak_memory": summary["peak_memory"],
            }
    return result


def measure_stages(folder: Path, count: int) -> dict[str, float]:
    """Seconds a stage takes for a thousand sentences, in one worker."""
    from nmspeller.runtime import pipeline
    from nmspeller.runtime.analysis import Analyzer
    from nmspeller.runtime.engine import OnnxEngine

    spent = {"window": 0.0, "infer": 0.0, "keep": 0.0}

    def watch(owner: Any, name: str, stage: str) -> None:
        original = getattr(owner, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return original(*arguments, **options)
            finally:
                spent[stage] += time.perf_counter() - began

        setattr(owner, name, watched)

    read = OnnxEngine.read

    def watched_read(*arguments: Any) -> Iterator[Any]:
        batches = read(*arguments)
        while True:
            began = time.perf_counter()
            batch = next(batches, None)
            spent["infer"] += time.perf_counter() - began
            if batch is None:
                return
            yield batch

    watch(Analyzer, "analyze", "window")
    watch(pipeline, "PartBatch", "window")
    setattr(OnnxEngine, "read", watched_read)  # noqa: B010
    # A shard's own entry cannot tell how long it took to put it into place.
    watch(Store, "finish", "keep")
    path = folder / "stages.txt"
    write_sentences(path, count)
    summary = run(BatchJob((str(path),), str(folder / "stages")), HereEngine(), cache=0)
    stages = summary["worker_seconds"]
    seconds = {
        "read": stages["read"],
        "window": spent["window"],
        "infer": spent["infer"],
        "decide": stages["check"] - spent["window"] - spent["infer"],
        "write": stages["write"] + spent["keep"],
    }
    return {stage: 1000 * value / count for stage, value in seconds.items()}


def measure_growth(folder: Path, counts: list[int]) -> list[dict[str, float]]:
    """How time grows with the number of sentences when the model takes none."""
    grown = []
    for count in counts:
        path = folder / f"growth{count}.txt"
        write_sentences(path, count)
        summary = run(
            BatchJob((str(path),), str(folder / f"growth{count}"), speller=INSTANT), LocalEngine(2), cache=0
        )
        grown.append(
            {
                "sentences": count,
                "bytes": path.stat().st_size,
                "seconds": summary["seconds"],
                "peak_memory": summary["peak_memory"],
                **summary["phase_seconds"],
            }
        )
        path.unlink()
    return grown


def measure_memory(folder: Path, gigabytes: float) -> dict[str, Any]:
    """The peak memory of workers and of the process that leads them, over one large file."""
    path = folder / "large.txt"
    block = "".join(f"{text}\n" for _, text in zip(range(20_000), corpus_sentences(), strict=False)).encode()
    with path.open("wb") as stream:
        while stream.tell() < gigabytes * 1e9:
            stream.write(block)
    summary = run(BatchJob((str(path),), str(folder / "large"), speller=INSTANT), LocalEngine(2))
    result = {
        "bytes": path.stat().st_size,
        "sentences": summary["sentences"],
        "shards": summary["shards"],
        "worker_peak": summary["peak_memory"],
        "leader_peak": peak_memory(),
        **summary["phase_seconds"],
    }
    path.unlink()
    return result


def measure_cache(folder: Path, count: int) -> dict[str, Any]:
    """Which share of real lines and sentences one worker need not check again."""
    result: dict[str, Any] = {"texts": count}
    for name, texts in (("lines", corpus_lines()), ("sentences", corpus_sentences())):
        path = folder / f"{name}.txt"
        with path.open("w", encoding="utf-8") as stream:
            for _, text in zip(range(count), texts, strict=False):
                stream.write(text + "\n")
        for capacity in (50_000, 1_000_000):
            output = str(folder / f"{name}{capacity}")
            summary = run(BatchJob((str(path),), output, speller=INSTANT), HereEngine(), cache=capacity)
            result[f"{name} {capacity}"] = summary["remembered"] / max(summary["texts"], 1)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=2000, help="for the speed of the engines")
    parser.add_argument("--growth", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--gigabytes", type=float, default=5.0, help="size of the file for peak memory")
    parser.add_argument("--cache", type=int, default=300_000, help="real texts for the gain of the cache")
    parser.add_argument("--only", nargs="*", help="speed, stages, growth, memory, cache; otherwise all")
    options = parser.parse_args()
    # Workers that Ray starts find the instant speller by its module's name.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results["machine"] = {
        "cores": cores(),
        "python": platform.python_version(),
        "cpu": processor(),
        "model_bytes": (SHIPPED / "model.onnx").stat().st_size,
    }
    measures = {
        "growth": lambda folder: measure_growth(folder, options.growth),
        "memory": lambda folder: measure_memory(folder, options.gigabytes),
        "cache": lambda folder: measure_cache(folder, options.cache),
        "speed": lambda folder: measure_speed(folder, options.sentences),
        "stages": lambda folder: measure_stages(folder, options.sentences),
    }
    for name, measure in measures.items():
        if not options.only or name in options.only:
            with tempfile.TemporaryDirectory() as folder:
                results[name] = measure(Path(folder))
            print(name, json.dumps(results[name]), file=sys.stderr)
            RESULTS.parent.mkdir(parents=True, exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
