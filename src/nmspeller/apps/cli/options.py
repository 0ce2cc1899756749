"""Options that several commands share."""

from enum import Enum
from typing import Any, TypeVar

import typer

from nmspeller.apps.cli.conflicts import Excludes
from nmspeller.messages import N_

# The groups in which help lists the options.
INPUT = N_("Input")
OUTPUT = N_("Output")
CORRECTING = N_("Correcting")
FINDINGS = N_("What is found")
KNOWN = N_("Known findings")

Default = TypeVar("Default")


class LanguageOption(str, Enum):
    """What people read; the keys and values of JSON stay English."""

    en = "en"
    zh = "zh"


class DeviceOption(str, Enum):
    """What the model runs on."""

    cpu = "cpu"
    cuda = "cuda"


class FormatOption(str, Enum):
    """How a file is read."""

    auto = "auto"
    text = "text"
    markdown = "markdown"
    mdx = "mdx"
    html = "html"
    srt = "srt"
    docx = "docx"
    odt = "odt"
    odp = "odp"
    pptx = "pptx"
    epub = "epub"
    latex = "latex"
    rst = "rst"
    git_commit = "git-commit"
    asciidoc = "asciidoc"
    org = "org"
    typst = "typst"
    ipynb = "ipynb"
    json = "json"
    yaml = "yaml"
    po = "po"
    properties = "properties"
    strings = "strings"
    xml = "xml"
    vue = "vue"
    xlsx = "xlsx"
    code = "code"


class EncodingOption(str, Enum):
    """How a file's bytes are read."""

    auto = "auto"
    utf8 = "utf-8"
    gb18030 = "gb18030"
    big5 = "big5"
    utf16 = "utf-16"


def _optional(*names: str, panel: str, help: str, **settings: Any) -> Any:
    """An option that is None unless it is given."""
    return typer.Option(None, *names, rich_help_panel=panel, help=help, show_default=False, **settings)


def flag(name: str, panel: str, help: str) -> Any:
    """An option that is given or not."""
    return typer.Option(False, name, rich_help_panel=panel, help=help)


LANG = typer.Option(
    None,
    "--lang",
    # `nmspeller.__main__` has read it by then: help and errors come before any command.
    expose_value=False,
    help=N_("Language of messages, reports and help; by default the language of the environment."),
    show_default=False,
)
FORMAT = typer.Option(
    FormatOption.auto,
    "--format",
    "-f",
    metavar="<auto|text|markdown|…>",  # all of them take more than a line; a wrong one lists them
    rich_help_panel=INPUT,
    help=N_("Only prose is checked; auto chooses by the file name."),
)
ENCODING = typer.Option(
    EncodingOption.auto,
    "--encoding",
    rich_help_panel=INPUT,
    help=N_("auto distinguishes UTF-8, GB18030 and Big5."),
)
STRINGS = flag("--strings", INPUT, N_("Check the strings of programs, too, not only their comments."))
OTHERS = flag(
    "--others",
    CORRECTING,
    N_("Also change comments of other people and, in Word documents, their tracked insertions."),
)
FORCE = flag(
    "--force",
    CORRECTING,
    N_("Also correct documents with a digital signature, which becomes invalid."),
)
BACKUP = flag("--backup", CORRECTING, N_("Keep each original beside the corrected file as NAME.bak."))
TRACK = flag(
    "--track", CORRECTING, N_("Write tracked changes with explanations into Word documents (.docx).")
)
AUTHOR = _optional(
    "--author",
    panel=CORRECTING,
    metavar="NAME",
    help=N_("The author of tracked changes.  [default: nmspeller]"),
)
LEVEL = _optional("--level", "-l", panel=FINDINGS, help=N_("How much is reported.  [default: balanced]"))
WORDS = _optional(
    "--words",
    "-w",
    panel=FINDINGS,
    metavar="FILE",
    help=N_("A file of words that are correct, one per line; may be repeated."),
)
REPLACEMENTS = _optional(
    "--replacements",
    "-r",
    panel=FINDINGS,
    metavar="FILE",
    help=N_("A file of wrong<TAB>right lines, always corrected."),
)
RULES = _optional(
    "--rules",
    panel=FINDINGS,
    metavar="NAMES",
    help=N_(
        "Rules beside the model: ids and groups (spelling, typography), separated by commas.  "
        "[default: spelling]"
    ),
)
NO_RULES = flag("--no-rules", FINDINGS, N_("Apply no rules, only the model and your own lists."))
ONE_CHOICE_OF_RULES = Excludes(("--rules",), ("--no-rules",))


def chosen_rules(names: str | None, *, none: bool, default: Default) -> tuple[str, ...] | Default:
    """The rules and groups that the two options ask for; the default if neither is given."""
    if none or names is None:
        return () if none else default
    from nmspeller.runtime.rule_matches import named_rules

    return named_rules(names)


PREFILTER = flag(
    "--prefilter",
    FINDINGS,
    N_("Read only sentences that a small model expects an error in: faster, but a few errors are missed."),
)
MODEL = _optional(
    "--model", panel=FINDINGS, metavar="FOLDER", help=N_("A model folder instead of the shipped model.")
)
BASELINE = _optional(
    "--baseline",
    panel=KNOWN,
    metavar="FILE",
    help=N_("A file of known findings; only new ones are reported and corrected."),
)
