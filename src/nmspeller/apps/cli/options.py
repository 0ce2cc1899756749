"""The options that several commands have."""

from enum import Enum

import typer


class Level(str, Enum):
    """How sure the speller must be of an edit."""

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
    help="Pass over sentences that look right at a prefilter: faster, but a few findings are missed.",
)
WORDS = typer.Option(
    None,
    "--words",
    "-w",
    help="A file of words that are right, one a line; may be given again.",
    show_default=False,
)
