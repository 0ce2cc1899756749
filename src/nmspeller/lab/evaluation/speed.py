"""Sentences per second: of the model alone, and of the pipeline from strings to edits.

    python -m nmspeller.lab.evaluation.speed FOLDER --device cuda --sentences 200000 --workers 1 8 -o json

The model alone maps ids to the best id of each position, in one process. The pipeline maps strings to edits,
with the rules as by default, in processes that share the device, as `nmspeller batch` does. Time is measured
from when all processes have loaded and warmed up their models until the last one is done.
"""

import argparse
import json
import multiprocessing
import platform
import queue
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any

import numpy as np

from nmspeller.errors import InputError
from nmspeller.lab.data.sentences import read_sentences
from nmspeller.runtime.device import Device, open_engine
from nmspeller.runtime.pipeline import SHIPPED
from nmspeller.runtime.speller import Speller
from nmspeller.text.vocabulary import Vocabulary

# About 30 characters each, most with an error; other sentences are combined from their clauses.
_SENTENCES = (
    "我门去外国可以认识很多的人，还能学到不少新的东西呢。",
    "昨天晚上我和朋友一起去看了一场电影，剧情非常精采动人。",
    "他每天早上六点起床，跑步半个小时以后才去公司上斑。",
    "这个城市的交通越来越拥挤，大家都希望地铁能早点开通。",
    "老师说我们应该多读书，少看电视，这样才能提高写做水平。",
    "因为下大雨，今天的比赛被推迟到下个星期六的下午举行。",
    "妈妈做的菜总是那么好吃，我最喜欢的是她做的红绕肉。",
    "公司决定在年底之前完成这个项目，所以大家都在加班加点。",
    "图书馆里很安静，学生们都在认真的准备即将到来的考式。",
    "如果你有什么问题，可以随时给我打电话或者发电子邮件。",
)
_WARM_UP = 2000  # sentences
_PATIENCE = 3600  # seconds that a process may take for its sentences
_AT_ONCE = 10_000  # sentences per call of the speller, about a shard of `nmspeller batch`


def make_sentences(count: int) -> list[str]:
    """Sentences of 27 to 33 characters, combined from clauses of those above."""
    clauses = [clause for sentence in _SENTENCES for clause in sentence.rstrip("。").split("，")]
    choice = random.Random(0)
    sentences: list[str] = []
    while len(sentences) < count:
        sentence = "，".join(choice.choices(clauses, k=choice.choice((2, 3)))) + "。"
        if 27 <= len(sentence) <= 33:
            sentences.append(sentence)
    return sentences


def sentences_to_read(count: int, file: Path | None) -> list[str]:
    """Sentences of a file, again and again where it has fewer, or synthetic ones.

    One that comes again is numbered: a speller reads what is repeated once.
    """
    times: Counter[str] = Counter()
    different = []
    for sentence in islice(cycle(read_sentences(file)), count) if file else make_sentences(count):
        times[sentence] += 1
        different.append(sentence if times[sentence] == 1 else f"{sentence}{times[sentence]}")
    return different


def measure(
    folder: Path,
    sentences: Sequence[str],
    *,
    device: Device = Device.CPU,
    workers: Sequence[int] = (1,),
    prefilter: bool = False,
) -> dict[str, Any]:
    """Sentences a second of the model and, for each number of workers, of the pipeline."""
    model = measure_model(folder, sentences, device)
    return {
        "device": _name(device),
        "sentences": len(sentences),
        "characters": sum(map(len, sentences)),
        "model": model,
        "prefilter": prefilter,
        "rules": True,
        "pipeline": [measure_pipeline(folder, sentences, device, count, prefilter) for count in workers],
    }


