"""What eight-bit arithmetic costs: a model in floats, rounded, and trained to live with the rounding.

    python benchmarks/quantisation.py FLOATS ROUNDED --texts TRAIN.tsv --pairs TEST.tsv

FLOATS and ROUNDED are two checkpoints, the second trained rounded from the first, each with a policy.json
that was calibrated for it. Writes docs/results/quantisation.md and its figures. Edits are compared at
`balanced`; times are of one thread, taken in turn, and each is the best of several.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from nmspeller.lab.data.pairs import read_pairs
from nmspeller.lab.data.sentences import read_sentences
from nmspeller.lab.evaluation.metrics import evaluate
from nmspeller.lab.evaluation.speed import processor
from nmspeller.lab.export.export import export_model, record_hash
from nmspeller.lab.export.parity import checkpoint_pipeline, compare
from nmspeller.lab.export.text_parts import answers
from nmspeller.runtime.onnx_runtime import onnxruntime
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level
from page import PAGES, write_figures, write_page

SENTENCE = "我门去外国可以认识很多的人，就可以借少，对不气，最近我很忙的"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("floats", type=Path)
    parser.add_argument("rounded", type=Path)
    parser.add_argument("--texts", type=Path, required=True, help="sentences that the integers are fitted to")
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="pairs to compare the edits on")
    parser.add_argument("--limit", type=int, help="use so many pairs of each file only")
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    pairs = [pair for path in options.pairs for pair in read_pairs(path)[: options.limit]]
    with TemporaryDirectory() as scratch:
        rows = measure(options.floats, options.rounded, read_sentences(options.texts), pairs, Path(scratch))
    result = {
        "accepted_by": "confidence",
        "floats": options.floats.name,
        "rounded": options.rounded.name,
        "pairs": [path.name for path in options.pairs],
        "sentences": len(pairs),
        "onnxruntime": onnxruntime.__version__,
        "processor": processor(),
        "rows": rows,
    }
    write_figures("quantisation", result, options.out)
    write_page("quantisation", page(result), options.out)
    print(page(result))


def measure(floats: Path, rounded: Path, texts: list[str], pairs: list, scratch: Path) -> list[dict]:
    exports = {
        "floats": export_model(floats, scratch / "floats"),
        "floats, rounded afterwards": export_model(floats, scratch / "afterwards", texts=texts),
        "trained rounded": export_model(rounded, scratch / "rounded"),
    }
    for (name, folder), checkpoint in zip(exports.items(), (floats, floats, rounded), strict=True):
        (folder / "policy.json").write_bytes((checkpoint / "policy.json").read_bytes())
        record_hash(folder)
        print(name, flush=True)
    readers = {name: Pipeline(folder, threads=1) for name, folder in exports.items()}
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    single = best_times(readers, [SENTENCE], 15)
    bulk = best_times(readers, sources[:128], 2)
    found = {name: corrected(pipeline, sources) for name, pipeline in readers.items()}
    on_pytorch = checkpoint_pipeline(rounded, rounded / "policy.json")
    exact = {
        "floats, rounded afterwards": found["floats"],
        "trained rounded": corrected(on_pytorch, sources),
    }
    return [
        {
            "model": name,
            "megabytes": round((folder / "model.onnx").stat().st_size / 1e6, 1),
            "same_edits": round(compare(exact[name], found[name]).percent, 2) if name in exact else None,
            "correction_f1": round(evaluate(sources, targets, found[name]).sentence.correction.f1, 2),
            "single_ms": round(1000 * single[name], 2),
            "bulk_per_second": round(min(128, len(sources)) / bulk[name], 1),
        }
        for name, folder in exports.items()
    ]


def corrected(pipeline: Pipeline, texts: list[str]) -> list[str]:
    """The texts at the default level."""
    return answers(pipeline, texts, pipeline.policy.levels[Level.BALANCED], pipeline.policy.passes)


def best_times(readers: dict[str, Pipeline], texts: list[str], rounds: int) -> dict[str, float]:
    """Processor time of one thread, so that other work on the machine disturbs little."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(rounds):
        for name, pipeline in readers.items():
            start = time.process_time()
            corrected(pipeline, texts)
            best[name] = min(best[name], time.process_time() - start)
    return best


def page(result: dict) -> str:
    lines = [
        "# What eight bits cost",
        "",
        f"`benchmarks/quantisation.py` on {result['sentences']:,} sentences of",
        f"{', '.join(result['pairs'])} with the checkpoints `{result['floats']}`",
        f"and, trained on from it, `{result['rounded']}`, each with its own thresholds of",
        f"`balanced`, by {result['accepted_by']}; ONNX Runtime {result['onnxruntime']},",
        f"{result['processor']}, one thread, processor time. Same edits: the share of",
        "sentences with exactly the edits of the checkpoint before its export; for the rounded one, of the",
        "checkpoint on PyTorch.",
        "",
        "| model | MB | same edits % | correction F1 | one sentence, ms | sentences/s |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        same = "" if row["same_edits"] is None else row["same_edits"]
        lines.append(
            f"| {row['model']} | {row['megabytes']} | {same} | {row['correction_f1']} "
            f"| {row['single_ms']} | {row['bulk_per_second']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
