"""The tables shipped with this package; scripts/build_knowledge.py writes them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def load(name: str) -> dict[str, NDArray[Any]]:
    """The arrays of one shipped file, by name."""
    with np.load(Path(__file__).with_name(name)) as arrays:
        return {key: arrays[key] for key in arrays.files}
