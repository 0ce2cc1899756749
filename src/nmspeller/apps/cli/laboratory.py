"""`nmspeller train`, `pretrain`, `experiment`: the laboratory, which needs the `train` extra."""

from nmspeller.errors import InputError


def train() -> None:
    """Train a speller from a config."""
    raise InputError("`train` is not built yet.")


def pretrain() -> None:
    """Pretrain an encoder from a config."""
    raise InputError("`pretrain` is not built yet.")


def experiment() -> None:
    """Run one of the paper's experiments."""
    raise InputError("`experiment` is not built yet.")
