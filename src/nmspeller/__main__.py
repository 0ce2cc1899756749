"""The command line: the product's commands, and the laboratory's behind `nmspeller lab`.

Exit codes are a contract: 0 clean, 1 findings, 2 bad usage or input. Errors are one sentence on stderr.
"""

import io
import os
import sys
from contextvars import Context
from copy import copy
from typing import Any

import typer

from nmspeller import __version__
from nmspeller.apps.cli import batch, check, lsp, review, serve
from nmspeller.apps.cli.localized import language_of_arguments, localize, said
from nmspeller.apps.cli.options import LANG, LanguageOption
from nmspeller.apps.cli.panels import PanelCommand
from nmspeller.errors import InputError
from nmspeller.files import reason
from nmspeller.lab import cli as lab
from nmspeller.lab.cli import bench, evaluate
from nmspeller.messages import N_, _, language, language_of_environment, speak, suggest

# Typer carries its own copy of Click from 0.26 on; the base of what it exports is the same in both worlds.
_UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="nmspeller",
    help=N_("A Chinese spell checker that understands context, and the laboratory that trained it."),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"nmspeller {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help=N_("Print the version.")
    ),
    lang: LanguageOption = LANG,
) -> None:
    pass


_PRODUCT = ("check", "review", "serve", "lsp", "batch")
app.command("check", help=check.HELP, cls=PanelCommand)(check.check)
app.command("review", help=review.HELP, cls=PanelCommand)(review.review)
app.command("serve", help=serve.HELP, cls=PanelCommand)(serve.serve)
app.command("lsp", help=lsp.HELP, cls=PanelCommand)(lsp.lsp)
app.command("batch", help=batch.HELP, cls=PanelCommand)(batch.batch)
app.command("evaluate")(evaluate.evaluate)
app.command("bench")(bench.check)
app.add_typer(lab.app, name="lab")
# The laboratory speaks English; these are for the list of commands.
_SUMMARIES = {
    "evaluate": N_("Measure a speller on sentence pairs or the test of a bake-off."),
    "bench": N_("Measure how many sentences are checked in a second."),
    "lab": N_("Prepare data, train, run the paper's experiments, export."),
}


def main() -> None:
    """Run the command line and exit with its code."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # A stream that the caller closed is None; nobody wants what would be written there.
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; whatever the user did wrong is said in one sentence."""
    # The language begins and ends with the command.
    return Context().run(_run, arguments)


def _run(arguments: list[str]) -> int:
    suggest(language_of_environment())
    if asked := language_of_arguments(arguments):
        speak(asked)
    if language() != "en" and isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show Chinese shows question marks.
        sys.stdout.reconfigure(errors="replace")
    try:
        code = _command()(arguments, standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            return 2
        # How pydantic, through typer, begins what it says of any value.
        return _fail(said(error.format_message().replace(": Value error, ", ": ")))
    except InputError as error:
        return _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _fail(_("interrupted."), code=130)
    except BrokenPipeError:
        # The reader went away (`| head`); nothing is wrong, but Python must not complain on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # A folder that may not be written, a file where a folder should be, a full disk: nobody's bug.
        return _fail(
            _("{file} cannot be used: {reason}; choose another location or free some disk space.").format(
                file=error.filename or _("a file"), reason=reason(error)
            )
        )


def _command() -> Any:
    """The whole command line, in the present language."""
    root: Any = typer.main.get_command(app)
    lang = next(parameter for parameter in root.params if parameter.name == "lang")
    for name, command in root.commands.items():
        if name != "lab":
            # A copy, because `localize` translates it and the laboratory's help stays English.
            command.params.append(copy(lang))
        if name in _PRODUCT:
            localize(command)
        else:
            command.short_help = _(_SUMMARIES[name])
    localize(root)
    return root


def _fail(sentence: str, code: int = 2) -> int:
    print(f"nmspeller: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
