"""`nmspeller review`"""

import io
import sys
from pathlib import Path

import typer

from nmspeller.apps.cli import options
from nmspeller.apps.cli.conflicts import Excludes, Needs, require
from nmspeller.apps.cli.options import EncodingOption, FormatOption
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.policy import Level

HELP = N_(
    "Decide on each finding in the terminal, then correct the files.\n\n"
    "A file is written when all its findings are decided. To continue a review that you quit, run the same "
    "command. The exit code is that of `check`."
)
_CONFLICTS = (
    Excludes(("review",), ("-",)),
    options.ONE_CHOICE_OF_RULES,
    Needs("--author", ("--track",)),
)


def review(
    context: typer.Context,
    files: list[str] = typer.Argument(
        None, metavar="FILE", help=N_("Files, folders or patterns."), show_default=False
    ),
    format: FormatOption = options.FORMAT,
    encoding: EncodingOption = options.ENCODING,
    strings: bool = options.STRINGS,
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
) -> None:
    """Ask about each finding of the files."""
    require(context, _CONFLICTS)
    chosen_rules = options.chosen_rules(rules, none=no_rules, default=None)
    # Not left to typer: where the only file is taken for rules, a wrong rule is what the user has to know of.
    if not files:
        raise InputError(_("Give files or folders."))
    from nmspeller.apps.baseline import Baseline
    from nmspeller.apps.cli.job import CheckJob
    from nmspeller.apps.cli.reviewing import review as review_files

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
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
        job.baseline = Baseline.read(baseline)
    raise typer.Exit(review_files(job, files))
