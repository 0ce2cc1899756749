"""`python -m nmspeller.evaluation.training_page docs/results`: what training cost, from its logs."""

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from nmspeller.evaluation.plots import draw_losses

PRETRAININGS = {
    "pretraining": "pretrain",
    "second pretraining, in eight bits": "pretrain2",
    "six layers taught by twelve": "pupil",
    "half the inner units taught by the whole": "narrow",
    "2,560 inner units and a relu taught by the whole": "relu",
}
# Those that have other sizes than BERT-base, and a teacher.
PUPILS = ("pupil", "narrow", "relu")
STAGES = {
    "the first shipped model, stage 1": "shipped_stage0",
    "the first shipped model, stage 2": "shipped_stage1",
    "the first shipped model, stage 3": "shipped_stage2",
}
LOGS = PRETRAININGS | STAGES


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
        " H200; `continue`, `eight_bits`, `pupil` and `narrow` in `configs/pretrain` and"
        " `configs/recipes/shipped.yaml` say how. Tokens include the [PAD] that fills a packed step; tokens/s"
        " is the median over the log's lines of the difference to the line before. The losses of different"
        " streams cannot be compared.",
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
        _averages(json.loads((folder / "averages.json").read_text(encoding="utf-8"))),
        "From the last of these, the model shipped before, the same was done twice more: four trainings that"
        " differ in their pairs and in their rate, mixes of their weights with those of the start, and the"
        " mix with the largest sum of both F1 on the dev pairs is the next start. Measured on the GPU before"
        " rounding to eight bits, one reading; balanced where at most"
        " 0.45 %, thorough where at most 3 % of the clean sentences are changed. Recipes and all mixes are"
        " in mixes.json. `…` are equal shares of the four; seconds are of trainings side by side.",
        *_mixes(json.loads((folder / "mixes.json").read_text(encoding="utf-8"))),
        *_rounding(json.loads((folder / "rounding.json").read_text(encoding="utf-8"))),
        *_narrowing(json.loads((folder / "narrowing.json").read_text(encoding="utf-8"))),
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


def _averages(models: Sequence[dict[str, Any]]) -> str:
    levels = ("balanced", "thorough")
    rows = [
        f"| {model['model']} | "
        + " | ".join(
            f"{figures['f1']:.2f} | {figures['changed_of_the_clean_sentences']:.2f}"
            for figures in (model["calibration"]["levels"][level] for level in levels)
        )
        + " |"
        for model in models
    ]
    head = ["", "F1, balanced", "clean changed", "F1, thorough", "clean changed"]
    return _table(head, rows)


def _bench(found: Sequence[dict[str, Any]]) -> str:
    rows = [
        f"| {'packed sentences' if each['packed'] else 'rows of 128'} | {each['precision']} "
        f"| {each['tokens_per_second'] / 1e3:,.0f} k | {100 * each['share_of_peak']:.0f} % |"
        for each in found
    ]
    return "\n".join(["| | precision | tokens/s | share of the bf16 peak |", "|---|---|---|---|", *rows])


def _mixes(found: dict[str, Any]) -> list[str]:
    """A table a round: its start, each training alone, all of them mixed with the start, and the chosen."""
    parts = []
    for number, turn in enumerate(found["rounds"], start=1):
        rows = []
        for mix in turn["mixes"]:
            trained = [name for name in mix["weights"] if name != "start"]
            if len(trained) in (2, 3) and not mix["chosen"]:
                continue
            if len(trained) == 1 and len(mix["weights"]) == 2:
                continue
            title = _mix_title(mix["weights"], trained, found["trainings"])
            rows.append(
                f"| {title}{': chosen' if mix['chosen'] else ''} | {mix['balanced']:.2f} "
                f"| {mix['thorough']:.2f} | {mix['sighan_balanced']:.2f} | {mix['sighan_thorough']:.2f} |"
            )
        head = [f"round {number}", "F1, balanced", "F1, thorough", "SIGHAN, balanced", "SIGHAN, thorough"]
        parts.append(_table(head, rows))
    six = found["six_layers"]
    parts.append(
        "The six layers that learnt from the chosen mix of round 1, measured in the same way, without"
        f" fine-tuning: {six['balanced']:.2f} and {six['thorough']:.2f} (SIGHAN {six['sighan_balanced']:.2f}"
        f" and {six['sighan_thorough']:.2f})."
    )
    return parts


