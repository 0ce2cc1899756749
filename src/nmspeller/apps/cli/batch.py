"""`nmspeller batch`"""

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmspeller.apps.cli.conflicts import Excludes, Needs, require
from nmspeller.apps.cli.options import (
    FINDINGS,
    INPUT,
    MODEL,
    NO_RULES,
    ONE_CHOICE_OF_RULES,
    OUTPUT,
    PREFILTER,
    RULES,
    WORDS,
    DeviceOption,
    chosen_rules,
)
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.policy import Level
from nmspeller.runtime.rule_matches import DEFAULT_RULES

if TYPE_CHECKING:
    from nmspeller.apps.batch.run import ShardEngine


class BatchFormat(str, Enum):
    """The format of the input files."""

    text = "text"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


class What(str, Enum):
    """What is written for each text."""

    corrected = "corrected"
    edits = "edits"
    both = "both"


class SummaryFormat(str, Enum):
    """How the summary of the job is printed."""

    text = "text"
    json = "json"


class Where(str, Enum):
    """Where the work is done."""

    local = "local"
    ray = "ray"


HELP = N_(
    "Correct whole collections of files or tables.\n\n"
    "Every input file is written to OUTPUT under its own name and in its own format, with the text corrected "
    "and everything else unchanged. Run the same command again to resume a stopped job. Exit code 0: done."
)


_CONFLICTS = (
    Needs("--address", ("--engine ray",)),
    ONE_CHOICE_OF_RULES,
    # The GPU is that of this machine, and the prefilter runs on the CPU.
    Excludes(("--device cuda",), ("--engine ray", "--prefilter")),
)
# Further groups of options in the help.
_WORKERS = N_("Workers")


def batch(
    context: typer.Context,
    inputs: list[str] = typer.Argument(
        metavar="INPUT...", help=N_("Files, folders, patterns, fsspec addresses.")
    ),
    output: str = typer.Argument(metavar="OUTPUT", help=N_("The folder to write to, or its fsspec address.")),
    column: str = typer.Option(
        "text", rich_help_panel=INPUT, help=N_("The column or key that holds the text.")
    ),
    write: What = typer.Option(
        What.corrected, rich_help_panel=OUTPUT, help=N_("What is written for each text.")
    ),
    level: Level = typer.Option(
        Level.BALANCED, "--level", "-l", rich_help_panel=FINDINGS, help=N_("How much is corrected.")
    ),
    words: list[Path] = WORDS,
    model: Path = MODEL,
    prefilter: bool = PREFILTER,
    rules: str = RULES,
    no_rules: bool = NO_RULES,
    format: BatchFormat = typer.Option(
        None,
        rich_help_panel=INPUT,
        help=N_("Format of the files, if their suffix does not show it."),
        show_default=False,
    ),
    engine: Where = typer.Option(
        Where.local, rich_help_panel=_WORKERS, help=N_("Processes on this machine, or a Ray cluster.")
    ),
    address: str = typer.Option(
        None,
        rich_help_panel=_WORKERS,
        help=N_("The Ray cluster to use; otherwise one is started for the job."),
        show_default=False,
    ),
    device: DeviceOption = typer.Option(
        DeviceOption.cpu,
        rich_help_panel=_WORKERS,
        help=N_("cuda is one GPU that all workers share; it needs PyTorch and onnx."),
    ),
    workers: int = typer.Option(
        None,
        min=1,
        rich_help_panel=_WORKERS,
        help=N_("Number of workers; by default one per core, and at most 8 on a GPU."),
        show_default=False,
    ),
    cache: int = typer.Option(
        50_000, min=0, rich_help_panel=_WORKERS, help=N_("How many different texts each worker caches.")
    ),
    max_bad_share: float = typer.Option(
        0.01,
        min=0,
        max=1,
        rich_help_panel=_WORKERS,
        help=N_("Stop when more than this share of the rows cannot be processed."),
    ),
    shard_size: int = typer.Option(
        1 << 20,
        min=1,
        max=64 << 20,
        rich_help_panel=_WORKERS,
        help=N_("Bytes of input per shard, the unit of work that is resumed."),
    ),
    verify: bool = typer.Option(
        False,
        "--verify",
        rich_help_panel=OUTPUT,
        help=N_("Compare the files of a finished job with their hashes, too."),
    ),
    output_format: SummaryFormat = typer.Option(
        SummaryFormat.text,
        "--output-format",
        "-o",
        rich_help_panel=OUTPUT,
        help=N_("How the summary is printed: for people, or as one JSON object."),
    ),
    speller: str = typer.Option("nmspeller.runtime.checker:open_checker", hidden=True),
) -> None:
    """Run the job that the options describe, and print its summary."""
    require(context, _CONFLICTS)
    try:
        from nmspeller.apps.batch import BatchJob, Interrupted, SpellerSettings, Write, run
        from nmspeller.apps.batch.progress import JobProgress
        from nmspeller.apps.batch.summary import as_text
    except ImportError as error:
        raise InputError(_("`batch` needs more packages: pip install 'nmspeller[scale]'.")) from error
    from nmspeller.runtime.dictionary import read_words

    # Workers on other machines do not have these files, and run in other folders.
    known = tuple(word for path in words or () for word in read_words(path))
    folder = str(model.resolve()) if model else None
    settings = SpellerSettings(
        folder,
        level.value,
        known,
        device.value,
        prefilter,
        chosen_rules(rules, none=no_rules, default=DEFAULT_RULES),
        speller,
    )
    kind = format.value if format else None
    job = BatchJob(tuple(inputs), output, column, Write(write.value), kind, settings, shard_size)
    where = _engine(engine, address, workers, device)
    try:
        summary = run(
            job, where, cache=cache, max_bad_share=max_bad_share, verify=verify, progress=JobProgress()
        )
    except Interrupted as stopped:
        typer.echo(f"nmspeller: {stopped}", err=True)
        raise typer.Exit(130) from stopped
    typer.echo(
        json.dumps(summary, ensure_ascii=False)
        if output_format is SummaryFormat.json
        else as_text(summary, output)
    )


def _engine(where: Where, address: str | None, workers: int | None, device: DeviceOption) -> "ShardEngine":
    if where is Where.local:
        from nmspeller.apps.batch.local import LocalEngine

        return LocalEngine(workers, device.value)
    try:
        from nmspeller.apps.batch.on_ray import RayEngine
    except ImportError as error:
        raise InputError(_("--engine ray needs Ray: pip install 'nmspeller[scale]'.")) from error
    return RayEngine(workers, address)
