"""`nmspeller bench` and `nmspeller lab bench`."""

import json
from enum import Enum
from pathlib import Path

import typer

from nmspeller.apps.cli.options import MODEL, DeviceOption
from nmspeller.lab.cli.output import OUTPUT_FORMAT, OutputFormat


class Precision(str, Enum):
    """How products are computed in training."""

    fp32 = "fp32"
    bf16 = "bf16"
    all_bf16 = "all-bf16"
    fp8 = "fp8"


def check(
    model: Path = MODEL,
    device: DeviceOption = typer.Option(DeviceOption.cpu, help="cuda needs PyTorch and onnx."),
    sentences: int = typer.Option(2000, min=1, help="Number of sentences."),
    texts: Path = typer.Option(
        None, help="A file of sentences or pairs; by default, synthetic sentences.", show_default=False
    ),
    workers: list[int] = typer.Option(
        [1], min=1, help="Number of processes from strings to edits; may be repeated."
    ),
    prefilter: bool = typer.Option(False, "--prefilter", help="Let the prefilter read first."),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Sentences a second: the model alone, and everything from strings to edits."""
    from nmspeller.lab.evaluation import speed
    from nmspeller.runtime.device import Device
    from nmspeller.runtime.pipeline import SHIPPED

    found = speed.measure(
        model or SHIPPED,
        speed.sentences_to_read(sentences, texts),
        device=Device.parse(device.value),
        workers=workers,
        prefilter=prefilter,
    )
    typer.echo(json.dumps(found) if output_format is OutputFormat.json else speed.in_words(found))


def train(
    seconds: float = typer.Option(30.0, min=0.1, help="How long to train."),
    data: Path | None = typer.Option(
        None, help="A prepared folder, to read and misspell its text too; random ids if not given."
    ),
    precision: Precision | None = typer.Option(
        None, help="How products are computed; bf16 on a GPU and fp32 elsewhere if not given."
    ),
    packed: bool = typer.Option(
        False, help="As in fine-tuning: sentences of their own length end to end, not rows of 128."
    ),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Tokens a second in training BERT-base, and the share of the device's peak that it means."""
    from nmspeller.lab.cli.extra import need_training

    need_training()
    from nmspeller.lab.training.benchmark import measure_training

    found = measure_training(
        seconds=seconds, data=data, precision=precision.value if precision else None, packed=packed
    )
    if output_format is OutputFormat.json:
        typer.echo(json.dumps(found))
        return
    share, peak = 100 * found["share_of_peak"], found["peak_operations_per_second"] / 1e12
    typer.echo(
        f"{found['device']}: {found['tokens_per_second']:,.0f} tokens/s, {share:.0f} % of the {peak:,.1f} "
        "TFLOP/s that a large product reaches (bf16 on a GPU, fp32 on a CPU)."
    )
