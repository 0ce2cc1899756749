"""`nmspeller check`"""

import io
import sys
from enum import Enum
from pathlib import Path

import typer

from nmspeller.apps.cli.options import MODEL, PREFILTER, QUICK, WORDS, Level, wants_prefilter
from nmspeller.errors import InputError
from nmspeller.messages import N_, _


class Format(str, Enum):
    """How a file is read."""

    auto = "auto"
    text = "text"
    markdown = "markdown"
    html = "html"
    srt = "srt"
    docx = "docx"
    odt = "odt"
    odp = "odp"
    pptx = "pptx"
    latex = "latex"
    rst = "rst"
    code = "code"


class Encoding(str, Enum):
    """How a file's bytes are read."""

    auto = "auto"
    utf8 = "utf-8"
    gb18030 = "gb18030"
    big5 = "big5"
    utf16 = "utf-16"


class OutputFormat(str, Enum):
    """How findings are reported."""

    auto = "auto"
    terminal = "terminal"
    plain = "plain"
    json = "json"
    github = "github"
    sarif = "sarif"


def check(
    files: list[str] = typer.Argument(
        None,
        metavar="FILE",
        help="Files, folders or patterns; - is standard input.",
        show_default=False,
    ),
    text: str = typer.Option(
        None, "--text", "-t", metavar="TEXT", help="Check this text instead of files.", show_default=False
    ),
    fix: bool = typer.Option(
        False, "--fix", help="Correct the files in place; print corrected input otherwise."
    ),
    backup: bool = typer.Option(
        False, "--backup", help="With --fix, keep each original beside it as NAME.bak."
    ),
    track: bool = typer.Option(
        False,
        "--track",
        help=N_("With --fix, write tracked changes with comments into Word documents (.docx)."),
    ),
    diff: bool = typer.Option(False, "--diff", help="Print a unified diff of the corrections."),
    json: bool = typer.Option(
        False, "--json", help="Print one JSON object per file, the same as --output-format json."
    ),
    output_format: OutputFormat = typer.Option(
        OutputFormat.auto, "--output-format", "-o", help="auto is terminal on a terminal and plain in a pipe."
    ),
    level: Level = typer.Option(
        None, "--level", "-l", help="How much is reported.  [default: balanced]", show_default=False
    ),
    words: list[Path] = WORDS,
    replacements: list[Path] = typer.Option(
        None,
        "--replacements",
        "-r",
        help="A file of wrong<TAB>right lines, always corrected.",
        show_default=False,
    ),
    model: Path = MODEL,
    prefilter: bool = PREFILTER,
    quick: bool = QUICK,
    rules: bool = typer.Option(
        False, "--rules", help="Also apply rules: idioms, doubled characters, punctuation, spaces."
    ),
    format: Format = typer.Option(
        Format.auto, "--format", "-f", help="Only prose is checked; auto chooses by the file name."
    ),
    encoding: Encoding = typer.Option(
        Encoding.auto, "--encoding", help="auto distinguishes UTF-8, GB18030 and Big5."
    ),
) -> None:
    """Find and correct spelling errors in files, folders, standard input or a text.

    Exits with 0 when nothing was found, 1 when something was (corrected or not), 2 when an input could not be
    checked. Settings are read from the nearest .nmspeller.toml above each file.
    """
    if bool(files) == (text is not None):
        raise InputError("Name files or folders, or - for standard input, or give --text TEXT.")
    if backup and not fix:
        raise InputError("--backup goes with --fix.")
    if track and not fix:
        raise InputError(_("--track goes with --fix."))
    if fix and diff:
        raise InputError("--fix and --diff do not go together; --diff shows what --fix would do.")
    if (json and diff) or ((json or diff) and output_format is not OutputFormat.auto):
        raise InputError("Choose one of --json, --diff and --output-format.")
    if fix and (text is not None or "-" in files) and (json or output_format is not OutputFormat.auto):
        raise InputError(
            "With - or --text, --fix prints the corrected text alone; leave out --json and --output-format."
        )
    from nmspeller.apps.cli.checking import Job

    if isinstance(sys.stdout, io.TextIOWrapper):
        # Chinese must be printed in any locale, and file names as they are on disk.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    name = "json" if json else "diff" if diff else output_format.value
    if name == "auto":
        name = "terminal" if sys.stdout.isatty() else "plain"
    job = Job(
        report_name=name,
        fix=fix,
        backup=backup,
        track=track,
        level=level.value if level else None,
        words=tuple(words or ()),
        replacements=tuple(replacements or ()),
        model=model,
        prefilter=wants_prefilter(prefilter, quick),
        rules=rules,
        format=format.value,
        encoding=encoding.value,
    )
    raise typer.Exit(job.run(files or [], text))
