"""The tables shipped with this package; scripts/build_knowledge.py writes them."""

from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray


def load(name: str) -> dict[str, NDArray[Any]]:
    """The arrays of one shipped file, by name."""
    with resources.files("nmspeller.knowledge").joinpath(name).open("rb") as file, np.load(file) as arrays:
        return {key: arrays[key] for key in arrays.files}
