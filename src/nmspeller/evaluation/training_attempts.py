"""The attempts to better the shipped model after its first training, as tables of the page on training."""

from collections.abc import Sequence
from typing import Any

_FIGURES = ("balanced", "thorough", "two_readings")
_HEAD = ("F1, balanced", "F1, thorough", "F1, balanced, two readings")


def averages(models: Sequence[dict[str, Any]]) -> str:
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
    return table(head, rows)


def mixes(found: dict[str, Any]) -> list[str]:
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
        parts.append(table(head, rows))
    six = found["six_layers"]
    parts.append(
        "The six layers that learnt from the chosen mix of round 1, measured in the same way, without"
        f" fine-tuning: {six['balanced']:.2f} and {six['thorough']:.2f} (SIGHAN {six['sighan_balanced']:.2f}"
        f" and {six['sighan_thorough']:.2f})."
    )
    return parts


def _mix_title(weights: dict[str, float], trained: Sequence[str], trainings: dict[str, Any]) -> str:
    if not trained:
        return "the start"
    if len(weights) == 1:
        run = trainings[trained[0]]
        return f"{trained[0]}: {run['what']} ({run['seconds']:.0f} s)"
    who = "…" if len(trained) == 4 else " and ".join(trained)
    return f"{weights.get('start', 0):.2f} of the start, the rest {who}"


def rounding(found: dict[str, Any]) -> list[str]:
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
        table(head, rows),
    ]


def narrowing(found: dict[str, Any]) -> list[str]:
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
    return table(["", "tokens", "seconds", *_HEAD, "model.onnx"], rows)


def _on_gpu(gpu: dict[str, Any]) -> str:
    many = gpu["pipeline"][-1]
    return (
        f"On an {gpu['device']} the last one reads {gpu['model']['sentences_per_second']:,.0f} sentences a"
        f" second of {gpu['characters'] / gpu['sentences']:.1f} characters, and {many['workers']} processes"
        f" correct {many['sentences_per_second']:,.0f} (as in gpu_speed.md)."
    )


def third(found: dict[str, Any]) -> list[str]:
    """What a third pretraining gave, and one more training with rounding."""
    short = max(each["seconds"] for each in found["short_trainings"].values())
    tokens = sum(each["tokens"] for each in found["rounded_trainings"].values())
    return [
        "A third pretraining started from the shipped model (third.json says how), four short trainings"
        f" followed, side by side, {short:.0f} s at most, and their mean was mixed with the shipped model."
        f" Measured before rounding, on the GPU, on {found['dev_pairs']:,} dev pairs and"
        f" {found['clean_sentences']:,} clean sentences, with thresholds chosen as `nmspeller export` does."
        " More made-up errors are restored than before, but no mix has a larger sum of the first two figures"
        " than the shipped model.",
        _readings(found["floats"]),
        "The shipped model itself, rounded anew and trained three more times with rounding, side by side"
        f" ({tokens / 1e6:,.0f} M tokens together), is no better either. Exported and calibrated alike:",
        _readings(found["integers"]),
    ]


def whole_relu(found: dict[str, Any]) -> list[str]:
    """What a relu gives when all units stay and every layer learns what it said with the gelu."""
    exported, speed = found["exported"], found["speed"]
    equally = [
        f"| {each['clean_changed']} | {each['gelu']:.2f} | {each['relu']:.2f} |"
        for each in found["at_equally_few_clean_sentences_changed"]
    ]
    return [
        "The shipped model was also given a relu with all its 3,072 inner units (`nmspeller narrow --width"
        " 3072 --relu`) and learnt from itself as it was, layer by layer (`configs/recipes/relu.yaml`); then"
        " it was rounded and taught on twice, side by side (`configs/recipes/rounded.yaml`). Measured on the"
        f" GPU, on {found['dev_pairs']:,} dev pairs and {found['clean_sentences']:,} clean sentences, with"
        " thresholds chosen as `nmspeller export` does.",
        table(["", "tokens", "seconds", *_HEAD], [_trained(each) for each in found["models"]]),
        f"{exported['model']} has the largest sum of the first two figures among those that can be exported;"
        f" its file reaches {_figures(exported).replace(' | ', ', ')}. With {speed['threads']} threads of an"
        f" {speed['processor']} it is {speed['single']['ratio']:.2f} times as fast as the reference of"
        f" speed.md for one sentence and {speed['bulk']['ratio']:.2f} times in bulk. But with thresholds that"
        " let both change equally few clean sentences, the model with the gelu corrects more where these are"
        " few, and stays the shipped one:",
        table(["clean sentences changed, at most", "F1 with the gelu", "F1 with the relu"], equally),
    ]


