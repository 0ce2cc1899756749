"""`nmspeller lab data`: list, count, prepare and make training data."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from nmspeller.errors import InputError
from nmspeller.lab.cli.extra import need_installed
from nmspeller.lab.cli.output import OUTPUT_FORMAT, OutputFormat
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.stats import count_folder

if TYPE_CHECKING:
    from nmspeller.lab.data.pairs import Pair
    from nmspeller.lab.data.synthesis import PairMaker

SHIPPED_VOCABULARY = Path(__file__).resolve().parents[2] / "shipped" / "vocab.txt"

app = typer.Typer(
    help="Statistics, preparation and noise for training data.", no_args_is_help=True, rich_markup_mode=None
)

_DATA = typer.Option(None, help="The data folder; $NMSPELLER_DATA if not given.")


@app.command()
def prepare(
    out: Path = typer.Argument(..., metavar="OUT", help="The folder to write."),
    data: Path | None = _DATA,
    vocab: Path = typer.Option(
        SHIPPED_VOCABULARY, show_default="the shipped model's", help="The vocab.txt of the model to train."
    ),
    corpus: bool = typer.Option(True, "--corpus/--no-corpus", help="Encode the corpus too (minutes)."),
) -> None:
    """Write all that training needs, beside torch and numpy, as compact arrays."""
    need_installed("pypinyin", "jieba", "yaml")
    from nmspeller.lab.data.encode import prepare as write
    from nmspeller.lab.models.character_features import character_tables
    from nmspeller.text.vocabulary import Vocabulary

    write(data or data_folder(), vocab, out, corpus=corpus, say=lambda line: typer.echo(line, err=True))
    character_tables(Vocabulary.from_file(vocab).tokens).save(out / "characters.npz")
    typer.echo(f"prepared {out}", err=True)


@app.command()
def sets(
    data: Path | None = _DATA,
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """List the data sets: what each is for, its terms, and which of its files are missing."""
    table = _table(data)
    missing = table.missing()
    if output_format is OutputFormat.json:
        rows = {name: {**asdict(one), "missing": missing.get(name, [])} for name, one in table.items()}
        typer.echo(json.dumps({"folder": str(table.folder), "sets": rows}, ensure_ascii=False))
        return
    shown = Table(box=None, pad_edge=False)
    for column in ("set", "role", "licence", "missing"):
        shown.add_column(column, overflow="fold")
    for name, one in table.items():
        shown.add_row(name, one.role, one.licence, ", ".join(missing.get(name, [])))
    Console().print(shown)


@app.command()
def leaks(data: Path | None = _DATA, output_format: OutputFormat = OUTPUT_FORMAT) -> None:
    """Count the errors of the test sets that Wang271K contains."""
    from nmspeller.lab.data.wang_overlap import LeakCounts, count_leaks

    counts = count_leaks(_table(data))
    if output_format is OutputFormat.json:
        typer.echo(json.dumps([one._asdict() for one in counts], ensure_ascii=False))
        return
    shown = Table(box=None, pad_edge=False)
    for name in LeakCounts._fields:
        shown.add_column(name.replace("_", " "), justify="left" if name == "name" else "right")
    for one in counts:
        shown.add_row(*map(str, one))
    Console().print(shown)


@app.command()
def stats(
    folder: Path = typer.Argument(
        ..., metavar="DIR", help="A folder with TSV files of pairs, or one such file."
    ),
    output_format: OutputFormat = OUTPUT_FORMAT,
) -> None:
    """Print lines, mean length and wrong characters of each set."""
    counted = count_folder(folder)
    if output_format is OutputFormat.json:
        typer.echo(json.dumps({"sets": [one._asdict() for one in counted]}, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("set", overflow="fold")
    for name in ("lines", "mean length", "errors", "lines with errors", "skipped"):
        table.add_column(name, justify="right")
    for one in counted:
        numbers = (one.errors, one.erroneous, one.skipped)
        table.add_row(one.name, f"{one.lines:,}", f"{one.mean_length:.1f}", *(f"{n:,}" for n in numbers))
    Console().print(table)


@app.command()
def mine(
    prepared: Path = typer.Argument(..., metavar="PREPARED", help="A folder that `data prepare` wrote."),
    model: Path | None = typer.Option(
        None, help="An exported folder or a checkpoint; the shipped model if not given.", show_default=False
    ),
    device: str = typer.Option("cpu", help="cpu or cuda; a corpus takes a GPU minutes, a processor days."),
) -> None:
    """Find clean sentences that the model would change, and add them to the folder as the pairs `mined`."""
    from nmspeller.lab.data.prepared import Prepared, check_vocabulary
    from nmspeller.lab.export.mining import hard_sentences
    from nmspeller.runtime.device import Device, open_engine
    from nmspeller.runtime.pipeline import SHIPPED

    text = Prepared(prepared)
    check_vocabulary(model or SHIPPED, text.vocabulary)
    engine = open_engine(model or SHIPPED, text.vocabulary, Device.parse(device))
    found = hard_sentences(engine, text)
    text.add_pairs("mined", found)
    typer.echo(f"{len(found):,} sentences in {prepared / 'pairs' / 'mined.npz'}")


@app.command()
def noise(
    corpus: Path = typer.Argument(..., metavar="CORPUS", help="Text, or a folder of *.txt and *.txt.xz."),
    pairs: int = typer.Option(
        271_329, min=0, help="How many pairs; 0 goes on until the pipeline has enough."
    ),
    out: str = typer.Option("-", help="The TSV file to write; - is standard output."),
    seed: int = typer.Option(0, min=0, help="The same seed gives the same pairs."),
    clean: float = typer.Option(0.0, min=0.0, max=1.0, help="Share of sentences without any error."),
    prepared: Path | None = typer.Option(
        None,
        help="A prepared folder, whose noise model is used; without it one is fitted to the data folder.",
    ),
    add: str | None = typer.Option(
        None, help="Add the pairs to the prepared folder under this name, instead of writing text."
    ),
) -> None:
    """Make training pairs from clean text, with the errors that people and machines make.

    A sentence with errors has 1.41 of them in the mean, as in Wang271K. No sentence of the evaluation sets,
    nor a clause of one, is ever used, nor is the text that is held out for measuring pretraining (every 50th
    block of 30 lines).
    """
    if out != "-" and not pairs:
        raise InputError("pairs without end fit no file; give --pairs, or write to standard output.")
    if add and (not prepared or not pairs or out != "-"):
        raise InputError("--add needs --prepared and --pairs, and goes without --out.")
    made = _pair_maker(prepared, clean).pairs(corpus, seed)
    if add and prepared:
        from nmspeller.lab.data.encode import pair_arrays
        from nmspeller.lab.data.prepared import PairArrays, Prepared

        folder = Prepared(prepared)
        arrays = pair_arrays(list(_watched(islice(made, pairs), pairs)), folder.vocabulary)
        folder.add_pairs(add, PairArrays(**arrays))  # type: ignore[arg-type]
        return
    if out == "-":
        _print(islice(made, pairs) if pairs else made)
        return
    from nmspeller.lab.data.pairs import write_pairs

    write_pairs(out, _watched(islice(made, pairs), pairs))


def _print(pairs: "Iterator[Pair]") -> None:
    try:
        for pair in pairs:
            sys.stdout.write(f"{pair.source}\t{pair.target}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The pipeline has enough: nothing is wrong, though Click would exit with 1.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _pair_maker(prepared: Path | None, clean: float) -> "PairMaker":
    from nmspeller.lab.data.leak_filter import LeakFilter, evaluation_sentences
    from nmspeller.lab.data.noise_profiles import noise_from
    from nmspeller.lab.data.prepared import Prepared
    from nmspeller.lab.data.synthesis import PairMaker
    from nmspeller.text.vocabulary import Vocabulary

    table = _table(None)
    unknown = [name for name, one in table.items() if one.is_measured and name not in table.measured()]
    if unknown:
        typer.echo(f"leaks into {', '.join(unknown)} are not noticed: {table.folder} lacks them.", err=True)
    leaks = LeakFilter(evaluation_sentences(table))
    if prepared:
        known = Prepared(prepared)
        return PairMaker(known.noise, known.vocabulary, leaks, clean=clean)
    need_installed("pypinyin", "jieba")
    vocabulary = Vocabulary.from_file(SHIPPED_VOCABULARY)
    return PairMaker(noise_from(table, vocabulary, leaks), vocabulary, leaks, clean=clean)


def _table(data: Path | None) -> DataTable:
    need_installed("yaml")
    return DataTable.read(data or data_folder())


def _watched(pairs: "Iterator[Pair]", total: int) -> "Iterator[Pair]":
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    shown = track(
        pairs, "making pairs", total=total, console=console, disable=not console.is_terminal, transient=True
    )
    yield from shown
