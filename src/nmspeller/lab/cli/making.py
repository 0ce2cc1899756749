"""`nmspeller lab data prepare`, `noise` and `mine`: training data from pairs and running text."""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmspeller.errors import InputError

if TYPE_CHECKING:
    from nmspeller.lab.data.pairs import Pair
    from nmspeller.lab.data.synthesis import PairMaker

SHIPPED_VOCABULARY = Path(__file__).resolve().parents[2] / "shipped" / "vocab.txt"


def prepare(
    out: Path = typer.Argument(..., metavar="OUT", help="The folder to write."),
    data: Path | None = typer.Option(None, help="The data folder; $NMSPELLER_DATA if not given."),
    vocab: Path = typer.Option(
        SHIPPED_VOCABULARY, show_default="the shipped model's", help="The vocab.txt of the model to train."
    ),
    corpus: bool = typer.Option(True, "--corpus/--no-corpus", help="Encode the corpus too (minutes)."),
) -> None:
    """Write all that training needs, beside torch and numpy, as compact arrays."""
    _need("pypinyin", "jieba")
    from nmspeller.lab.data.encode import prepare as write
    from nmspeller.lab.data.folder import data_folder
    from nmspeller.lab.models.character_features import character_tables
    from nmspeller.text.vocabulary import Vocabulary

    write(data or data_folder(), vocab, out, corpus=corpus, say=lambda line: typer.echo(line, err=True))
    character_tables(Vocabulary.from_file(vocab).tokens).save(out / "characters.npz")
    typer.echo(f"prepared {out}", err=True)


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
) -> None:
    """Make training pairs from clean text, with the errors that people and machines make.

    A sentence with errors has 1.41 of them in the mean, as in Wang271K. No sentence of the evaluation sets,
    nor a clause of one, is ever used, nor is the text that is held out for measuring pretraining (every 50th
    block of 30 lines).
    """
    if out != "-" and not pairs:
        raise InputError("pairs without end fit no file; give --pairs, or write to standard output.")
    made = _pair_maker(prepared, clean).pairs(corpus, seed)
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
    from nmspeller.lab.data.encode import noise_from
    from nmspeller.lab.data.folder import data_folder
    from nmspeller.lab.data.leak_filter import LeakFilter, evaluation_sentences
    from nmspeller.lab.data.prepared import Prepared
    from nmspeller.lab.data.synthesis import PairMaker
    from nmspeller.text.vocabulary import Vocabulary

    leaks = LeakFilter(evaluation_sentences(data_folder()))
    if prepared:
        known = Prepared(prepared)
        return PairMaker(known.noise, known.vocabulary, leaks, clean=clean)
    _need("pypinyin", "jieba")
    vocabulary = Vocabulary.from_file(SHIPPED_VOCABULARY)
    return PairMaker(noise_from(data_folder(), vocabulary, leaks), vocabulary, leaks, clean=clean)


def _watched(pairs: "Iterator[Pair]", total: int) -> "Iterator[Pair]":
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    shown = track(
        pairs, "making pairs", total=total, console=console, disable=not console.is_terminal, transient=True
    )
    yield from shown


def _need(*modules: str) -> None:
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise InputError(
            f"this needs {' and '.join(missing)}; install it with `pip install nmspeller[train]`."
        )
