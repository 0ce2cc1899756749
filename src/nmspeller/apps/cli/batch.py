"""`nmspeller batch`"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmspeller.errors import InputError

if TYPE_CHECKING:
    from nmspeller.apps.batch.run import Engine

_FORMATS = ("text", "jsonl", "csv", "parquet")


def batch(
    inputs: list[str] = typer.Argument(
        ..., metavar="INPUT...", help="Files, folders, patterns, fsspec addresses."
    ),
    output: str = typer.Argument(
        ..., metavar="OUTPUT", help="The folder to write to, local or an fsspec address."
    ),
    column: str = typer.Option("text", help="The column or key that holds the text."),
    write: str = typer.Option("corrected", help="What to write: corrected, edits or both."),
    level: str = typer.Option("balanced", help="How sure the speller must be, as in `nmspeller check`."),
    words: Path | None = typer.Option(None, help="A file of words that are never edited, one a line."),
    model: str | None = typer.Option(None, help="A model folder, instead of the one that is shipped."),
    format: str | None = typer.Option(None, help=f"{', '.join(_FORMATS)}; otherwise the suffix tells."),
    engine: str = typer.Option("local", help="local (processes on this machine) or ray (a cluster)."),
    address: str | None = typer.Option(None, help="The Ray cluster to use; otherwise one is started here."),
    workers: int | None = typer.Option(None, min=1, help="How many workers; otherwise one a core."),
    cache: int = typer.Option(50_000, min=0, help="How many different texts each worker remembers."),
    max_bad_share: float = typer.Option(
        0.01, min=0, max=1, help="Stop when more than this share of the rows cannot be processed."
    ),
    shard_size: int = typer.Option(
        1 << 20, min=1, max=64 << 20, help="Bytes of input in a shard, the unit that is done or not done."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as one JSON object."),
    speller: str = typer.Option("nmspeller.runtime:Speller", hidden=True),
) -> None:
    """Correct whole collections of files or tables.

    Every input file is written to OUTPUT under its own name and in its own format, with the text corrected and
    all else as it was. A job that was stopped goes on when the same command is run again. Exit code 0: done.
    """
    try:
        from nmspeller.apps.batch import Interrupted, Job, SpellerSettings, Write, run
        from nmspeller.apps.batch.progress import Progress
        from nmspeller.apps.batch.summary import in_words
    except ImportError as wrong:
        raise InputError("`batch` needs more packages: pip install 'nmspeller[scale]'.") from wrong
    if write not in [choice.value for choice in Write]:
        raise InputError("--write is one of corrected, edits and both.")
    if format is not None and format not in _FORMATS:
        raise InputError(f"--format is one of {', '.join(_FORMATS)}.")
    settings = SpellerSettings(model, level, _read_words(words), speller)
    job = Job(tuple(inputs), output, column, Write(write), format, settings, shard_size)
    where = _engine(engine, address, workers)
    try:
        summary = run(job, where, cache=cache, max_bad_share=max_bad_share, progress=Progress())
    except Interrupted as stopped:
        typer.echo(f"nmspeller: {stopped}", err=True)
        raise typer.Exit(130) from stopped
    typer.echo(json.dumps(summary, ensure_ascii=False) if as_json else in_words(summary, output))


def _engine(name: str, address: str | None, workers: int | None) -> "Engine":
    from nmspeller.apps.batch.local import LocalEngine

    if name == "ray":
        try:
            from nmspeller.apps.batch.on_ray import RayEngine
        except ImportError as wrong:
            raise InputError("--engine ray needs Ray: pip install 'nmspeller[scale]'.") from wrong
        return RayEngine(workers, address)
    if name != "local":
        raise InputError("--engine is one of local and ray.")
    if address is not None:
        raise InputError("--address goes with --engine ray.")
    return LocalEngine(workers)


def _read_words(path: Path | None) -> tuple[str, ...]:
    """The words themselves, since a worker on another machine has no such file."""
    if path is None:
        return ()
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as wrong:
        raise InputError(f"{path} cannot be read as a list of words in UTF-8: {wrong}.") from wrong
    return tuple(word for line in lines if (word := line.strip()) and not word.startswith("#"))
