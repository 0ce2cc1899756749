"""`nmspeller batch`"""

from nmspeller.errors import InputError


def batch() -> None:
    """Correct whole collections of files or tables."""
    raise InputError("`batch` is not built yet.")
