"""`nmspeller serve`"""

from nmspeller.errors import InputError


def serve() -> None:
    """Serve the speller over HTTP, also to LanguageTool clients."""
    raise InputError("`serve` is not built yet.")
