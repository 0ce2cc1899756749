"""`nmspeller data prepare` and `nmspeller data noise`"""

from nmspeller.errors import InputError


def prepare() -> None:
    """Write what training needs as compact arrays."""
    raise InputError("`data prepare` is not built yet.")


def noise() -> None:
    """Make training pairs from clean text."""
    raise InputError("`data noise` is not built yet.")