def measure_model(folder: Path, sentences: Sequence[str], device: Device) -> dict[str, Any]:
    """From ids to best ids, in one process."""
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    engine = open_engine(folder, vocabulary, device)
    stops = np.cumsum([len(sentence) for sentence in sentences])
    starts = np.concatenate(([0], stops[:-1]))
    ids = vocabulary.encode("".join(sentences))

    def read(count: int) -> int:
        best = ids.copy()
        # A character that is likelier than all others together is the best itself.
        for scores in engine.scores(ids, starts[:count], stops[:count], 0.5):
            best[scores.positions] = scores.best[:, 0]
        return int((best != ids).sum())

    began = time.perf_counter()
    read(min(_WARM_UP, len(sentences)))
    warm = time.perf_counter()
    changed = read(len(sentences))
    seconds = time.perf_counter() - warm
    return {
        "engine": engine.name,
        "sentences_per_second": round(len(sentences) / seconds, 1),
        "seconds": round(seconds, 3),
        "warm_up_seconds": round(warm - began, 1),
        "changed_characters": changed,
    }


def measure_pipeline(
    folder: Path, sentences: Sequence[str], device: Device, workers: int, prefilter: bool = False
) -> dict[str, Any]:
    """From strings to edits, in so many processes."""
    options = {
        "model": folder,
        "device": device,
        "threads": 1 if workers > 1 else None,
        "prefilter": prefilter,
    }
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(workers + 1)
    done: Any = context.Queue()
    processes = [
        context.Process(target=_work, args=(options, sentences[number::workers], ready, done), daemon=True)
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    try:
        ready.wait()
        began = time.perf_counter()
        edits = sum(done.get(timeout=_PATIENCE) for _ in processes)
        seconds = time.perf_counter() - began
    except (BrokenBarrierError, queue.Empty):
        raise InputError("a process failed; see its error above.") from None
    for process in processes:
        process.join()
    return {
        "workers": workers,
        "sentences_per_second": round(len(sentences) / seconds, 1),
        "seconds": round(seconds, 3),
        "edits": edits,
    }


def _work(options: dict[str, Any], sentences: Sequence[str], ready: Any, done: Any) -> None:
    try:
        speller = Speller(**options)
        speller.check_many(sentences[:_WARM_UP])
    except BaseException:
        ready.abort()
        raise
    ready.wait()
    edits = 0
    for first in range(0, len(sentences), _AT_ONCE):
        answers = speller.check_many(sentences[first : first + _AT_ONCE])
        edits += sum(len(answer.edits) for answer in answers)
    done.put(edits)


def _name(device: Device) -> str:
    if device is Device.CUDA:
        from nmspeller.lab.models.scoring import device_name

        return device_name()
    return processor()


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def in_words(found: dict[str, Any]) -> str:
    """The figures as sentences."""
    lines = [
        f"{found['device']}, {found['model']['engine']}: the model alone does "
        f"{found['model']['sentences_per_second']:,.0f} sentences/s."
    ]
    prefiltered = " with the prefilter" if found["prefilter"] else ""
    for pipeline in found["pipeline"]:
        plural = "" if pipeline["workers"] == 1 else "es"
        lines.append(
            f"From strings to edits{prefiltered}, {pipeline['workers']} process{plural}: "
            f"{pipeline['sentences_per_second']:,.0f} sentences/s."
        )
    return "\n".join(lines)


def main() -> None:
    """The command line without its framework, for machines that have only PyTorch."""
    parser = argparse.ArgumentParser(
        prog="nmspeller.lab.evaluation.speed", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, nargs="?", default=SHIPPED)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--texts", type=Path, help="a file of sentences or pairs instead of synthetic ones")
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--prefilter", action="store_true")
    parser.add_argument("-o", "--output-format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    try:
        found = measure(
            options.folder,
            sentences_to_read(options.sentences, options.texts),
            device=Device.parse(options.device),
            workers=options.workers,
            prefilter=options.prefilter,
        )
    except InputError as error:
        sys.exit(f"nmspeller: {error}")
    print(json.dumps(found) if options.output_format == "json" else in_words(found))


if __name__ == "__main__":
    main()