def writers(found: dict[str, Any]) -> list[str]:
    """What errors give that fall where real ones do, and whom they help."""
    kinds = ("native", "learner", "wang", "all")
    helped = [
        f"| {each['model']} | {each['clean_changed']} | "
        + " | ".join(f"{each[kind]:.2f}" for kind in kinds)
        + " |"
        for each in found["by_kind_of_error"]
    ]
    return [
        "All trainings above had made-up errors that fall on rare and common characters alike; real ones do"
        " not (noise.md). With errors that do as real ones, J, its inner units narrowed to 2,688, was trained"
        " twice, side by side and without a teacher; its mean with one of these was rounded and trained twice"
        f" more (writers.json says how; {found['hard']:,} hard sentences). Measured on the GPU, on"
        f" {found['dev_pairs']:,} dev pairs and {found['clean_sentences']:,} clean sentences, with thresholds"
        " chosen as `nmspeller export` does.",
        table(["", "tokens", "seconds", *_HEAD], [_trained(each) for each in found["models"]]),
        "None has a larger sum of the first two figures than the shipped model, which stays. But it is not"
        " alike for all errors; F1, one reading and one threshold, which lets both change equally few clean"
        " sentences:",
        table(
            ["", "clean changed, at most", "native writers", "learners", "scanner and speech", "all"], helped
        ),
        "The shipped model itself, trained on with the same errors for a short while, and mixed with what"
        " came of it; exported and calibrated alike:",
        table(
            ["", "tokens", "seconds", *_HEAD], [_trained(each) for each in found["from_the_shipped_model"]]
        ),
    ]


def glances(found: dict[str, Any]) -> list[str]:
    """Two very small spellers, and how much each lets the model pass over."""
    rows = []
    for model in found["models"]:
        encoder, probe = model["encoder"], model["probe"]
        size = f"{encoder['layers']} layers of {encoder['hidden']}, {encoder['intermediate']} inner units"
        tokens = [model[stage]["tokens"] / 1e6 for stage in ("pretrained", "taught")]
        levels = model["calibration"]["levels"].values()
        rows.append(
            f"| {size} | {model['bytes'] / 1e6:.1f} MB | {tokens[0]:,.0f} M | {probe['restored']:.1f} "
            f"| {tokens[1]:,.0f} M | {model['taught']['loss']:.4f} | "
            + " | ".join(f"{100 - level['clean_read']:.0f} %" for level in levels)
            + " |"
        )
    head = ["", "glance.onnx", "tokens from nothing", "errors restored then", "tokens with the model",
            "last loss", *(f"passed over, {level}" for level in found["levels"])]  # fmt: skip
    return [
        "A glance tells a quick speller what it need not read. Two were trained side by side, in the same way"
        " (`configs/pretrain/glance.yaml`, `configs/recipes/glance.yaml`), and calibrated by `nmspeller"
        f" glance` on {found['dev_pairs']:,} dev pairs: of the sentences with findings, each may keep 0.5 %"
        f" from the model. Passed over: of {found['clean_sentences']:,} clean sentences. The last is the"
        " shipped one.",
        table(head, rows),
    ]


def _trained(model: dict[str, Any]) -> str:
    return f"| {model['model']} | {_cost(model['training'])} | {_figures(model)} |"


def _readings(models: Sequence[dict[str, Any]]) -> str:
    return table(["", *_HEAD], [f"| {each['model']} | {_figures(each)} |" for each in models])


def _figures(model: dict[str, Any]) -> str:
    return " | ".join(f"{model[figure]:.2f}" for figure in _FIGURES)


def _cost(run: dict[str, Any] | None) -> str:
    """Tokens and seconds of a training, two cells; empty ones for what was not trained."""
    return f"{run['tokens'] / 1e6:,.0f} M | {run['seconds']:,.0f}" if run else "|"


def table(head: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])
