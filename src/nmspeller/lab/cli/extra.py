"""What the commands need of the `train` extra."""

from importlib.util import find_spec

from nmspeller.errors import InputError


def need_installed(*modules: str) -> None:
    """Check that modules of the `train` extra are installed.

    Raises:
        InputError: one is not.
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise InputError(f"this needs {', '.join(missing)}; install it with `pip install nmspeller[train]`.")


def need_training() -> None:
    """The same for all that training needs."""
    need_installed("torch", "safetensors", "yaml")
