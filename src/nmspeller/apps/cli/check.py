"""`nmspeller check`"""

import io
import sys
from enum import Enum
from pathlib import Path

import typer

from nmspeller.apps.cli import options
from nmspeller.apps.cli.conflicts import Excludes, Needs, require
from nmspeller.apps.cli.options import CORRECTING, INPUT, KNOWN, OUTPUT, EncodingOption, FormatOption, flag
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.policy import Level


class OutputFormat(str, Enum):
    """How findings are reported."""

    auto = "auto"
    terminal = "terminal"
    plain = "plain"
    diff = "diff"
    json = "json"
    github = "github"
    sarif = "sarif"
    html = "html"
    docx = "docx"
    csv = "csv"


HELP = N_(
    "Find and correct spelling errors in files, folders, standard input or a text.\n\n"
    "Exits with 0 when nothing was found, 1 when something was (corrected or not), 2 when an input could not "
    "be checked. Settings are read from the nearest .nmspeller.toml above each file."
)
_CONFLICTS = (
    Excludes(("--text",), ("FILE", "--encoding")),
    # Only the name of a file says that it is a program.
    Excludes(("--strings",), ("-", "--text")),
    options.ONE_CHOICE_OF_RULES,
    Needs("--backup", ("--fix",)),
    Needs("--force", ("--fix",)),
    Needs("--others", ("--fix",)),
    Needs("--track", ("--fix",)),
    Needs("--author", ("--track",)),
    Needs("--update-baseline", ("--baseline",)),
    Excludes(("--baseline",), ("-", "--text")),
    # It writes the baseline, and reports nothing.
    Excludes(("--update-baseline",), ("--fix", "--output-format", "--explain")),
    Excludes(("--output-format diff",), ("--fix", "--explain")),
    Needs("--output", ("--output-format html", "--output-format docx", "--output-format csv")),
    # The corrected text is printed, and nothing else.
    Excludes(("--fix", "-"), ("--output-format", "--explain")),
    Excludes(("--fix", "--text"), ("--output-format", "--explain", "--backup")),
)


def check(
    context: typer.Context,
    files: list[str] = typer.Argument(
        None,
        metavar="FILE",
        help=N_("Files, folders or patterns; - is standard input."),
        show_default=False,
    ),
    text: str = typer.Option(
        None,
        "--text",
        "-t",
        metavar="TEXT",
        rich_help_panel=INPUT,
        help=N_("Check this text instead of files."),
        show_default=False,
    ),
    format: FormatOption = options.FORMAT,
    encoding: EncodingOption = options.ENCODING,
    strings: bool = options.STRINGS,
    output_format: OutputFormat = typer.Option(
        OutputFormat.auto,
        "--output-format",
        "-o",
        rich_help_panel=OUTPUT,
        help=N_(
            "auto is terminal on a terminal and plain in a pipe; html, docx and csv are proofreading reports."
        ),
    ),
    output: Path = typer.Option(
        None,
        "--output",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help=N_("Write the proofreading report to this file."),
        show_default=False,
    ),
    explain: bool = flag(
        "--explain", OUTPUT, N_("Explain each finding: how the characters sound and look, what word fits.")
    ),
    fix: bool = flag("--fix", CORRECTING, N_("Correct the files in place; print corrected input otherwise.")),
    backup: bool = options.BACKUP,
    force: bool = options.FORCE,
    others: bool = options.OTHERS,
    track: bool = options.TRACK,
    author: str = options.AUTHOR,
    level: Level = options.LEVEL,
    words: list[Path] = options.WORDS,
    replacements: list[Path] = options.REPLACEMENTS,
    rules: str = options.RULES,
    no_rules: bool = options.NO_RULES,
    prefilter: bool = options.PREFILTER,
    model: Path = options.MODEL,
    baseline: Path = options.BASELINE,
    update_baseline: bool = flag(
        "--update-baseline", KNOWN, N_("Write all findings of these files to the baseline.")
    ),
) -> None:
    """Check what the options are combined for, or say why they do not go together."""
    require(context, _CONFLICTS)
    chosen_rules = options.chosen_rules(rules, none=no_rules, default=None)
    if not files and text is None:
        raise InputError(_("Give files or folders, - for standard input, or --text TEXT."))
    from nmspeller.apps.baseline import Baseline
    from nmspeller.apps.cli.checking import CheckCommand
    from nmspeller.apps.cli.job import CheckJob

    if isinstance(sys.stdout, io.TextIOWrapper):
        # Chinese must be printed in any locale, and file names as they are on disk.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    report = output_format.value
    if report == "auto":
        report = "terminal" if sys.stdout.isatty() else "plain"
    job = CheckJob(
        level=level.value if level else None,
        words=tuple(words or ()),
        replacements=tuple(replacements or ()),
        model=model,
        prefilter=prefilter,
        rules=chosen_rules,
        format=format.value,
        encoding=encoding.value,
        strings=strings,
        backup=backup,
        force=force,
        others=others,
        track=track,
        author=author,
    )
    if baseline:
        job.baseline = Baseline.read_or_new(baseline) if update_baseline else Baseline.read(baseline)
    call = CheckCommand(job, report, output, fix=fix, explain=explain, update_baseline=update_baseline)
    raise typer.Exit(call.run(files or [], text))
