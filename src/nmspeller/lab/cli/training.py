"""`nmspeller lab train`, `pretrain` and `average`, which need the `train` extra."""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.cli.extra import need_training

if TYPE_CHECKING:
    from nmspeller.lab.training.trainer import Progress

_TRAIN_CONFIG = ("name", "model", "recipe")
_PRETRAIN_CONFIG = ("name", "encoder", "recipe", "modalities")

_MODEL = typer.Argument(..., metavar="CONFIG", help="A model's name, such as nm-bert, or a YAML file.")
_PRETRAINING = typer.Argument(
    ..., metavar="CONFIG", help="A config's name, such as continue, or a YAML file."
)
_DATA = typer.Option(..., help="The folder that `nmspeller lab data prepare` wrote.")
START = typer.Option(None, help="Weights to start from: a Hugging Face BERT folder or a checkpoint.")
MODALITIES = typer.Option(
    None, help="Pretrained phonetic and graphic encoders (`nmspeller lab pretrain modalities`)."
)
_TEACHER = typer.Option(None, help="A checkpoint to distil from.")
_SEED = typer.Option(0, min=0, max=2**63 - 1, help="The same seed gives the same training.")
_SECONDS = typer.Option(None, min=0.001, help="Stop after this many seconds, with the schedule complete.")


def train(
    config: str = _MODEL,
    data: Path = _DATA,
    start: Path | None = START,
    out: Path | None = typer.Option(None, help="The folder to write; runs/NAME-SEED if not given."),
    recipe: str | None = typer.Option(
        None, help="A recipe's name or file, instead of the config's own; `fast` if it has none."
    ),
    seed: int = _SEED,
    seconds: float | None = _SECONDS,
    modalities: Path | None = MODALITIES,
    teacher: Path | None = _TEACHER,
    dry_run: bool = typer.Option(False, help="Only build the model and take one step, on the CPU."),
) -> None:
    """Train a speller from a config; the same command again resumes an interrupted training.

    Under `torchrun`, the processes of one or more machines share every batch.
    """
    need_training()
    from nmspeller.lab.configs import read_config
    from nmspeller.lab.data.prepared import Prepared
    from nmspeller.lab.models import checkpoint
    from nmspeller.lab.training import finetune, recipes
    from nmspeller.lab.training.distributed import join_processes
    from nmspeller.lab.training.start import load_teacher, start_model

    values = read_config("models", config, _TRAIN_CONFIG)
    if "model" not in values:
        raise InputError(f"{config} has no model; add one, such as `model: {{speller: bert}}`.")
    plan = recipes.read_recipe(recipe or values.get("recipe", "fast"))
    if seconds:
        plan = recipes.with_budget(plan, seconds)
    prepared, tables = Prepared(data), data / "characters.npz"
    plan, absent = recipes.without_absent(plan, prepared)
    if absent:
        typer.echo(f"{data} lacks {', '.join(absent)}; training goes without.", err=True)
    name = str(values["name"])
    out = out or Path("runs") / f"{name}-{seed}"
    if dry_run:
        loss = finetune.dry_run(values["model"], plan, prepared, start=start, tables=tables)
        typer.echo(f"{name}: one step, loss {loss:.4f}")
        return
    processes = join_processes()
    began = time.perf_counter()
    model = start_model(
        values["model"],
        start,
        vocabulary=prepared.vocabulary,
        tables=tables,
        modalities=modalities,
        dropout=plan.dropout,
        seed=seed,
    )
    with TrainingBar(name) as bar:
        finetune.finetune(
            model,
            plan,
            prepared,
            out=out,
            seed=seed,
            processes=processes,
            report=bar.report,
            teacher=load_teacher(teacher, prepared.vocabulary) if teacher else None,
        )
    if not processes.first:
        return
    record = {
        "name": name,
        "seed": seed,
        "model": values["model"],
        "recipe": asdict(plan),
        "start": start.name if start else None,
        "modalities": modalities.name if modalities else None,
        "teacher": teacher.name if teacher else None,
        "seconds": time.perf_counter() - began,
        "processes": processes.world,
        "data_hashes": prepared.manifest["sources"],
    }
    checkpoint.save(
        out, model, prepared.vocabulary.tokens, card=f"# {name}\n\nTrained by `nmspeller lab train`.\n"
    )
    _write_json(out / "train.json", record)
    draw_losses(out)


