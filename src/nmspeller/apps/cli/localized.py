"""Typer's help and its errors in the user's language.

Typer and Click say a few things of their own, which only parts of them look up in a catalogue. They are
translated here, by their templates, so that nothing is half translated; a text that matches none is kept.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile
from typing import Any

import typer
from rich.cells import cell_len

from nmspeller.messages import LANGUAGES, N_, _, language
from nmspeller.text.patterns import lazy_pattern

# The longer of two templates that begin in the same way goes first.
_SAID = (
    N_("No such option: {option} (Possible options: {options})"),
    N_("No such option: {option} Did you mean {options}?"),
    N_("No such option: {option}"),
    N_("No such command {command}. Did you mean {others}?"),
    N_("No such command {command}."),
    N_("Missing command."),
    N_("Missing argument {name}."),
    N_("Missing option {name}."),
    N_("Missing parameter: {name}"),
    N_("Invalid value for {name}: {problem}"),
    N_("Option {option} requires an argument."),
    N_("Option {option} does not take a value."),
    N_("Got unexpected extra argument(s) ({arguments})"),
    N_("Got unexpected extra argument ({arguments})"),
    N_("Got unexpected extra arguments ({arguments})"),
    N_("{value} is not one of {choices}."),
    N_("{value} is not in the range {range}."),
    N_("{value} is not a valid integer."),
    N_("{value} is not a valid float."),
    N_("Input should be a valid integer, unable to parse string as an integer"),
    N_("Input should be a valid number, unable to parse string as a number"),
    N_("Input should be greater than or equal to {least}"),
    N_("Input should be less than or equal to {most}"),
    N_("Show this message and exit."),
    N_("Install completion for the current shell."),
    N_("Show completion for the current shell, to copy it or customize the installation."),
    N_("Arguments"),
    N_("Options"),
    N_("Commands"),
    N_("default: {value}"),
    N_("env var: {name}"),
    N_("required"),
)
_PLACEHOLDERS = (
    N_("OPTIONS"),
    N_("COMMAND"),
    N_("ARGS"),
    N_("FILE"),
    N_("FOLDER"),
    N_("INPUT"),
    N_("OUTPUT"),
    N_("TEXT"),
    N_("NAME"),
    N_("PATH"),
    N_("INTEGER RANGE"),
    N_("INTEGER"),
    N_("FLOAT RANGE"),
    N_("FLOAT"),
    N_("<path>"),
    N_("<list[Path]>"),
    N_("<list[str]>"),
    N_("<str>"),
    N_("<int>"),
    N_("<int range>"),
    N_("<float>"),
    N_("<float range>"),
)
_PLACEHOLDER = lazy_pattern("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in _PLACEHOLDERS))
# What may not be torn apart: a Latin word or a Chinese character, with the punctuation after it.
_UNBREAKABLE = lazy_pattern(r"(?:[!-~]+|\S)[，。；：、！？）》」』”’]*\s*")


def language_of_arguments(arguments: Sequence[str]) -> str | None:
    """The language that `--lang` asks for, anywhere on a command line; None if there is no such language."""
    options = takewhile(lambda one: one != "--", arguments)
    for option in options:
        name, equals, value = option.partition("=")
        if name == "--lang":
            asked = value if equals else next(options, "")
            return asked if asked in LANGUAGES else None
    return None


def said(text: str) -> str:
    """A text of Typer or Click in the present language."""
    for template in _SAID:
        if match := _pattern(template).fullmatch(text):
            fields = match.groupdict()
            if "problem" in fields:
                fields["problem"] = said(fields["problem"])
            if "name" in fields:
                fields["name"] = _with_placeholders(fields["name"])
            return _(template).format(**fields)
    return text


@cache
def _pattern(template: str) -> re.Pattern[str]:
    literal = re.escape(template)
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", literal), re.DOTALL)


def localize(command: Any) -> None:
    """Put the help of a command, but not of its subcommands, into the present language."""
    if language() == "en":
        return
    command.help = command.help and _(command.help)
    command.short_help = (command.help or "").split("\n\n")[0]
    command.context_class = _Context
    for parameter in command.params:
        parameter.help = parameter.help and _(parameter.help)


class _Formatter(typer.Context.formatter_class):  # type: ignore[misc, valid-type]
    """Formats help with headings in the present language, and counts a Chinese character as two columns."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, _with_placeholders(args), prefix or _("Usage: "))

    def write_heading(self, heading: str) -> None:
        self.write(" " * self.current_indent + _("{heading}:").format(heading=said(heading)) + "\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = (
            "\n".join(indent + line for line in _lines(paragraph, self.width - self.current_indent))
            for paragraph in text.split("\n\n")
        )
        self.write("\n\n".join(paragraphs) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        shown = [(_with_placeholders(first), _with_notes(second)) for first, second in rows]
        column = min(max(cell_len(first) for first, _second in shown), col_max) + col_spacing
        indent = " " * self.current_indent
        for first, second in shown:
            margin = indent + " " * column
            room = column - cell_len(first)
            start = indent + first + (" " * room if room >= col_spacing else "\n" + margin)
            lines = _lines(second, max(self.width - column - self.current_indent, 10))
            self.write(start + f"\n{margin}".join(lines) + "\n")


class _Context(typer.Context):
    formatter_class = _Formatter


def _with_placeholders(text: str) -> str:
    return _PLACEHOLDER.sub(lambda word: _(word[0]), text)


def _with_notes(text: str) -> str:
    """The help of an option, with what Typer adds in brackets."""
    help, bracket, notes = text.rpartition("[")
    if not bracket or not notes.endswith("]"):
        return said(text)
    separator = _("; ")
    return f"{said(help)}[{separator.join(said(note) for note in notes[:-1].split('; '))}]"


def _lines(text: str, width: int) -> Sequence[str]:
    """The text in lines of at most `width` cells, cut between words and Chinese characters."""
    lines = [""]
    for word in _UNBREAKABLE.findall(" ".join(text.split())):
        if lines[-1] and cell_len(lines[-1] + word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]
