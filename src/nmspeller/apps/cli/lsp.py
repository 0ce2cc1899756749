"""`nmspeller lsp`"""

import typer

from nmspeller.apps.cli.options import PREFILTER
from nmspeller.errors import InputError


def lsp(
    stdio: bool = typer.Option(
        True, "--stdio", help="The only transport; accepted because some editors pass it.", show_default=False
    ),
    prefilter: bool = PREFILTER,
) -> None:
    """Serve the speller to editors over the Language Server Protocol, on standard input and output.

    An editor starts this command by itself. Exits with 0 after the protocol's shutdown, with 1 when the
    editor disconnected without it.
    """
    try:
        from nmspeller.apps.lsp.stdio import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        raise InputError("Install the language server first: pip install 'nmspeller[lsp]'.") from missing
    from nmspeller.runtime import Speller

    raise typer.Exit(serve(Speller, prefilter=prefilter))
