"""How fast the speller is beside what people use now, in one run.

    python benchmarks/speed.py REFERENCE PREPARED [--sentences 10000]

REFERENCE is a Hugging Face BERT-base folder (its weights do not matter for speed). It is used as
pycorrector's MacBertCorrector uses such a model: PyTorch in single precision, sentence by sentence, softmax
over the whole vocabulary, the answer decoded to a string and compared character by character. PREPARED is
what `lab data prepare` wrote: the sentences are of its held-out text. Since the prefilter passes over
those that look right, there are two kinds: with an error made up in one of ten, and, a quarter as many in
bulk, with one in each, which is the worst that it can be asked. Both sides get the same sentences and the
same number of threads, in turn, each in a process of its own: the threads of one would otherwise spin while
the other is at work. Cold start and memory are measured in processes of their own as well. Writes
docs/results/speed.md and its figures, which keep the last run of each engine on each kind of processor: of
one name, some have VNNI and some do not.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from nmspeller import Speller
from nmspeller.errors import InputError
from nmspeller.lab.data.prepared import Prepared, sentence_windows
from nmspeller.lab.evaluation.speed import processor
from nmspeller.runtime import device
from nmspeller.runtime.native.weights import UnsupportedError
from nmspeller.runtime.pipeline import Pipeline
from page import PAGES, figures_path, table, write_figures, write_page

ORDINARY, WORST = "an error in one sentence of ten", "an error in every sentence"
SPELLERS = {"nmspeller": False, "nmspeller, prefilter": True}  # by what the page calls them
ON_ONNX_RUNTIME = "nmspeller on ONNX Runtime"
LEAST, MOST = 25, 35  # characters of a sentence
PROFILES = ("writer", "learner", "input_method")  # whose errors they are
PARAGRAPH = 4  # sentences, in the long text
# Single sentences: so many turns, and in each so many sentences one by one. The first of a turn finds the
# caches full of the other side's weights.
TURNS, SENTENCES_A_TURN = 16, 8
# Seconds between turns, for the other side's threads to come to rest.
PAUSE = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reference", type=Path, help="a Hugging Face BERT-base folder")
    parser.add_argument("prepared", type=Path, help="what `nmspeller lab data prepare` wrote")
    parser.add_argument("--model", type=Path, help="an exported model other than the shipped one")
    parser.add_argument(
        "--before", type=Path, help="an earlier model, measured beside it as its folder is called"
    )
    parser.add_argument("--sentences", type=int, default=10_000, help="how many in bulk")
    parser.add_argument(
        "--reference-sentences", type=int, default=400, help="how many the reference gets in bulk"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--characters", type=int, default=1_000_000, help="length of the long text")
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    prepared = Prepared(options.prepared)
    kinds = {
        ORDINARY: sentences(prepared, options.sentences, 0.1),
        WORST: sentences(prepared, options.sentences // 4, 1.0),
    }
    # No sentence of it comes again: what is repeated is read once.
    novel = paragraphs(sentences(prepared, options.characters // LEAST, 0.1))
    load, first_start = os.getloadavg()[0], cold_start(options)
    result = {
        "threads": options.threads,
        "processor": processor(),
        "hash": Speller(options.model).model_hash,
        "engine": engine_name(options.model),
        "load_before": load,
        "characters": round(statistics.mean(map(len, kinds[ORDINARY])), 1),
        "single": {kind: single(options, some) for kind, some in kinds.items()},
        "bulk": {kind: bulk(options, some) for kind, some in kinds.items()},
        # Before and after the bulk: a shared machine has slow minutes.
        "cold_start_seconds": min(first_start, cold_start(options)),
        "long_text": {
            name: [
                long_text(options, novel[:characters], prefilter)
                for characters in (options.characters // 4, options.characters)
            ]
            for name, prefilter in SPELLERS.items()
        },
    }
    path = figures_path("speed", options.out)
    earlier = json.loads(path.read_text("utf-8")) if path.exists() else []
    runs = [*(run for run in earlier if kind_of(run) != kind_of(result)), result]
    write_figures("speed", runs, options.out)
    write_page("speed", page(runs), options.out)
    print(page(runs))


def kind_of(run: dict[str, Any]) -> tuple[str, str]:
    """The processor, and what the speller ran on."""
    return run["processor"], run.get("engine", "ONNX Runtime")


def sentences(prepared: Prepared, count: int, wrong: float) -> list[str]:
    """Different sentences of held-out text; a share of them, spread evenly, gets an error or two.

    Raises:
        InputError: there are not so many.
    """
    random, vocabulary = np.random.default_rng(0), prepared.vocabulary
    ids = prepared.corpus("heldout")
    starts, stops = sentence_windows(ids, vocabulary, random, limit=MOST, join=0.0, least=LEAST)
    different = {ids[start:stop].tobytes() for start, stop in zip(starts, stops, strict=True)}
    rows = [np.frombuffer(row, ids.dtype).astype(np.int32) for row in sorted(different)]
    ways = [prepared.noise.profile_index(name) for name in PROFILES]
    # Where hardly a character can be misspelt, the draws below would go on for ever.
    easy = (prepared.noise.place[ways] > 0).all(axis=0)
    rows = [row for row in rows if vocabulary.unk not in row and easy[row].sum() >= LEAST // 2]
    if len(rows) < count:
        raise InputError(f"the held-out text has only {len(rows):,} such sentences; ask for fewer.")
    rows = [rows[place] for place in random.permutation(len(rows))[:count]]
    for place in range(0, count, round(1 / wrong)):
        right = rows[place]
        while np.array_equal(rows[place], right):
            profile, expected = random.choice(ways, size=1), np.ones(1)
            rows[place] = prepared.noise.corrupt(right[None], profile, expected, random)[0]
    return ["".join(vocabulary.tokens[token] for token in row) for row in rows]


def reference(folder: Path, threads: int) -> Callable[[str], tuple[str, list[tuple[str, str, int]]]]:
    """One sentence through a transformers BERT as pycorrector does it."""
    import torch
    from transformers import BertForMaskedLM, BertTokenizerFast

    torch.set_num_threads(threads)
    tokenizer = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), do_lower_case=False)
    model = BertForMaskedLM.from_pretrained(folder).eval()

    def correct(text: str) -> tuple[str, list[tuple[str, str, int]]]:
        inputs = tokenizer([text], padding=True, return_tensors="pt")
        with torch.no_grad():
            probabilities = torch.softmax(model(**inputs).logits[0], dim=-1)
        decoded = tokenizer.decode(torch.argmax(probabilities, dim=-1), skip_special_tokens=True)
        answer = decoded.replace(" ", "")[: len(text)]
        return answer, [(a, b, i) for i, (a, b) in enumerate(zip(text, answer, strict=False)) if a != b]

    return correct


class Reference:
    """The reference in a process of its own: it is told sentences and says how long each took."""

    def __init__(self, folder: Path, threads: int) -> None:
        program = (
            "import sys; sys.path.insert(0, sys.argv[1]); import speed; speed.serve_reference(sys.argv[2:])"
        )
        arguments = [str(Path(__file__).parent), str(folder), str(threads)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def __enter__(self) -> "Reference":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def times(self, sentences: list[str]) -> list[float]:
        """Seconds that each of the sentences took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(sentences) + "\n")
        self._process.stdin.flush()
        seconds: list[float] = json.loads(self._process.stdout.readline())
        time.sleep(PAUSE)
        return seconds


