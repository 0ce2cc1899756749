"""`nmspeller check`"""

from nmspeller.errors import InputError


def check() -> None:
    """Find and correct spelling errors in files, folders, standard input or a text."""
    raise InputError("`check` is not built yet.")
