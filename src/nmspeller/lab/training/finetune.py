"""Fine-tuning: a speller is trained on pairs, stage by stage."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from nmspeller.errors import InputError
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.attention import Attention
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.corruption import Row
from nmspeller.lab.training.device_trainer import AfterEpoch, DeviceTrainer, Trainee
from nmspeller.lab.training.distributed import Processes, join_processes
from nmspeller.lab.training.identity import identity
from nmspeller.lab.training.recipes import Recipe
from nmspeller.lab.training.start import check_positions, start_model
from nmspeller.lab.training.streams import Stream
from nmspeller.lab.training.trainer import LoopConfig, Report, Trainer


def finetune(
    model: SpellerModel,
    recipe: Recipe,
    prepared: Prepared,
    *,
    out: Path,
    seed: int = 0,
    processes: Processes | None = None,
    report: Report | None = None,
    teacher: SpellerModel | None = None,
    after_epoch: AfterEpoch | None = None,
) -> SpellerModel:
    """Train the model, in place, through every stage of the recipe; logs are written to `out`.

    Each finished stage leaves a checkpoint, so an interrupted run resumes in the stage it was in.

    after_epoch: called after each epoch of a stage that is trained `on_device`.

    Raises:
        InputError: `out` has the state of another training, or a stage lacks its teacher.
    """
    processes = processes or join_processes()
    model.to(processes.device)
    own = identity(model, recipe, prepared, seed=seed, teacher=teacher)
    for number, stage in enumerate(recipe.stages):
        if stage.detect and teacher is None:
            raise InputError("this recipe learns where a teacher would edit; give one with --teacher.")
        # Also for a finished stage: the next one inherits what it does not set itself.
        if stage.dropout is not None:
            set_dropout(model, stage.dropout)
        if stage.loop.packed:
            remove_attention_dropout(model)
        done, card = out / f"stage{number}", f"# Stage {number} of the training {own}\n"
        if (done / "model.safetensors").exists():
            if (done / "card.md").read_text(encoding="utf-8") != card:
                raise InputError(
                    f"{done} belongs to a training with other settings; give another folder, or remove it."
                )
            model.load_state_dict(checkpoint.load(done)[0].state_dict())
            continue
        if stage.loop.on_device:
            pairs = stage.device_pairs(prepared, processes.device)
            check_positions(model, pairs.longest)
            trainee = Trainee(model, seed, out, report, after_epoch, own)
            DeviceTrainer([trainee], pairs, stage.loop, epochs=stage.epochs, name=f"stage{number}").run()
            continue
        stream = stage.stream(prepared, seed)
        check_positions(model, stream.limit + 2)
        with frozen_below_tags(model) if stage.tags_alone else nullcontext():
            Trainer(
                model,
                stream,
                stage.loop,
                pad=prepared.vocabulary.pad,
                seed=seed,
                folder=out,
                processes=processes,
                name=f"stage{number}",
                report=report,
                teacher=teacher if stage.teacher_share else None,
                teacher_share=stage.teacher_share,
                teacher_where_right=stage.teacher_where_right,
                match_layers=stage.match_layers,
                detect=stage.detect,
                identity=own,
            ).run()
        if processes.first and stage.loop.save_seconds and number + 1 < len(recipe.stages):
            checkpoint.save(done, model, prepared.vocabulary.tokens, card=card)
    return model


def finetune_together(trainees: Sequence[Trainee], recipe: Recipe, prepared: Prepared) -> None:
    """Train several spellers at once by a recipe whose only stage is `on_device`; see `device_trainer`.

    Raises:
        InputError: the recipe has other stages, or the spellers differ in size.
    """
    (stage, *others) = recipe.stages
    if others or not stage.loop.on_device:
        raise InputError("only a recipe with one stage, which is on_device, trains spellers together.")
    device = join_processes().device
    for trainee in trainees:
        trainee.model.to(device)
        if stage.dropout is not None:
            set_dropout(trainee.model, stage.dropout)
    own = [
        replace(each, identity=identity(each.model, recipe, prepared, seed=each.seed, teacher=None))
        for each in trainees
    ]
    pairs = stage.device_pairs(prepared, device)
    check_positions(trainees[0].model, pairs.longest)
    DeviceTrainer(own, pairs, stage.loop, epochs=stage.epochs, name="stage0").run()


@contextmanager
def frozen_below_tags(model: SpellerModel) -> Iterator[None]:
    """Nothing but the network of tags is trained, on what the speller below it computes without dropout.

    Raises:
        InputError: the model has none.
    """
    if model.tags is None:
        raise InputError("this recipe trains tags alone, and the model has none; start from one with tags.")
    below = [
        parameter
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and not name.startswith("tags.")
    ]
    for parameter in below:
        parameter.requires_grad_(False)
    for part in (model.semantic, model.head):
        set_dropout(part, 0.0)
    try:
        yield
    finally:
        for parameter in below:
            parameter.requires_grad_(True)


def remove_attention_dropout(model: SpellerModel) -> None:
    """Set the dropout of attention to 0: the fast kernel for packed rows has none."""
    for module in model.modules():
        if isinstance(module, Attention):
            module.dropout_probability = 0.0


def set_dropout(model: torch.nn.Module, probability: float) -> None:
    """Change the probability of every dropout of the model; a model built without any has none to change."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = probability
        if isinstance(module, Attention):
            module.dropout_probability = probability


class FirstStep:
    """The first batch of a stream alone."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __len__(self) -> int:
        return 1

    def rows(self, step: int) -> list[Row]:
        return self.stream.rows(step)


def dry_run(
    description: Mapping[str, Any],
    recipe: Recipe,
    prepared: Prepared,
    *,
    start: Path | None,
    tables: Path | None,
) -> float:
    """Build the model and take one small step of the recipe's first stage on the CPU; returns the loss."""
    stage = recipe.stages[0]
    loop = LoopConfig(optimiser=stage.loop.optimiser, precision="fp32", log_every=1, save_seconds=0)
    small = replace(
        stage,
        copies=dict.fromkeys(stage.copies, 1),
        synthetic=0 if stage.copies else 2,
        epochs=1,
        batch_sentences=2,
        batch_tokens=None,
        loop=loop,
    )
    with TemporaryDirectory() as folder:
        last = Trainer(
            start_model(description, start, vocabulary=prepared.vocabulary, tables=tables),
            FirstStep(small.stream(prepared, seed=0)),
            loop,
            pad=prepared.vocabulary.pad,
            seed=0,
            folder=Path(folder),
            processes=Processes(rank=0, world=1, device=torch.device("cpu")),
        ).run()
    assert last is not None
    return last.loss