def serve_reference(arguments: list[str]) -> None:
    """The other end of `Reference`: a line of sentences in, a line of seconds out."""
    correct = reference(Path(arguments[0]), int(arguments[1]))
    for line in sys.stdin:
        print(json.dumps([timed(correct, sentence) for sentence in json.loads(line)]), flush=True)


def timed(work: Callable[[Any], object], argument: object) -> float:
    start = time.perf_counter()
    work(argument)
    return time.perf_counter() - start


def engine_name(model: Path | None) -> str:
    pipeline = Speller(model).checker.model
    assert isinstance(pipeline, Pipeline)
    return pipeline.engine_name


def spellers(options: argparse.Namespace) -> dict[str, Any]:
    ours = {
        name: Speller(options.model, threads=options.threads, prefilter=prefilter)
        for name, prefilter in SPELLERS.items()
    }
    if "native" in engine_name(options.model):
        with patch.object(device, "NativeEngine", side_effect=UnsupportedError):
            ours[ON_ONNX_RUNTIME] = Speller(options.model, threads=options.threads)
    if options.before:
        ours[f"nmspeller, {options.before.name}"] = Speller(options.before, threads=options.threads)
    return ours


def single(options: argparse.Namespace, sentences: list[str]) -> dict[str, Any]:
    """Median time of one sentence, all sides in turn."""
    ours = spellers(options)
    times: dict[str, list[float]] = {name: [] for name in ("reference", *ours)}
    with Reference(options.reference, options.threads) as theirs:
        for turn in range(TURNS + 1):
            some = sentences[turn * SENTENCES_A_TURN : (turn + 1) * SENTENCES_A_TURN]
            times["reference"] += theirs.times(some)
            for name, speller in ours.items():
                times[name] += [timed(speller.check, sentence) for sentence in some]
                time.sleep(PAUSE)
    # The first turn warms all sides up.
    measured = {name: [1000 * seconds for seconds in each[SENTENCES_A_TURN:]] for name, each in times.items()}
    medians = {name: statistics.median(each) for name, each in measured.items()}
    return {
        name: {
            "ms": round(medians[name], 2),
            "ms_at_95_percent": round(statistics.quantiles(measured[name], n=20)[-1], 2),
            "ratio": round(medians["reference"] / medians[name], 2),
        }
        for name in measured
    }


