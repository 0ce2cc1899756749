"""The option that says how the laboratory's commands print what they found."""

from enum import Enum

import typer


class OutputFormat(str, Enum):
    """How a result is printed."""

    text = "text"
    json = "json"


OUTPUT_FORMAT = typer.Option(
    OutputFormat.text,
    "--output-format",
    "-o",
    help="How the result is printed: for people, or as JSON.",
)
