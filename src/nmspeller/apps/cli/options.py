"""Options that several commands share."""

from enum import Enum

import typer


class Level(str, Enum):
    """How confident the speller must be of an edit."""

    careful = "careful"
    balanced = "balanced"
    thorough = "thorough"


class Device(str, Enum):
    """What the model runs on."""

    cpu = "cpu"
    cuda = "cuda"


MODEL = typer.Option(
    None, "--model", metavar="FOLDER", help="A model folder instead of the shipped model.", show_default=False
)
PREFILTER = typer.Option(
    False,
    "--prefilter",
    help="Read only sentences that a small model expects an error in: faster, but a few errors are missed.",
)
QUICK = typer.Option(False, "--quick", hidden=True, help="The old name of --prefilter; deprecated.")
WORDS = typer.Option(
    None,
    "--words",
    "-w",
    help="A file of words that are correct, one per line; may be repeated.",
    show_default=False,
)


def wants_prefilter(prefilter: bool, quick: bool) -> bool:
    """Whether either name of the option was given; the old one, to be removed in 0.3, with a hint."""
    if quick:
        typer.echo("nmspeller: `--quick` is now `--prefilter`.", err=True)
    return prefilter or quick
