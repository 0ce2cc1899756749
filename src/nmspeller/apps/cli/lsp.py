"""`nmspeller lsp`"""

import typer

from nmspeller.errors import InputError


def lsp() -> None:
    """Serve the speller to editors over the Language Server Protocol, on standard input and output.

    An editor starts this command by itself; docs/editors.md has a recipe for each.
    """
    try:
        from nmspeller.apps.lsp.stdio import serve
    except ModuleNotFoundError as missing:
        raise InputError("Install the language server first: pip install 'nmspeller[lsp]'.") from missing
    from nmspeller.runtime import Speller

    raise typer.Exit(serve(Speller))
