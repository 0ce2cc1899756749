"""`python -m nmspeller.evaluation.training_page docs/results`: what training cost, from its logs."""

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from nmspeller.evaluation import training_attempts as attempts
from nmspeller.evaluation.plots import draw_losses

PRETRAININGS = {
    "pretraining": "pretrain",
    "second pretraining, in eight bits": "pretrain2",
    "six layers taught by twelve": "pupil",
    "half the inner units taught by the whole": "narrow",
    "2,560 inner units and a relu taught by the whole": "relu",
    "third pretraining, from the shipped model": "pretrain3",
}
# Those that have other sizes than BERT-base, and a teacher.
PUPILS = ("pupil", "narrow", "relu")
STAGES = {
    "the first shipped model, stage 1": "shipped_stage0",
    "the first shipped model, stage 2": "shipped_stage1",
    "the first shipped model, stage 3": "shipped_stage2",
}
LATER = {
    "a relu for the gelu, taught layer by layer": "whole_relu",
    "the same, rounded and taught on": "whole_relu_rounded",
    "B, on errors as frequent as real ones": "writers",
    "F, from the mean with B, rounded and taught on": "writers_rounded",
    "the glance, from nothing": "glance",
    "the same, taught by the shipped model": "glance_taught",
}
LOGS = PRETRAININGS | STAGES | LATER


def write_training_page(folder: str | Path) -> Path:
    """Write `training.md` and one loss curve a log beside the logs; returns the page."""
    folder = Path(folder)
    peak = json.loads((folder / "bf16_peak.json").read_text(encoding="utf-8"))
    rows, curves, shares = [], [], []
    for title, name in LOGS.items():
        log = folder / f"{name}.jsonl"
        entries = read_log(log)
        last = entries[-1]
        rows.append(
            f"| {title} | {last['step']:,} | {last['tokens'] / 1e6:,.1f} M | {last['seconds']:,.0f} "
            f"| {entries[0]['seconds']:,.0f} | {steady_speed(entries) / 1e3:,.0f} k "
            f"| {entries[0]['loss']:.4f} | {last['loss']:.4f} |"
        )
        if name in PRETRAININGS.values() and name not in PUPILS:
            share = 100 * steady_speed(entries) * peak["operations_per_token"]
            shares.append(f"{share / peak['peak_operations_per_second']:.0f} % ({title})")
        draw_losses({title: log}, folder / f"{name}_loss.png")
        curves.append(f"![Loss of {title}]({name}_loss.png)")
    header = (
        "| run | steps | tokens | seconds | of which to the first log line (compilation) "
        "| tokens/s after that | first loss | last loss |\n|---|---|---|---|---|---|---|---|"
    )
    parts = [
        "# What training cost",
        "Written by `python -m nmspeller.evaluation.training_page docs/results` from the logs beside it. One"
        " H200; `continue`, `eight_bits`, `pupil`, `narrow` and `glance` in `configs/pretrain` and `shipped`,"
        " `relu`, `rounded` and `glance` in `configs/recipes` say how. Tokens include the [PAD] that fills a"
        " packed step; tokens/s is the median over the log's lines of the difference to the line before. The"
        " losses of different streams cannot be compared.",
        "\n".join([header, *rows]),
        f"A large bf16 product reaches {peak['peak_operations_per_second'] / 1e12:,.0f} TFLOP/s on an"
        f" {peak['device']} (`nmspeller bench train`). The operations of pretraining are so many percent of"
        f" that: {', '.join(shares)}.",
        "`nmspeller bench train` on random ids: rows of 128 with Muon as in pretraining, and sentences of"
        " their own length, packed, with AdamW as in fine-tuning.",
        _bench(json.loads((folder / "bench_train.json").read_text(encoding="utf-8"))),
        "Pretraining on held-out text, in percent (see `training/probes.py`): masked characters guessed,"
        " confusable replacements restored, sound characters changed. The second round starts from the first"
        " shipped model, rounded to eight bits.",
        _probes(folder),
        "Correction F1 after each stage, by the best character at every place, without thresholds. Stage 3"
        " was also tried, in three variants, straight after stage 1. The dev pairs chose, split from the"
        " training data; at 0.5 %: where the threshold lies so high that it changes that share of held-out"
        " sentences.",
        _stages(folder),
        "From the second encoder `configs/recipes/fast.yaml` was run with seeds 0, 1 and 2"
        " (docs/results/experiments/encoder-2), and the weights of models were averaged (`nmspeller"
        " average`). Each was exported to eight bits and calibrated in the same way: correction F1 on the dev"
        " pairs of SIGHAN, Wang and ECSpell, where at most 0.5 % (balanced) and 3 % (thorough) of the clean"
        " sentences are changed, one reading.",
        attempts.averages(json.loads((folder / "averages.json").read_text(encoding="utf-8"))),
        "From the last of these, the model shipped before, the same was done twice more: four trainings that"
        " differ in their pairs and in their rate, mixes of their weights with those of the start, and the"
        " mix with the largest sum of both F1 on the dev pairs is the next start. Measured on the GPU before"
        " rounding to eight bits, one reading; balanced where at most"
        " 0.45 %, thorough where at most 3 % of the clean sentences are changed. Recipes and all mixes are"
        " in mixes.json. `…` are equal shares of the four; seconds are of trainings side by side.",
        *attempts.mixes(json.loads((folder / "mixes.json").read_text(encoding="utf-8"))),
        *attempts.rounding(json.loads((folder / "rounding.json").read_text(encoding="utf-8"))),
        *attempts.narrowing(json.loads((folder / "narrowing.json").read_text(encoding="utf-8"))),
        *attempts.third(json.loads((folder / "third.json").read_text(encoding="utf-8"))),
        *attempts.whole_relu(json.loads((folder / "whole_relu.json").read_text(encoding="utf-8"))),
        *attempts.writers(json.loads((folder / "writers.json").read_text(encoding="utf-8"))),
        *attempts.glances(json.loads((folder / "glances.json").read_text(encoding="utf-8"))),
        *curves,
    ]
    page = folder / "training.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def read_log(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def steady_speed(entries: Sequence[dict[str, Any]]) -> float:
    """Tokens a second from one log line to the next, in the median; compilation comes before the first."""
    speeds = [
        (after["tokens"] - before["tokens"]) / (after["seconds"] - before["seconds"])
        for before, after in pairwise(entries)
    ]
    return float(median(speeds))


