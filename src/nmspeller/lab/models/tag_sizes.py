"""The sizes of the network of tags; no torch, so that exporters read them too."""

import math

from nmspeller.lab.models.config import EncoderConfig

KINDS = 3
"""The tags: extra, missing before, and to be swapped with the next."""
NEIGHBOURS = 2
"""How far a convolution sees on either side."""
BLOCKS = 2
LIKELIHOODS = 4
"""Log-probabilities that are read at each position: of its character, the next, the previous, the best."""
LEAST_PROBABILITY = 1e-6
"""Of smaller ones the logarithm of this is read."""


def states_read(layers: int) -> tuple[int, ...]:
    """The layers, of so many, whose states are read: a quarter, half, three quarters of the way, the last."""
    return tuple(math.ceil(layers * quarter / 4) for quarter in range(1, 5))


def tag_width(hidden: int) -> int:
    """The width of the network beside an encoder of this width."""
    return hidden // 4


def tag_shapes(encoder: EncoderConfig) -> dict[str, tuple[int, ...]]:
    """The shape of every weight of the network beside such an encoder, by name."""
    width = tag_width(encoder.hidden)
    dense = {
        "states": (width, len(states_read(encoder.layers)) * encoder.hidden),
        "likelihoods": (width, LIKELIHOODS),
        "output": (KINDS, width),
    }
    norms = ["norm", "output_norm"]
    for block in (f"blocks.{number}" for number in range(BLOCKS)):
        dense[f"{block}.neighbours"] = (2 * width, (2 * NEIGHBOURS + 1) * width)
        dense[f"{block}.out"] = (width, 2 * width)
        norms.append(f"{block}.norm")
    found: dict[str, tuple[int, ...]] = {}
    for name, shape in dense.items():
        found |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        found |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
    return found
