"""What eight-bit arithmetic costs and gains, and what a second reading of close calls gives back.

    python benchmarks/quantisation.py CHECKPOINT --texts TRAIN.tsv --pairs TEST.tsv

writes docs/results/quantisation.json and .md. Edits are compared at the level `balanced`; times are of one
thread, taken in turn, and each is the best of several.
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import onnxruntime

from nmspeller.data.pairs import read_pairs
from nmspeller.evaluation.metrics import evaluate
from nmspeller.runtime.arithmetic import Float, Integer
from nmspeller.runtime.benchmark import processor
from nmspeller.runtime.calibration import Arithmetics, integer_arithmetics, listen
from nmspeller.runtime.export import export_model
from nmspeller.runtime.parity import answers, compare
from nmspeller.runtime.quantise import quantise_table
from nmspeller.runtime.reader import Reader
from nmspeller.runtime.weights import TABLE, read_source

SENTENCE = "我门去外国可以认识很多的人，就可以借少，对不气，最近我很忙的"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument(
        "--texts", type=Path, required=True, help="pairs whose sources the integers are fitted to"
    )
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="pairs to compare the edits on")
    parser.add_argument("--limit", type=int, help="use so many pairs of each file only")
    parser.add_argument("--policy", type=Path, help="a policy.json other than the uncalibrated one")
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    options = parser.parse_args()
    pairs = [pair for path in options.pairs for pair in read_pairs(path)[: options.limit]]
    with TemporaryDirectory() as scratch:
        rows = measure(options.checkpoint, read_pairs(options.texts), pairs, Path(scratch), options.policy)
    result = {
        "checkpoint": options.checkpoint.name,
        "pairs": [path.name for path in options.pairs],
        "sentences": len(pairs),
        "onnxruntime": onnxruntime.__version__,
        "processor": processor(),
        "rows": rows,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "quantisation.json").write_text(
        json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    (options.out / "quantisation.md").write_text(page(result), "utf-8")
    print(page(result))


def measure(checkpoint: Path, texts: list, pairs: list, scratch: Path, policy: Path | None) -> list[dict]:
    source = read_source(checkpoint)
    sources = [pair.source for pair in texts]
    quick, close = integer_arithmetics(source, sources)
    plain = {
        name: quantise_table(source.weights[name if name == TABLE else f"{name}.weight"], rows)
        for name, rows in listen(source, sources).items()
    }
    models = {
        "single precision": Arithmetics(Float(source.weights)),
        "one byte": Arithmetics(quick),
        "one byte, two where it is close": Arithmetics(quick, close),
        "two bytes": Arithmetics(close),
        "one byte, rounded without feedback": Arithmetics(Integer(source.weights, plain)),
    }
    readers, sizes = {}, {}
    for number, (name, arithmetics) in enumerate(models.items()):
        folder = export_model(checkpoint, scratch / str(number), arithmetics=arithmetics)
        if policy:
            (folder / "policy.json").write_bytes(policy.read_bytes())
        readers[name] = Reader(folder, threads=1)
        sizes[name] = sum(path.stat().st_size for path in folder.glob("*.onnx"))
    return compare_models(readers, sizes, pairs)


def compare_models(readers: dict[str, Reader], sizes: dict[str, int], pairs: list) -> list[dict]:
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    single = best_times(readers, [SENTENCE], 15)
    bulk = best_times(readers, sources[:128], 2)
    exact = None
    rows = []
    for name, reader in readers.items():
        found = answers(reader, sources, reader.policy)
        exact = exact or found
        scores = evaluate(sources, targets, found)
        rows.append(
            {
                "arithmetic": name,
                "megabytes": round(sizes[name] / 1e6, 1),
                "same_edits": round(compare(exact, found).percent, 2),
                "correction_f1": round(scores.sentence.correction.f1, 2),
                "single_ms": round(1000 * single[name], 2),
                "bulk_per_second": round(min(128, len(sources)) / bulk[name], 1),
            }
        )
        print(rows[-1], flush=True)
    return rows


def best_times(readers: dict[str, Reader], texts: list[str], rounds: int) -> dict[str, float]:
    """Processor time of one thread, so that other work on the machine disturbs little."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(rounds):
        for name, reader in readers.items():
            start = time.process_time()
            answers(reader, texts, reader.policy)
            best[name] = min(best[name], time.process_time() - start)
    return best


def page(result: dict) -> str:
    lines = [
        "# What eight bits cost",
        "",
        f"`benchmarks/quantisation.py` on {result['sentences']:,} sentences of {', '.join(result['pairs'])}",
        f"with the checkpoint `{result['checkpoint']}`; ONNX Runtime {result['onnxruntime']},",
        f"{result['processor']}, one thread, processor time. Same edits: the share of sentences with exactly",
        "the edits of single precision.",
        "",
        "| arithmetic | MB | same edits % | correction F1 | one sentence, ms | sentences/s |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        lines.append(
            f"| {row['arithmetic']} | {row['megabytes']} | {row['same_edits']} | {row['correction_f1']} "
            f"| {row['single_ms']} | {row['bulk_per_second']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