def _probes(folder: Path) -> str:
    names = ("masked", "restored", "disturbed")
    rows = []
    for title, name in PRETRAININGS.items():
        result = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        rows += [
            f"| {title} | {when} | " + " | ".join(f"{result[when][figure]:.2f}" for figure in names) + " |"
            for when in ("before", "after")
        ]
    return "\n".join([f"| | | {' | '.join(names)} |", "|---|---|---|---|---|", *rows])


def _bench(found: Sequence[dict[str, Any]]) -> str:
    rows = [
        f"| {'packed sentences' if each['packed'] else 'rows of 128'} | {each['precision']} "
        f"| {each['tokens_per_second'] / 1e3:,.0f} k | {100 * each['share_of_peak']:.0f} % |"
        for each in found
    ]
    return "\n".join(["| | precision | tokens/s | share of the bf16 peak |", "|---|---|---|---|", *rows])


def _stages(folder: Path) -> str:
    measured = {
        title: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for title, name in STAGES.items()
    }
    variants = json.loads((folder / "shipped_variants.json").read_text(encoding="utf-8"))
    measured |= {f"stage 3 after stage 1, variant {name[-1]}": found for name, found in variants.items()}
    sets = list(next(iter(measured.values()))["test"])
    dev = ("sighan@argmax", "sighan@at0.5%")
    rows = [
        f"| {title} | "
        + " | ".join([found["dev"][key].split("F")[1] for key in dev])
        + " | "
        + " | ".join(f"{found['test'][name]['sentence']['correction']['f1']:.2f}" for name in sets)
        + " |"
        for title, found in measured.items()
    ]
    head = ["", "dev, SIGHAN", "the same at 0.5 %", *sets]
    return attempts.table(head, rows)


if __name__ == "__main__":
    print(write_training_page(sys.argv[1]))
