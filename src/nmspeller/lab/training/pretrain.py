"""Pretraining: an encoder learns the language and its misspellings from running text."""

from pathlib import Path
from typing import Any

from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models import checkpoint
from nmspeller.lab.training.distributed import Processes, join_processes
from nmspeller.lab.training.identity import identity
from nmspeller.lab.training.probes import held_out, probe
from nmspeller.lab.training.recipes import PretrainRecipe
from nmspeller.lab.training.start import check_positions, load_teacher, start_model
from nmspeller.lab.training.streams import CorpusStream
from nmspeller.lab.training.trainer import Report, Trainer


def pretrain(
    recipe: PretrainRecipe,
    *,
    data: Path,
    out: Path,
    start: Path | None,
    encoder: dict[str, Any] | None = None,
    seed: int = 0,
    processes: Processes | None = None,
    report: Report | None = None,
    teacher: Path | None = None,
) -> dict[str, Any]:
    """Pretrain a BERT and write it, with what it was measured at before and after, as a checkpoint in `out`.

    start: a Hugging Face BERT folder or a checkpoint; None starts from nothing, with `encoder`'s sizes.
    teacher: a checkpoint to learn from, beside the text.
    """
    prepared = Prepared(data)
    held_out(prepared)  # what cannot be measured afterwards is better not begun
    processes = processes or join_processes()
    description: dict[str, Any] = {"speller": "bert"}
    if encoder or start is None:
        sizes = {"vocabulary": len(prepared.vocabulary), "mask_id": prepared.vocabulary.mask}
        description["encoder"] = {**sizes, **(encoder or {})}
    model = start_model(
        description, start, vocabulary=prepared.vocabulary, dropout=recipe.dropout, seed=seed
    ).to(processes.device)
    check_positions(model, recipe.length)
    taught_by = load_teacher(teacher, prepared.vocabulary) if teacher else None
    before = probe(model, prepared) if start else None
    stream = CorpusStream(
        prepared,
        recipe.noise,
        steps=recipe.steps,
        batch_rows=recipe.batch_rows,
        length=recipe.length,
        seed=seed,
    )
    last = Trainer(
        model,
        stream,
        recipe.loop,
        pad=prepared.vocabulary.pad,
        seed=seed,
        folder=out,
        processes=processes,
        name="pretrain",
        report=report,
        teacher=taught_by,
        identity=identity(model, recipe, prepared, seed=seed, teacher=taught_by),
    ).run()
    result = {
        "before": before,
        "after": probe(model, prepared),
        "seconds": last.seconds if last else 0.0,
        "tokens": last.tokens if last else 0,
        "steps": last.step if last else 0,
        "seed": seed,
        "data": prepared.manifest["sources"],
    }
    if processes.first:
        checkpoint.save(out, model, prepared.vocabulary.tokens, card=_card(result))
    return result


def _card(result: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {when} | "
        + " | ".join(f"{result[when][key]:.2f}" for key in ("masked", "restored", "disturbed"))
        + " |"
        for when in ("before", "after")
        if result[when]
    )
    return (
        "# A pretrained Chinese BERT\n\n"
        f"{result['tokens']:,} tokens in {result['seconds']:.0f} s. On held-out text, in percent: "
        "masked characters guessed, confusable replacements restored, sound characters changed.\n\n"
        f"| | masked | restored | disturbed |\n|---|---|---|---|\n{rows}\n"
    )
