"""`nmspeller evaluate`"""

from nmspeller.errors import InputError


def evaluate() -> None:
    """Measure a speller on a file of sentence pairs."""
    raise InputError("`evaluate` is not built yet.")
