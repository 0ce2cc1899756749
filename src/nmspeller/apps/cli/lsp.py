"""`nmspeller lsp`"""

from nmspeller.errors import InputError


def lsp() -> None:
    """Serve the speller to editors over the Language Server Protocol."""
    raise InputError("`lsp` is not built yet.")
