"""What eight-bit arithmetic costs: a model as it was trained with the rounding, without it, and rounded anew.

    nmspeller lab import-onnx --out CHECKPOINT
    python benchmarks/quantisation.py CHECKPOINT --texts TRAIN.tsv --pairs TEST.tsv

CHECKPOINT was trained with the rounding of its export. Writes docs/results/quantisation.md and its figures.
Edits are compared at `balanced`, with the thresholds of the shipped model; times are of one thread, taken in
turn, and each is the best of several.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from nmspeller.lab.data.pairs import read_pairs
from nmspeller.lab.data.sentences import read_sentences
from nmspeller.lab.evaluation.metrics import evaluate
from nmspeller.lab.evaluation.speed import processor
from nmspeller.lab.export.export import export_model, record_hash
from nmspeller.lab.export.parity import checkpoint_pipeline, compare
from nmspeller.lab.export.text_parts import answers
from nmspeller.lab.models.checkpoint import load as read_checkpoint
from nmspeller.lab.models.checkpoint import save as save_checkpoint
from nmspeller.lab.models.registry import from_arrays
from nmspeller.runtime.pipeline import SHIPPED, Pipeline
from nmspeller.runtime.policy import Level
from page import PAGES, write_figures, write_page

SENTENCE = "我门去外国可以认识很多的人，就可以借少，对不气，最近我很忙的"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--texts", type=Path, required=True, help="sentences that the integers are fitted to")
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="pairs to compare the edits on")
    parser.add_argument("--limit", type=int, help="use so many pairs of each file only")
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    pairs = [pair for path in options.pairs for pair in read_pairs(path)[: options.limit]]
    with TemporaryDirectory() as scratch:
        rows = measure(options.checkpoint, read_sentences(options.texts), pairs, Path(scratch))
    result = {
        "hash": Pipeline(SHIPPED).model_hash,
        "pairs": [path.name for path in options.pairs],
        "sentences": len(pairs),
        "processor": processor(),
        "rows": rows,
    }
    write_figures("quantisation", result, options.out)
    write_page("quantisation", page(result), options.out)
    print(page(result))


def without_rounding(checkpoint: Path, out: Path) -> Path:
    """The same weights, computed in floats."""
    model, tokens = read_checkpoint(checkpoint)
    weights = {
        name: tensor.numpy()
        for name, tensor in model.state_dict().items()
        if not name.endswith((".scale", ".zero_point"))
    }
    encoder = replace(model.config.encoder, fake_quantised=False)
    save_checkpoint(out, from_arrays(encoder, weights), tokens, card="# In floats\n")
    return out


def measure(rounded: Path, texts: list[str], pairs: list, scratch: Path) -> list[dict]:
    floats = without_rounding(rounded, scratch / "checkpoint")
    exports = {
        "in floats": export_model(floats, scratch / "floats"),
        "rounded anew": export_model(floats, scratch / "afterwards", texts=texts),
        "as trained": export_model(rounded, scratch / "rounded"),
    }
    for folder in exports.values():
        (folder / "policy.json").write_bytes((SHIPPED / "policy.json").read_bytes())
        record_hash(folder)
    readers = {name: Pipeline(folder, threads=1) for name, folder in exports.items()}
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    single = best_times(readers, [SENTENCE], 15)
    bulk = best_times(readers, sources[:128], 2)
    found = {name: corrected(pipeline, sources) for name, pipeline in readers.items()}
    on_pytorch = checkpoint_pipeline(rounded, SHIPPED / "policy.json")
    exact = {"rounded anew": found["in floats"], "as trained": corrected(on_pytorch, sources)}
    return [
        {
            "model": name,
            "engine": readers[name].engine_name,
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
        f"{', '.join(result['pairs'])}, with the weights of the shipped model",
        f"(SHA-256 of model, vocabulary and policy: `{result['hash'][:16]}…`) and its thresholds of",
        f"`balanced`; {result['processor']}, one thread, processor time. The model was trained with",
        "the rounding of its export. In floats: the same weights without it. Rounded anew: what that becomes",
        "where the integers are fitted afterwards. Same edits: the share of sentences with exactly the edits",
        "of the floats where rounded anew, and of the checkpoint on PyTorch as trained.",
        "",
        "| model | engine | MB | same edits % | correction F1 | one sentence, ms | sentences/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        same = "" if row["same_edits"] is None else row["same_edits"]
        lines.append(
            f"| {row['model']} | {row['engine']} | {row['megabytes']} | {same} | {row['correction_f1']} "
            f"| {row['single_ms']} | {row['bulk_per_second']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
