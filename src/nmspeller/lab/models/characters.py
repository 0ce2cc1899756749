"""Parts of a model that depend on one character alone, so that the vocabulary can be a cached table."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from nmspeller.lab.models.tables import CharacterTables


class TableBuffers(nn.Module):
    """Character tables as buffers: they move with the model and are saved in its checkpoint."""

    letters: Tensor
    bitmaps: Tensor
    syllables: Tensor
    sound: Tensor
    shape: Tensor

    def __init__(self, tables: CharacterTables, names: tuple[str, ...]) -> None:
        super().__init__()
        for name in names:
            self.register_buffer(name, torch.from_numpy(getattr(tables, name)))


class Cached(nn.Module):
    """Caches one tensor that depends on the weights alone, in prediction only."""

    def __init__(self) -> None:
        super().__init__()
        self._cached: Tensor | None = None
        nn.Module.register_load_state_dict_post_hook(self, lambda module, _: module.clear_cache())

    def cached(self, make: Callable[[], Tensor]) -> Tensor:
        if self._cached is None:
            self._cached = make()
        return self._cached

    @property
    def may_cache(self) -> bool:
        """Whether no gradient is wanted: in eval mode and under no_grad."""
        return not self.training and not torch.is_grad_enabled()

    def clear_cache(self) -> None:
        self._cached = None

    def train(self, mode: bool = True) -> "Cached":
        self.clear_cache()  # weights change in training, or were replaced for evaluation
        return super().train(mode)

    def _apply(self, *arguments: Any, **options: Any) -> "Cached":
        self.clear_cache()  # the model moves to another device or type
        nn.Module._apply(self, *arguments, **options)
        return self


class PerCharacter(Cached):
    """Encodes characters from their features; subclasses define `encode`."""

    CHUNK = 2048

    @abstractmethod
    def encode(self, features: Tensor) -> Tensor:
        """features: (n, ...), rows of a table → (n, hidden)."""

    # How many characters a batch has is known only at run time.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(self, ids: Tensor, features: Tensor) -> Tensor:
        """ids: (...), features: (vocabulary, ...) → (..., hidden).

        Each character of a batch is encoded once, not once per position. In prediction the whole vocabulary
        is encoded once and cached.
        """
        if self.may_cache:
            return self.cached(lambda: torch.cat([self.encode(part) for part in features.split(self.CHUNK)]))[
                ids
            ]
        characters, places = torch.unique(ids, return_inverse=True)
        return self.encode(features[characters])[places]
