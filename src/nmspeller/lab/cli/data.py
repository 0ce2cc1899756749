"""`nmspeller lab data`: count, prepare and make training data."""

import json
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from nmspeller.lab.cli.making import mine, noise, prepare
from nmspeller.lab.data.stats import count_folder

app = typer.Typer(
    help="Statistics, preparation and noise for training data.", no_args_is_help=True, rich_markup_mode=None
)
app.command("prepare")(prepare)
app.command("noise")(noise)
app.command("mine")(mine)


@app.command("leaks")
def leaks(
    out: Path = typer.Option(..., help="The Markdown page to write; a JSON file is written beside it."),
    data: Path | None = typer.Option(None, help="The data folder; $NMSPELLER_DATA if not given."),
) -> None:
    """Count the errors of the test sets that Wang271K contains."""
    from nmspeller.lab.data.folder import data_folder
    from nmspeller.lab.data.wang_overlap import count_leaks
    from nmspeller.lab.evaluation.leak_page import write_page

    for path in write_page(out, count_leaks(data or data_folder())):
        typer.echo(path)


@app.command("stats")
def stats(
    folder: Path = typer.Argument(
        ..., metavar="DIR", help="A folder with TSV files of pairs, or one such file."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Print lines, mean length and wrong characters of each set."""
    sets = count_folder(folder)
    if as_json:
        typer.echo(json.dumps({"sets": [one._asdict() for one in sets]}, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("set", overflow="fold")
    for name in ("lines", "mean length", "errors", "lines with errors", "skipped"):
        table.add_column(name, justify="right")
    for one in sets:
        numbers = (one.errors, one.erroneous, one.skipped)
        table.add_row(one.name, f"{one.lines:,}", f"{one.mean_length:.1f}", *(f"{n:,}" for n in numbers))
    Console().print(table)
