"""`nmspeller lsp`"""

import typer

from nmspeller.errors import InputError


def lsp(
    stdio: bool = typer.Option(
        True, "--stdio", help="The only way there is; some editors insist on saying it.", show_default=False
    ),
) -> None:
    """Serve the speller to editors over the Language Server Protocol, on standard input and output.

    An editor starts this command by itself. Exits with 0 after the protocol's shutdown, with 1 when the
    editor just went away.
    """
    try:
        from nmspeller.apps.lsp.stdio import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        raise InputError("Install the language server first: pip install 'nmspeller[lsp]'.") from missing
    from nmspeller.runtime import Speller

    raise typer.Exit(serve(Speller))