def pretrain(
    config: str = _PRETRAINING,
    data: Path = _DATA,
    start: Path | None = START,
    out: Path | None = typer.Option(None, help="The folder to write; runs/NAME-SEED if not given."),
    seed: int = _SEED,
    seconds: float | None = _SECONDS,
    teacher: Path | None = _TEACHER,
) -> None:
    """Pretrain an encoder, from a checkpoint or from random weights; or the phonetic and graphic encoders."""
    need_training()
    from nmspeller.lab.configs import read_config
    from nmspeller.lab.configs.parsing import from_mapping
    from nmspeller.lab.training import recipes
    from nmspeller.lab.training.distributed import join_processes
    from nmspeller.lab.training.modalities import ModalitiesRecipe, pretrain_modalities
    from nmspeller.lab.training.pretrain import pretrain as run

    values = read_config("pretrain", config, _PRETRAIN_CONFIG)
    name = str(values["name"])
    out = out or Path("runs") / f"{name}-{seed}"
    if start is None and ("modalities" in values or "encoder" not in values):
        raise InputError(f"{config} continues from other weights; give them with --start.")
    if "modalities" in values and (seconds or teacher):
        raise InputError(
            f"{config} pretrains phonetic and graphic encoders by steps; leave out --seconds and --teacher."
        )
    if not isinstance(values.get("encoder", {}), dict):
        raise InputError(f"{config}: encoder must be a mapping, not {values['encoder']!r}.")
    with TrainingBar(name) as bar:
        if "modalities" in values:
            assert start is not None
            modalities = from_mapping(ModalitiesRecipe, values["modalities"], "modalities")
            result = pretrain_modalities(modalities, data=data, start=start, out=out, seed=seed)
        else:
            plan = recipes.read_pretrain_recipe(values.get("recipe", {}))
            if seconds:
                plan = recipes.with_seconds(plan, seconds)
            encoder = values.get("encoder") if start is None else None
            result = run(
                plan,
                data=data,
                out=out,
                start=start,
                encoder=encoder,
                seed=seed,
                report=bar.report,
                teacher=teacher,
            )
    if join_processes().first:
        _write_json(out / "pretrain.json", result)
        draw_losses(out)


def average(
    checkpoints: list[Path] = typer.Argument(..., help="Trainings of one model that differ in their seed."),
    out: Path = typer.Option(..., help="The checkpoint folder to write."),
) -> None:
    """Write the mean of the weights of several trained models, which is often better than each of them."""
    need_training()
    from nmspeller.lab.training.averaging import average as write_mean

    write_mean(checkpoints, out)
    typer.echo(out)


class TrainingBar:
    """Progress on standard error: a bar on a terminal, otherwise a line every `pause` seconds."""

    def __init__(self, name: str, pause: float = 20.0) -> None:
        self._name, self._pause, self._printed = name, pause, 0.0
        self._bar: Any = None

    def __enter__(self) -> "TrainingBar":
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._name, total=None)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def report(self, progress: "Progress") -> None:
        line = (
            f"{self._name} step {progress.step:,} of {progress.steps:,}, loss {progress.loss:.4f}, "
            f"{progress.tokens / max(progress.seconds, 1e-9):,.0f} tokens/s"
        )
        if self._bar is not None:
            self._bar.update(self._task, description=line, completed=progress.step, total=progress.steps)
        elif time.monotonic() - self._printed > self._pause:
            self._printed = time.monotonic()
            typer.echo(line, err=True)


def _write_json(path: Path, record: dict[str, Any]) -> None:
    write_whole(path, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())


def draw_losses(out: Path) -> None:
    """Draw the losses of a run, or of all runs below a folder, and print the folder."""
    from nmspeller.lab.evaluation import epoch_log, plots

    found = sorted(log for log in out.rglob("*.jsonl") if log.name != epoch_log.FILE)
    logs = {str(log.relative_to(out).with_suffix("")): log for log in found}
    if logs:
        plots.draw_losses(logs, out / "loss.png")
    typer.echo(out)