def _rounding(found: dict[str, Any]) -> list[str]:
    """What trained the model to live with rounded numbers, and what each attempt gave."""
    mined = found["mined"]
    rows = []
    for each in found["models"]:
        levels, cost = each["levels"], _cost(each["training"])
        rows.append(
            f"| {each['model']}{': shipped' if each['shipped'] else ''} | {cost} | "
            + " | ".join(
                f"{levels[level]['f1']:.2f} | {levels[level]['clean_changed']}"
                for level in ("balanced", "thorough")
            )
            + " |"
        )
    head = ["", "tokens", "seconds", "F1, balanced", "clean changed", "F1, thorough", "clean changed"]
    return [
        "From the last chosen mix the model was trained with the rounding of its export (`nmspeller round`,"
        " `train --teacher`; `configs/recipes/rounded.yaml` and `rounded_hard.yaml`), two trainings at a time"
        " side by side. Hard sentences are those that the floats would change and that are likely right"
        f" (`nmspeller data mine`): {mined['hard']:,} of {mined['sentences_read']:,}, found in"
        f" {mined['seconds']} s beside the trainings. Measured on the GPU, one reading, on"
        f" {found['dev_pairs']:,} dev pairs; clean changed is of {found['clean_sentences']:,} sentences. The"
        " shipped one has the largest sum of both F1.",
        _table(head, rows),
    ]


def _narrowing(found: dict[str, Any]) -> list[str]:
    """What fewer inner units, and a relu, cost and gain."""
    relu = found["relu"]
    return [
        "Half the inner units of every layer of the shipped model were taken away (`nmspeller narrow --width"
        " 1536`); the rest was taught by the whole (`configs/pretrain/narrow.yaml`), rounded, and trained on"
        " twice, side by side, with `configs/recipes/rounded.yaml`. Exported and calibrated as"
        f" the shipped model was then, on {found['dev_pairs']:,} dev pairs and {found['clean_sentences']:,}"
        f" clean sentences, by the probability of edits. {_on_gpu(found['gpu'])} It is not shipped.",
        _smaller(found["models"]),
        "A relu in place of the gelu takes no time in an integer model: what is below zero is lost when it"
        " becomes a byte, and far units need no factor of their own. With 2,560 inner units (`nmspeller"
        " narrow --width 2560 --relu`) the model was taught by the whole (`configs/pretrain/narrow.yaml`),"
        " rounded, and trained on three times, side by side; the cost of a mean is that of the training which"
        f" it adds. Judged in the same way. {_on_gpu(relu['gpu'])} It is not shipped either.",
        _smaller(relu["models"]),
    ]


def _smaller(models: Sequence[dict[str, Any]]) -> str:
    rows = []
    for each in models:
        levels, cost = each["levels"], _cost(each["training"])
        rows.append(
            f"| {each['model']} | {cost} | {levels['balanced']['f1']:.2f} | {levels['thorough']['f1']:.2f} "
            f"| {each['f1_by_readings'][1]:.2f} | {each['bytes'] / 1e6:.1f} MB |"
        )
    figures = ["F1, balanced", "F1, thorough", "F1, balanced, two readings"]
    return _table(["", "tokens", "seconds", *figures, "model.onnx"], rows)


def _on_gpu(gpu: dict[str, Any]) -> str:
    many = gpu["pipeline"][-1]
    return (
        f"On an {gpu['device']} the last one reads {gpu['model']['sentences_per_second']:,.0f} sentences a"
        f" second of {gpu['characters'] / gpu['sentences']:.1f} characters, and {many['workers']} processes"
        f" correct {many['sentences_per_second']:,.0f} (as in gpu_speed.md)."
    )


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])


def _cost(run: dict[str, Any] | None) -> str:
    """Tokens and seconds of a training, two cells; empty ones for what was not trained."""
    return f"{run['tokens'] / 1e6:,.0f} M | {run['seconds']:,.0f}" if run else "|"


def _mix_title(weights: dict[str, float], trained: Sequence[str], trainings: dict[str, Any]) -> str:
    if not trained:
        return "the start"
    if len(weights) == 1:
        run = trainings[trained[0]]
        return f"{trained[0]}: {run['what']} ({run['seconds']:.0f} s)"
    who = "…" if len(trained) == 4 else " and ".join(trained)
    return f"{weights.get('start', 0):.2f} of the start, the rest {who}"


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
    return _table(head, rows)


if __name__ == "__main__":
    print(write_training_page(sys.argv[1]))
