"""Parts of a model that look at one character alone, so that each is computed once and kept as a table."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from nmspeller.lab.models.tables import CharacterTables


class KnownTables(nn.Module):
    """Character tables as buffers: they move with the model and lie in its checkpoint."""

    letters: Tensor
    bitmaps: Tensor
    syllables: Tensor
    sound: Tensor
    shape: Tensor

    def __init__(self, tables: CharacterTables, names: tuple[str, ...]) -> None:
        super().__init__()
        for name in names:
            self.register_buffer(name, torch.from_numpy(getattr(tables, name)))


class Remembering(nn.Module):
    """Keeps one tensor that depends on the weights alone, for as long as only predictions are made."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: Tensor | None = None
        self.register_load_state_dict_post_hook(lambda module, _: module.forget())

    def remember(self, make: Callable[[], Tensor]) -> Tensor:
        if self._kept is None:
            self._kept = make()
        return self._kept

    @property
    def may_remember(self) -> bool:
        """Whether no gradient is wanted: in eval mode and under no_grad."""
        return not self.training and not torch.is_grad_enabled()

    def forget(self) -> None:
        self._kept = None

    def train(self, mode: bool = True) -> "Remembering":
        self.forget()  # weights change in training, or were just exchanged for evaluation
        return super().train(mode)

    def _apply(self, *arguments: Any, **options: Any) -> "Remembering":
        self.forget()  # the model moves to another device or type
        return super()._apply(*arguments, **options)


class PerCharacter(Remembering):
    """Encodes characters by what is known of each; subclasses define `encode`."""

    CHUNK = 2048

    @abstractmethod
    def encode(self, known: Tensor) -> Tensor:
        """known: (n, ...), rows of a table → (n, hidden)."""

    @torch.compiler.disable  # how many characters a batch has is known only at run time
    def forward(self, ids: Tensor, known: Tensor) -> Tensor:
        """ids: (...), known: (vocabulary, ...) → (..., hidden).

        Each character of a batch is encoded once, not once per position. In prediction the whole vocabulary
        is encoded at first use, and is a table from then on.
        """
        if self.may_remember:
            return self.remember(lambda: torch.cat([self.encode(part) for part in known.split(self.CHUNK)]))[
                ids
            ]
        characters, places = torch.unique(ids, return_inverse=True)
        return self.encode(known[characters])[places]
