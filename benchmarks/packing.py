"""A speller in few bytes.

What is fake-quantised becomes int8 rows with a scale each, exactly what its export will hold; other matrices
are halved to float16, whose rounding is far below that of an export.

The bytes are cut into parts, compressed one by one, so that each is small enough to be copied by itself.
"""

import lzma
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.export.quantisation import InputQuantisation, Int8Weights
from nmspeller.lab.export.weights import OUTPUT, TABLE, Weights

_INT8, _SCALES = ".int8", ".row_scale"


def pack(weights: Weights, folder: Path, name: str, *, parts: int = 8) -> list[Path]:
    """Write the weights of a speller as NAME.0.xz, NAME.1.xz, …"""
    from safetensors.numpy import save

    tensors: dict[str, NDArray[Any]] = {}
    rounded = f"{OUTPUT}.scale" in weights
    for key, array in weights.items():
        inputs = f"{key.removesuffix('.weight')}.scale"
        if inputs in weights or (rounded and key == TABLE):
            layer = Int8Weights.of(array, None if key == TABLE else InputQuantisation(weights[inputs], 0))
            tensors[key + _INT8], tensors[key + _SCALES] = layer.weights, layer.scales
        else:
            halved = array.ndim == 2 and not rounded
            tensors[key] = array.astype(np.float16 if halved else np.float32)
    content = save({key: np.array(array, order="C") for key, array in tensors.items()})
    folder.mkdir(parents=True, exist_ok=True)
    return write_parts(content, folder, name, parts=parts)


def unpack(paths: Sequence[Path]) -> Weights:
    """What `pack` was given, from its parts in order."""
    from safetensors.numpy import load

    tensors = load(read_parts(paths))
    weights: Weights = {}
    for key, array in tensors.items():
        if key.endswith(_INT8):
            name = key.removesuffix(_INT8)
            rows = array.astype(np.float32) * tensors[name + _SCALES][:, None]
            inputs = f"{name.removesuffix('.weight')}.scale"
            weights[name] = rows if name == TABLE else rows / tensors[inputs]
        elif not key.endswith(_SCALES):
            weights[key] = array.astype(np.float32)
    return weights


def write_parts(content: bytes, folder: Path, name: str, *, parts: int) -> list[Path]:
    """Bytes as compressed parts of about equal size."""
    size = -(-len(content) // parts)
    cut = [content[first : first + size] for first in range(0, len(content), size)]
    with ProcessPoolExecutor() as pool:
        compressed = list(pool.map(_compress, cut))
    paths = [folder / f"{name}.{number}.xz" for number in range(len(compressed))]
    for path, part in zip(paths, compressed, strict=True):
        path.write_bytes(part)
    return paths


def read_parts(paths: Sequence[Path]) -> bytes:
    """The bytes that `write_parts` was given."""
    with ProcessPoolExecutor() as pool:
        return b"".join(pool.map(_decompress, [path.read_bytes() for path in paths]))


def _compress(content: bytes) -> bytes:
    return lzma.compress(content, preset=1)


def _decompress(content: bytes) -> bytes:
    return lzma.decompress(content)
