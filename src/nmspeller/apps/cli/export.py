"""`nmspeller export`"""

from nmspeller.errors import InputError


def export() -> None:
    """Turn a trained checkpoint into the ONNX folder that the speller loads."""
    raise InputError("`export` is not built yet.")
