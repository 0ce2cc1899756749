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


HELP = N_(
    "Find and correct spelling errors in files, folders, standard input or a text.\n\n"
    "Exits with 0 when nothing was found, 1 when something was (corrected or not), 2 when an input could not "
    "be checked. Settings are read from the nearest .nmspeller.toml above each file."
)


def check(
    files: list[str] = typer.Argument(
        None,
        metavar="FILE",
        help=N_("Files, folders or patterns; - is standard input."),
        show_default=False,
    ),
    text: str = typer.Option(
        None, "--text", "-t", metavar="TEXT", help=N_("Check this text instead of files."), show_default=False
    ),
    fix: bool = typer.Option(
        False, "--fix", help=N_("Correct the files in place; print corrected input otherwise.")
    ),
    review: bool = typer.Option(
        False, "--review", help=N_("Ask about each finding in the terminal, then correct the files.")
    ),
    backup: bool = typer.Option(
        False, "--backup", help=N_("With --fix or --review, keep each original beside it as NAME.bak.")
    ),
    diff: bool = typer.Option(False, "--diff", help=N_("Print a unified diff of the corrections.")),
    baseline: Path = typer.Option(
        None,
        "--baseline",
        metavar="FILE",
        help=N_("A file of known findings; only new ones are reported and corrected."),
        show_default=False,
    ),
    update_baseline: bool = typer.Option(
        False, "--update-baseline", help=N_("Write all findings of these files to the baseline.")
    ),
    track: bool = typer.Option(
        False,
        "--track",
        help=N_("With --fix, write tracked changes with comments into Word documents (.docx)."),
    ),
    force: bool = typer.Option(
        False,
        "--force",
        help=N_("With --fix, also correct documents with a digital signature, which becomes invalid."),
    ),
    json: bool = typer.Option(
        False, "--json", help=N_("Print one JSON object per file, the same as --output-format json.")
    ),
    output_format: OutputFormat = typer.Option(
        OutputFormat.auto,
        "--output-format",
        "-o",
        help=N_("auto is terminal on a terminal and plain in a pipe."),
    ),
    explain: bool = typer.Option(
        False,
        "--explain",
        help=N_("Explain each finding: how the characters sound and look, what word fits."),
    ),
    level: Level = typer.Option(
        None, "--level", "-l", help=N_("How much is reported.  [default: balanced]"), show_default=False
    ),
    words: list[Path] = WORDS,
    replacements: list[Path] = typer.Option(
        None,
        "--replacements",
        "-r",
        help=N_("A file of wrong<TAB>right lines, always corrected."),
        show_default=False,
    ),
    model: Path = MODEL,
    prefilter: bool = PREFILTER,
    quick: bool = QUICK,
    rules: bool = typer.Option(
        None,
        "--rules/--no-rules",
        help=N_("Also apply rules: idioms, doubled characters, punctuation, spaces."),
        show_default=False,
    ),
    format: Format = typer.Option(
        Format.auto, "--format", "-f", help=N_("Only prose is checked; auto chooses by the file name.")
    ),
    encoding: Encoding = typer.Option(
        Encoding.auto, "--encoding", help=N_("auto distinguishes UTF-8, GB18030 and Big5.")
    ),
) -> None:
    """Check what the options are combined for, or say why they do not go together."""
    if bool(files) == (text is not None):
        raise InputError(_("Give files or folders, - for standard input, or --text TEXT."))
    if backup and not (fix or review):
        raise InputError(_("--backup needs --fix or --review."))
    if track and not fix:
        raise InputError(_("--track needs --fix."))
    if force and not fix:
        raise InputError(_("--force needs --fix."))
    if review and (fix or diff or json or output_format is not OutputFormat.auto):
        raise InputError(_("--review shows the findings itself; leave out --fix, --diff and output formats."))
    if review and (text is not None or "-" in files):
        raise InputError(_("--review works only with files; give at least one."))
    if fix and diff:
        raise InputError(_("--fix and --diff cannot be combined; --diff shows what --fix would do."))
    if (json and diff) or ((json or diff) and output_format is not OutputFormat.auto):
        raise InputError(_("Choose one of --json, --diff and --output-format."))
    if fix and (text is not None or "-" in files) and (json or output_format is not OutputFormat.auto):
        raise InputError(
            _(
                "With - or --text, --fix prints the corrected text alone; "
                "leave out --json and --output-format."
            )
        )
    if explain and (diff or (fix and (text is not None or "-" in files))):
        raise InputError(_("--explain cannot be combined with --diff, or with --fix on - or --text."))
    if baseline and (text is not None or "-" in files):
        raise InputError(_("--baseline works only with files; give at least one."))
    if update_baseline and not baseline:
        raise InputError(_("--update-baseline needs a file: --baseline FILE --update-baseline."))
    if update_baseline and (fix or review or diff or json or output_format is not OutputFormat.auto):
        raise InputError(
            _("--update-baseline reports nothing; leave out --fix, --review, --diff and output formats.")
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
        explain=explain,
        backup=backup,
        track=track,
        force=force,
        level=level.value if level else None,
        words=tuple(words or ()),
        replacements=tuple(replacements or ()),
        model=model,
        prefilter=wants_prefilter(prefilter, quick),
        rules=rules,
        format=format.value,
        encoding=encoding.value,
        update_baseline=update_baseline,
    )
    if baseline:
        job.read_baseline(baseline)
    raise typer.Exit(job.review(files) if review else job.run(files or [], text))
