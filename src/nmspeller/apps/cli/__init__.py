"""The command line: one file a command, assembled here.

Exit codes are a contract: 0 clean, 1 findings, 2 bad usage or input. Errors are one sentence on stderr.
"""

import os
import sys
from typing import Any

import typer

from nmspeller import __version__
from nmspeller.apps.cli import batch, bench, check, data, evaluate, export, laboratory, lsp, serve
from nmspeller.errors import InputError

# Typer carries its own copy of Click from 0.26 on; the base of what it exports is the same in both worlds.
_UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="nmspeller",
    help="A Chinese spell checker that understands context, and the laboratory that trained it.",
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
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


app.command("check")(check.check)
app.command("evaluate")(evaluate.evaluate)
app.add_typer(data.app, name="data")
app.command("train")(laboratory.train)
app.command("pretrain")(laboratory.pretrain)
app.command("experiment")(laboratory.experiment)
app.command("average")(laboratory.average)
app.command("shorten")(laboratory.shorten)
app.command("export")(export.export)
app.command("glance")(export.glance)
app.command("reopen")(export.reopen)
app.command("round")(export.round_)
app.command("narrow")(export.narrow)
app.add_typer(bench.app, name="bench")
app.command("serve")(serve.serve)
app.command("lsp")(lsp.lsp)
app.command("batch")(batch.batch)


def main() -> None:
    """Run the command line and exit with its code."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # A stream that the caller closed is None; nobody wants what would be written there.
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; whatever the user did wrong is said in one sentence."""
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except _UsageError as wrong:
        if type(wrong).__name__ == "NoArgsIsHelpError":
            typer.echo(wrong.format_message())
            return 2
        # How pydantic, through typer, begins what it says of any value.
        return _refuse(wrong.format_message().replace(": Value error, ", ": "))
    except InputError as wrong:
        return _refuse(str(wrong))
    except (KeyboardInterrupt, typer.Abort):
        return _refuse("interrupted.", code=130)
    except BrokenPipeError:
        # The reader went away (`| head`); nothing is wrong, but Python must not complain on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as wrong:
        # A folder that may not be written, a file where a folder should be, a full disk: nobody's bug.
        return _refuse(
            f"{wrong.filename or 'a file'} cannot be used: {wrong.strerror or wrong}; "
            "give another place, or make room there."
        )


def _refuse(sentence: str, code: int = 2) -> int:
    print(f"nmspeller: {sentence}", file=sys.stderr)
    return code