def bulk(options: argparse.Namespace, sentences: list[str]) -> dict[str, Any]:
    """Sentences a second; the reference's share is read in slices between the spellers'."""
    ours, slices = spellers(options), 4
    few = sentences[: options.reference_sentences]
    seconds = dict.fromkeys(("reference", *ours), 0.0)
    for speller in ours.values():
        speller.check_many(sentences[:64])
    with Reference(options.reference, options.threads) as theirs:
        theirs.times(sentences[:5])
        for part in range(slices):
            for name, speller in ours.items():
                seconds[name] += timed(speller.check_many, sentences[part::slices])
                time.sleep(PAUSE)
            seconds["reference"] += sum(theirs.times(few[part::slices]))
    counts = {name: len(few) if name == "reference" else len(sentences) for name in seconds}
    rates = {name: counts[name] / seconds[name] for name in seconds}
    return {
        name: {
            "sentences": counts[name],
            "per_second": round(rate, 1),
            "ratio": round(rate / rates["reference"], 2),
        }
        for name, rate in rates.items()
    }


def cold_start(options: argparse.Namespace) -> float:
    """Seconds from starting Python to the first answer, the best of five in a row."""
    program = (
        "from nmspeller import Speller\nimport sys\nSpeller(sys.argv[1] or None).check('我门去外国。')\n"
    )
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program, str(options.model or "")], check=True)
        times.append(time.perf_counter() - start)
    return round(min(times), 2)


def paragraphs(sentences: list[str]) -> str:
    return "".join("".join(sentences[n : n + PARAGRAPH]) + "\n" for n in range(0, len(sentences), PARAGRAPH))


def long_text(options: argparse.Namespace, text: str, prefilter: bool) -> dict[str, float]:
    """One text in one call, in a process of its own: seconds and peak memory."""
    program = """
import json, sys, time
from pathlib import Path
from nmspeller import Speller
speller = Speller(sys.argv[1] or None, threads=int(sys.argv[3]), prefilter=bool(sys.argv[4]))
text = Path(sys.argv[2]).read_text("utf-8")
start = time.perf_counter()
speller.check(text)
seconds = time.perf_counter() - start
# ru_maxrss would begin with what the process had that started this one.
status = open("/proc/self/status").read()
peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
print(json.dumps({"characters": len(text), "seconds": round(seconds, 1), "peak_mb": peak}))
"""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "text.txt"
        file.write_text(text, "utf-8")
        arguments = [
            str(options.model or ""),
            str(file),
            str(options.threads),
            "prefilter" if prefilter else "",
        ]
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
        )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def page(runs: list[dict[str, Any]]) -> str:
    head = [
        "# Speed",
        "",
        "`benchmarks/speed.py`, one run on each processor and engine. The reference is BERT-base in",
        "PyTorch, in single precision, used sentence by sentence as pycorrector uses it; both sides read",
        f"the same sentences of {LEAST} to {MOST} characters with as many threads. They are of the held-out",
        "part of the corpus, with synthetic errors in some. The prefilter passes over most that are right,",
        "so that its time depends on how many are; [prefilter.md](prefilter.md) says what it misses.",
        "",
    ]
    return "\n".join([*head, *(line for run in runs for line in section(run))])


def section(run: dict[str, Any]) -> list[str]:
    _, engine = kind_of(run)
    lines = [
        f"## {run['processor']}, {run['threads']} threads: {engine}",
        "",
        f"Load of the machine before the run: {run['load_before']:.1f}. The sentences have "
        f"{run['characters']} characters in the mean. "
        + (f"SHA-256 of the model: `{run['hash'][:16]}…`." if "hash" in run else "An earlier model."),
        "",
    ]
    for kind in (ORDINARY, WORST):
        one, many = run["single"][kind], run["bulk"][kind]
        rows = [
            [
                name,
                f"{one[name]['ms']} ms",
                f"{one[name]['ms_at_95_percent']} ms",
                f"{one[name]['ratio']}×",
                f"{many[name]['per_second']}/s",
                f"{many[name]['sentences']:,}",
                f"{many[name]['ratio']}×",
            ]
            for name in one
        ]
        head = [kind, "one sentence, median", "95 % take at most", "ratio", "in bulk", "sentences", "ratio"]
        lines += [table(head, rows), ""]
    lines += [f"Cold start, from starting Python to the first answer: {run['cold_start_seconds']} s.", ""]
    rows = [
        [name, f"{each['characters']:,}", f"{each['seconds']}", f"{each['peak_mb']} MB"]
        for name, texts in run["long_text"].items()
        for each in texts
    ]
    head = [f"one text of paragraphs, {ORDINARY}", "characters", "seconds", "peak memory"]
    return [*lines, table(head, rows), ""]


if __name__ == "__main__":
    main()
