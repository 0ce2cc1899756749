"""What an n-gram masking layer attends to: written by the export, read by whoever wants to show it.

The layer asks with [MASK] at every position and may not look at the characters of that position's window. A
speller that was trained without the layer shows how the layer would begin: as a copy of the first layer.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmspeller.data.files import write_whole
from nmspeller.runtime.engine import Floats
from nmspeller.runtime.weights import TABLE, Source

FILE = "masking.npz"
_POSITIONS = 64  # more than anybody wants to look at


class MaskingLayer(NamedTuple):
    """The layer's queries and what makes its keys."""

    queries: Floats  # (positions, hidden)
    key_weight: Floats  # (hidden, hidden), as in x @ w + b
    key_bias: Floats  # (hidden,)
    heads: int
    trained: bool

    @classmethod
    def of(cls, source: Source) -> "MaskingLayer":
        """The source's own layer, or a copy of its first."""
        own = source.masking
        prefix = "" if own else "semantic.layers.0."
        weights = own or source.weights
        hidden = source.encoder.hidden
        weight, bias = weights[f"{prefix}qkv.weight"], weights[f"{prefix}qkv.bias"]
        positions = source.weights["semantic.embeddings.positions.weight"][:_POSITIONS]
        asked = source.weights[TABLE][source.encoder.mask_id] + positions
        centred = asked - asked.mean(axis=1, keepdims=True)
        asked = centred / np.sqrt(centred.var(axis=1, keepdims=True) + source.encoder.norm_epsilon)
        norm = "semantic.embeddings.norm"
        asked = asked * source.weights[f"{norm}.weight"] + source.weights[f"{norm}.bias"]
        return cls(
            asked @ weight[:hidden].T + bias[:hidden],
            weight[hidden : 2 * hidden].T,
            bias[hidden : 2 * hidden],
            source.encoder.heads,
            bool(own),
        )

    def write(self, path: Path) -> None:
        """Write the arrays in half precision: they are for looking at."""
        arrays = {name: np.asarray(value) for name, value in self._asdict().items()}
        half = {name: each.astype(np.float16) if each.ndim else each for name, each in arrays.items()}
        content = BytesIO()
        np.savez_compressed(content, **half)  # type: ignore[arg-type]
        write_whole(path, content.getvalue())

    @classmethod
    def read(cls, path: Path) -> "MaskingLayer":
        with np.load(path, allow_pickle=False) as stored:
            queries, weight, bias = (stored[name].astype(np.float32) for name in cls._fields[:3])
            return cls(queries, weight, bias, int(stored["heads"]), bool(stored["trained"]))

    def attention(self, embedded: Floats, windows: Sequence[tuple[int, int]]) -> Floats:
        """The attention, averaged over the heads, among a sentence's own characters: (length, length).

        embedded: (length + 2, hidden), what the encoder reads of [CLS], the sentence and [SEP].
        windows: which characters each position may not look at.
        """
        size = len(embedded)
        keys = embedded @ self.key_weight + self.key_bias
        queries, keys = (
            array.reshape(size, self.heads, -1).transpose(1, 0, 2) for array in (self.queries[:size], keys)
        )
        scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(keys.shape[-1])
        for at, (start, stop) in enumerate(windows, start=1):
            scores[:, at, start + 1 : stop + 1] -= 10_000
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attention: Floats = weights.mean(axis=0)[1:-1, 1:-1]
        return attention
