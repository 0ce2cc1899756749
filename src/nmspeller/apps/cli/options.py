"""Options that several commands share."""

from enum import Enum

import typer

from nmspeller.messages import N_, _


class Level(str, Enum):
    """How confident the speller must be of an edit."""

    careful = "careful"
    balanced = "balanced"
    thorough = "thorough"


class Language(str, Enum):
    """What people read; the keys and values of JSON stay English."""

    en = "en"
    zh = "zh"


class Device(str, Enum):
    """What the model runs on."""

    cpu = "cpu"
    cuda = "cuda"


LANG = typer.Option(
    None,
    "--lang",
    # `nmspeller.__main__` has read it by then: help and errors come before any command.
    expose_value=False,
    help=N_("Language of messages, reports and help; by default the language of the environment."),
    show_default=False,
)
MODEL = typer.Option(
    None,
    "--model",
    metavar="FOLDER",
    help=N_("A model folder instead of the shipped model."),
    show_default=False,
)
PREFILTER = typer.Option(
    False,
    "--prefilter",
    help=N_(
        "Read only sentences that a small model expects an error in: faster, but a few errors are missed."
    ),
)
QUICK = typer.Option(False, "--quick", hidden=True, help=N_("The old name of --prefilter; deprecated."))
WORDS = typer.Option(
    None,
    "--words",
    "-w",
    help=N_("A file of words that are correct, one per line; may be repeated."),
    show_default=False,
)


def wants_prefilter(prefilter: bool, quick: bool) -> bool:
    """Whether either name of the option was given; the old one, to be removed in 0.3, with a hint."""
    if quick:
        renamed = _("`{old}` is now `{new}`.").format(old="--quick", new="--prefilter")
        typer.echo(f"nmspeller: {renamed}", err=True)
    return prefilter or quick
