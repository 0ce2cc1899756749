"""Fine-tuning: a speller learns from pairs, stage by stage."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from nmspeller.data.prepared import Prepared
from nmspeller.models import checkpoint
from nmspeller.models.encoder import Layer
from nmspeller.models.speller import SpellerModel
from nmspeller.training.distributed import Processes, join_processes
from nmspeller.training.recipes import Recipe, Stage
from nmspeller.training.start import start_model
from nmspeller.training.streams import PairStream
from nmspeller.training.trainer import Report, Trainer


def finetune(
    model: SpellerModel,
    recipe: Recipe,
    prepared: Prepared,
    *,
    out: Path,
    seed: int = 0,
    processes: Processes | None = None,
    report: Report | None = None,
) -> SpellerModel:
    """Train the model, in place, through every stage of the recipe; logs lie in `out`.

    A stage that finished leaves a checkpoint of its own until the last one is done, so a killed run resumes
    in the stage it was in.
    """
    processes = processes or join_processes()
    model.to(processes.device)
    for number, stage in enumerate(recipe.stages):
        done = out / f"stage{number}"
        if (done / "model.safetensors").exists():
            model.load_state_dict(checkpoint.load(done)[0].state_dict())
            continue
        if stage.dropout is not None:
            set_dropout(model, stage.dropout)
        stream = stage.stream(prepared, seed)
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
        ).run()
        if processes.first and stage.loop.save_seconds and number + 1 < len(recipe.stages):
            checkpoint.save(done, model, prepared.vocabulary.tokens)
    return model


def set_dropout(model: SpellerModel, probability: float) -> None:
    """Give every dropout of the model another probability; a model built without any keeps none."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = probability
        if isinstance(module, Layer):
            module.attention_dropout = probability


def dry_run(
    description: Mapping[str, Any],
    recipe: Recipe,
    prepared: Prepared,
    *,
    start: Path | None,
    tables: Path | None,
    out: Path,
) -> float:
    """Build the model and take one step of the recipe's first stage on the CPU; returns the loss."""
    stage = recipe.stages[0]
    small = dict.fromkeys(stage.copies, 1)
    one = Stage(
        copies=small,
        batch_sentences=2,
        loop=replace(
            stage.loop,
            workers=0,
            compile=False,
            packed_tokens=None,
            log_every=1,
            seconds=None,
            save_seconds=0,
        ),
    )
    model = start_model(description, start, tables=tables)

    class OneStep(PairStream):
        def __len__(self) -> int:
            return 1

    stream = OneStep(
        prepared,
        one.noise,
        copies=one.copies,
        synthetic=0,
        epochs=1,
        batch_sentences=2,
        batch_tokens=None,
        seed=0,
    )
    last = Trainer(
        model,
        stream,
        one.loop,
        pad=prepared.vocabulary.pad,
        seed=0,
        folder=out,
        processes=join_processes(),
        name="dry-run",
    ).run()
    assert last is not None
    return last.loss
