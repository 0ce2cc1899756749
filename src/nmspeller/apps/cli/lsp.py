"""`nmspeller lsp`"""

import typer

from nmspeller.apps.cli.options import PREFILTER
from nmspeller.errors import InputError
from nmspeller.messages import N_, _

HELP = N_(
    "Serve the speller to editors over the Language Server Protocol, on standard input and output.\n\n"
    "An editor starts this command by itself. Exits with 0 after the protocol's shutdown, with 1 when the "
    "editor disconnected without it."
)


def lsp(
    stdio: bool = typer.Option(
        True,
        "--stdio",
        help=N_("The only transport; accepted because some editors pass it."),
        show_default=False,
    ),
    prefilter: bool = PREFILTER,
) -> None:
    """Run the language server until its editor ends it."""
    try:
        from nmspeller.apps.lsp.stdio import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        raise InputError(_("Install the language server first: pip install 'nmspeller[lsp]'.")) from missing
    from nmspeller.runtime.checker import open_checker

    raise typer.Exit(serve(open_checker, prefilter=prefilter))
