"""Edge features of bitmaps: the directions of edges and their approximate places.

Two characters that a reader or a blurred scan confuses (曰 日, 未 末, 在 茌) have nearly the same edges in
nearly the same places, even if they share no component and few pixels.
"""

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 8
BLUR_OF_INK = 1.0
BLUR_OF_EDGES = 2.0
CELL = 4

Images = NDArray[np.float32]


def _blur_matrix(size: int, sigma: float) -> Images:
    """A Gaussian blur of a row of `size` pixels as a matrix: (size, size)."""
    offsets = np.arange(size)[:, None] - np.arange(size)
    reach = int(3 * sigma + 0.5)
    kernel = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2)).sum()
    weights = np.exp(-(offsets**2) / (2 * sigma**2)) / kernel
    return np.where(np.abs(offsets) <= reach, weights, 0).astype(np.float32)


def _blurred(images: Images, sigma: float) -> Images:
    matrix = _blur_matrix(images.shape[-1], sigma)
    blurred: Images = matrix @ images @ matrix.T
    return blurred


def edge_features(bitmaps: NDArray[np.uint8]) -> Images:
    """How strong edges of each direction are around each cell of a bitmap.

    Args:
        bitmaps: (n, size, size) of 0 and 1.

    Returns:
        (n, DIRECTIONS * (size / CELL)²), each row of length 1, or 0 for a blank bitmap.
    """
    ink = np.pad(_blurred(bitmaps.astype(np.float32), BLUR_OF_INK), ((0, 0), (1, 1), (1, 1)))
    across = ink[:, 1:-1, 2:] - ink[:, 1:-1, :-2]
    down = ink[:, 2:, 1:-1] - ink[:, :-2, 1:-1]
    strength = np.hypot(across, down)
    direction = (np.arctan2(down, across) / (2 * np.pi) % 1) * DIRECTIONS
    cells = []
    for number in range(DIRECTIONS):
        distance = np.abs((direction - number + DIRECTIONS / 2) % DIRECTIONS - DIRECTIONS / 2)
        edges = _blurred(strength * np.clip(1 - distance, 0, None), BLUR_OF_EDGES)
        cells.append(edges[:, CELL // 2 :: CELL, CELL // 2 :: CELL].reshape(len(bitmaps), -1))
    # The square root keeps one long stroke from dominating.
    return unit_rows(np.sqrt(np.maximum(np.concatenate(cells, axis=1), 0)))


def unit_rows(features: Images) -> Images:
    """Each row scaled to length 1; a row of zeros stays so."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return (features / np.where(lengths > 0, lengths, 1)).astype(np.float32)
