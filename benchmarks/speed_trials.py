"""What was tried to make the model faster on the processor, each trial beside the others in one run.

    python benchmarks/speed_trials.py CHECKPOINT PREPARED [--rounds 20]

CHECKPOINT is one of quantisation-aware training, PREPARED what `lab data prepare` wrote: its held-out text
is what is read. All trials of a table take turns, so that what else the machine does hits all of them; a
ratio is the median, over the rounds, of the first trial's time by the trial's own. OpenVINO is tried where it
is installed. Writes docs/results/speed_trials.md and its figures, which keep the last run on each kind of
processor.
"""

import argparse
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from nmspeller import Speller
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation.speed import processor
from nmspeller.lab.export.graph import MICROSOFT
from nmspeller.lab.export.weights import read_weights
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.text.vocabulary import Vocabulary
from page import PAGES, figures_path, table, write_figures, write_page
from speed import sentences
from trial_graphs import graphs

Feed = dict[str, NDArray[Any]]
Run = Callable[[Feed], Any]
SHAPES = {"one sentence": (1, 34), "short rows": (7, 34), "long rows": (2, 124)}
WORK = 1536  # tokens of a trial in bulk
SPIN, BLOCK = "session.intra_op.allow_spinning", "session.dynamic_block_base"

VERDICTS = {
    "threads that wait spin": "what was shipped before",
    "threads that wait give their core away": "kept",
    "and operators are divided into small pieces then": "kept",
    "768 tokens, each batch on two spinning threads": "what was shipped before",
    "256 tokens, two batches at once on a thread each": "kept, from 16 batches on",
    "the shipped graph": "kept",
    "MatMulIntegerToFloat": "kept",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    speller, rounds = read_weights(options.checkpoint), options.rounds
    text = sentences(Prepared(options.prepared), 400, 0.1)
    with TemporaryDirectory() as folder:
        files = {}
        for number, (name, model) in enumerate(graphs(speller).items()):
            files[name] = Path(folder) / f"{number}.onnx"
            onnx.save(model, files[name])
        shipped = files["the shipped graph"]
        feeds = {name: feed("".join(text), speller.vocabulary, *shape) for name, shape in SHAPES.items()}
        result = {
            "processor": processor(),
            "load_before": os.getloadavg()[0],
            "onnxruntime": onnxruntime.__version__,
            "rounds": rounds,
            "operators": {name: profile(shipped, each, rounds) for name, each in feeds.items()},
            "waiting": waiting(shipped, feeds["one sentence"], 5 * rounds),
            "bulk": {name: bulk(shipped, feeds[name], rounds // 2) for name in list(SHAPES)[1:]},
            "graphs": graph_trials(files, feeds, rounds),
            "kernels": kernels(5 * rounds),
            "other_edits": other_edits(text),
        }
    path = figures_path("speed_trials", options.out)
    earlier = json.loads(path.read_text("utf-8")) if path.exists() else []
    runs = [*(run for run in earlier if run["processor"] != result["processor"]), result]
    write_figures("speed_trials", runs, options.out)
    write_page("speed_trials", page(runs), options.out)
    print(page(runs))


def feed(text: str, vocabulary: Vocabulary, rows: int, columns: int) -> Feed:
    """Full rows of consecutive text."""
    ids = vocabulary.encode(text)[: rows * (columns - 2)].reshape(rows, columns - 2)
    padded = np.pad(ids, ((0, 0), (1, 1)))
    padded[:, 0], padded[:, -1] = vocabulary.cls, vocabulary.sep
    return {"ids": padded, "lengths": np.full(rows, columns, np.int32)}


def session(model: Path | bytes, threads: int = 1, *, profiled: str = "", **entries: str) -> Any:
    """entries: of the session's configuration; "level" is that of the graph's optimisation."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4
    level = entries.pop("level", "ORT_ENABLE_BASIC")
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    if profiled:
        options.enable_profiling, options.profile_file_prefix = True, profiled
    for key, value in {SPIN: "0", **entries}.items():
        options.add_session_config_entry(key, value)
    source = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def runner(model: Path | bytes, threads: int = 1, **entries: str) -> Run:
    opened = session(model, threads, **entries)
    return lambda inputs: opened.run(None, inputs)


def in_turn(
    trials: Mapping[str, Callable[[], object]], rounds: int, pause: float = 0.0
) -> dict[str, dict[str, float]]:
    """Milliseconds of each trial by the clock and in processor time, and the ratios of the first to it."""
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(rounds + 1):
        for name, work in trials.items():
            time.sleep(pause)
            began = time.perf_counter(), time.process_time()
            work()
            times[name].append((time.perf_counter() - began[0], time.process_time() - began[1]))
    measured = {name: np.array(each[1:]).T for name, each in times.items()}  # the first round warms up
    first = measured[next(iter(trials))]
    found = {}
    for name, each in measured.items():
        ratio, processor_ratio = np.median(first / each, axis=1)
        found[name] = {
            "ms": round(1000 * float(np.median(each[0])), 2),
            "processor_ms": round(1000 * float(np.median(each[1])), 2),
            "ratio": round(float(ratio), 2),
            "processor_ratio": round(float(processor_ratio), 2),
        }
    return found


def profile(model: Path, inputs: Feed, rounds: int) -> dict[str, float]:
    """The percentage of the time that each operator takes on one thread."""
    with TemporaryDirectory() as folder:
        opened = session(model, profiled=f"{folder}/profile")
        for _ in range(rounds):
            opened.run(None, inputs)
        events = json.loads(Path(opened.end_profiling()).read_text("utf-8"))
    nodes: dict[tuple[str, str], list[float]] = defaultdict(list)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            nodes[event["args"]["op_name"], event["name"]].append(event["dur"])
    spent: Counter[str] = Counter()
    for (operator, _name), each in nodes.items():
        spent[operator] += float(np.quantile(each, 0.1))  # type: ignore[assignment]
    return {operator: round(100 * each / sum(spent.values()), 1) for operator, each in spent.most_common(9)}


def waiting(model: Path, inputs: Feed, rounds: int) -> dict[str, dict[str, float]]:
    """One sentence on two threads, by the clock."""
    sessions = {
        "threads that wait spin": runner(model, 2, **{SPIN: "1"}),
        "and operators are divided into small pieces": runner(model, 2, **{SPIN: "1", BLOCK: "4"}),
        "they spin for 50 µs": runner(model, 2, **{SPIN: "1", "session.intra_op.spin_duration_us": "50"}),
        "threads that wait give their core away": runner(model, 2),
        "and operators are divided into small pieces then": runner(model, 2, **{BLOCK: "4"}),
        "and threads are pinned": runner(model, 2, **{"session.intra_op_thread_affinities": "2"}),
        "one thread": runner(model),
    }
    trials = {name: partial(run, inputs) for name, run in sessions.items()}
    return in_turn(trials, rounds, pause=0.02)  # the spinning of the one before ends


def bulk(model: Path, inputs: Feed, rounds: int) -> dict[str, dict[str, Any]]:
    """Much text on two threads, by the clock and in processor time."""
    spinning, two, one = runner(model, 2, **{SPIN: "1"}), runner(model, 2), runner(model)

    def work(run: Run, tokens: int, at_once: int) -> Callable[[], object]:
        columns = inputs["ids"].shape[1]
        rows = tokens // columns
        batch = {name: np.resize(each, (rows, *each.shape[1:])) for name, each in inputs.items()}
        batches = [batch] * round(WORK / (rows * columns))
        return lambda: list(ThreadPoolExecutor(at_once).map(run, batches))

    trials = {
        "768 tokens, each batch on two spinning threads": work(spinning, 768, 1),
        "768 tokens, each batch on two threads": work(two, 768, 1),
        "256 tokens, each batch on two threads": work(two, 256, 1),
        "256 tokens, two batches at once share two threads": work(two, 256, 2),
        "256 tokens, two batches at once on a thread each": work(one, 256, 2),
        "768 tokens, two batches at once on a thread each": work(one, 768, 2),
        "256 tokens, one thread": work(one, 256, 1),
    }
    return in_turn(trials, rounds)


def graph_trials(
    files: dict[str, Path], feeds: dict[str, Feed], rounds: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Each graph on one thread, in processor time."""
    runs = {name: runner(each) for name, each in files.items()}
    runs["QuantizeLinear and DequantizeLinear"] = runner(
        files["QuantizeLinear and DequantizeLinear"], level="ORT_ENABLE_ALL"
    )
    try:
        import openvino
    except ImportError:
        print("OpenVINO is not installed, so it is left out.")
    else:
        settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        compiled = openvino.Core().compile_model(
            files["QuantizeLinear and DequantizeLinear"], "CPU", settings
        )
        runs[f"OpenVINO {openvino.__version__.split('-')[0]}"] = compiled.create_infer_request().infer
    return {
        shape: in_turn({name: partial(run, each) for name, run in runs.items()}, rounds)
        for shape, each in feeds.items()
    }


def kernels(rounds: int) -> dict[str, dict[str, float]]:
    """One product of 256 rows, 768 by 3,072, on one thread, in processor time."""
    rows, width, outputs = 256, 768, 3072
    random = np.random.default_rng(0)
    constants = {
        "weights": random.integers(-127, 128, (width, outputs), np.int8),
        "scale": np.float32(0.02), "scales": np.full(outputs, 0.01, np.float32),
        "zero": np.uint8(128), "zeros": np.zeros(outputs, np.int8),
        "bias": np.zeros(outputs, np.float32), "whole_bias": np.zeros(outputs, np.int32),
        "blocks": random.integers(0, 256, (outputs, width // 32, 32), np.uint8),
        "block_scales": np.full(outputs * width // 32, 0.01, np.float32),
    }  # fmt: skip
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        "MatMulIntegerToFloat": ("input weights scale scales zero  bias", {}),
        "QGemm": ("input scale zero weights scales zeros whole_bias scale zero", {}),
        "QLinearMatMul": ("input scale zero weights scales zeros scale zero", {}),
        "MatMulNBits": (
            "input blocks block_scales",
            {"K": width, "N": outputs, "bits": 8, "block_size": 32, "accuracy_level": 4},
        ),
    }
    trials: dict[str, Callable[[], object]] = {}
    for name, (inputs, attributes) in nodes.items():
        given = inputs.split(" ")
        byte, exact = name != "MatMulNBits", name in ("MatMulIntegerToFloat", "MatMulNBits")
        domain = "" if name == "QLinearMatMul" else MICROSOFT
        node = helper.make_node(name, given, ["output"], domain=domain, **attributes)
        kinds = {True: TensorProto.UINT8, False: TensorProto.FLOAT}
        graph = helper.make_graph(
            [node], "product",
            [helper.make_tensor_value_info("input", kinds[byte], [rows, width])],
            [helper.make_tensor_value_info("output", kinds[not exact], [rows, outputs])],
            [numpy_helper.from_array(np.asarray(constants[each]), each) for each in {*given} & {*constants}],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        run = runner(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())
        value = random.integers(0, 256, (rows, width)).astype(np.uint8 if byte else np.float32)
        trials[name] = partial(run, {"input": value})
    return in_turn(trials, rounds)


def other_edits(text: list[str]) -> dict[str, int]:
    """How many sentences the shipped model gives other edits if batches are made and read as before."""
    now = Speller(threads=2).check_many(text)
    OnnxEngine.batch_tokens, OnnxEngine.many_batches = 768, len(text)
    before = Speller(threads=2).check_many(text)
    different = sum(one != other for one, other in zip(now, before, strict=True))
    return {"sentences": len(text), "edits": sum(len(each.edits) for each in now), "different": different}


def page(runs: list[dict[str, Any]]) -> str:
    head = [
        "# What was tried for speed",
        "",
        "`benchmarks/speed_trials.py`, one run on each processor. The trials of a table take turns; times",
        "are medians, and a ratio is the median, over the rounds, of the first trial's time by the trial's",
        "own: above 1 is faster. Processor time is that of all threads together and depends less on what",
        "else the machine does. There is no run on ARM yet.",
        "",
        "OpenVINO would become an optional engine if it were 1.5 times as fast. Its package requires another",
        "one that reports usage (`openvino-telemetry`), which the engine itself can do without. The scores",
        "of the vocabulary are needed at every position, since no bound on the source character's",
        "probability is known before all of them are computed.",
        "",
    ]
    return "\n".join([*head, *(line for run in runs for line in section(run))])


def section(run: dict[str, Any]) -> list[str]:
    operators = {name for each in run["operators"].values() for name in each}
    ordered = sorted(operators, key=lambda name: -run["operators"]["one sentence"].get(name, 0))
    shapes = [f"{name}, {rows} × {columns}" for name, (rows, columns) in SHAPES.items()]
    edits = run["other_edits"]
    return [
        f"## {run['processor']}",
        "",
        f"Load of the machine before the run: {run['load_before']:.1f}. {run['rounds']} rounds, ONNX Runtime "
        f"{run['onnxruntime']}.",
        "",
        table(
            ["operator, % of the time on one thread", *shapes],
            [[name, *(str(each.get(name, "")) for each in run["operators"].values())] for name in ordered],
        ),
        "",
        *_trials("one sentence on two threads", run["waiting"]),
        *(
            line
            for name, each in run["bulk"].items()
            for line in _trials(f"in bulk on two threads, {name}", each)
        ),
        table(
            ["graph, on one thread, ratio of processor time", *shapes, ""],
            [
                [
                    name,
                    *(f"{each[name]['processor_ratio']:.2f}" for each in run["graphs"].values()),
                    _verdict(name),
                ]
                for name in run["graphs"]["one sentence"]
            ],
        ),
        "",
        *_trials("a product of 256 × 768 by 768 × 3,072 on one thread", run["kernels"]),
        f"With batches as they were before, {edits['different']} of {edits['sentences']} sentences, which "
        f"have {edits['edits']} edits, get other ones.",
        "",
    ]


def _trials(title: str, trials: dict[str, dict[str, float]]) -> list[str]:
    rows = [
        [
            name,
            f"{each['ms']} ms",
            f"{each['ratio']:.2f}",
            f"{each['processor_ms']} ms",
            f"{each['processor_ratio']:.2f}",
            _verdict(name),
        ]
        for name, each in trials.items()
    ]
    return [table([title, "by the clock", "ratio", "processor time", "ratio", ""], rows), ""]


def _verdict(name: str) -> str:
    return VERDICTS.get(name, "not kept")


if __name__ == "__main__":
    main()
