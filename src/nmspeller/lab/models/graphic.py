"""The shape of characters: ReaLiSe's graphic encoder.

Five residual blocks, each halving the picture, take three 32×32 bitmaps to one vector; a LayerNorm follows.
ReaLiSe normalises its batches over positions; here over the distinct characters of the batch, since each is
encoded once.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.models.characters import PerCharacter


class ResidualBlock(nn.Module):
    """(n, inputs, size, size) → (n, outputs, size / 2, size / 2)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, kernel_size=3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, kernel_size=3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, kernel_size=1, stride=2, bias=False)
        self.shortcut_norm = nn.BatchNorm2d(outputs)

    def forward(self, pictures: Tensor) -> Tensor:
        inner = functional.relu(self.first_norm(self.first(pictures)))
        inner = self.second_norm(self.second(inner))
        return functional.relu(inner + self.shortcut_norm(self.shortcut(pictures)))


class GraphicEncoder(PerCharacter):
    """H_g: bitmaps → one vector per character."""

    CHUNK = 256
    FONTS = 3

    def __init__(self, hidden: int, channels: tuple[int, ...], norm_epsilon: float) -> None:
        super().__init__()
        widths = (self.FONTS, *channels, hidden)
        assert len(widths) == 6, "32×32 pixels become one in five halvings"
        self.blocks = nn.Sequential(*(ResidualBlock(*ends) for ends in pairwise(widths)))
        self.norm = nn.LayerNorm(hidden, eps=norm_epsilon)

    def encode(self, features: Tensor) -> Tensor:
        """features: (n, 3, 32, 32) of 0 and 1 → (n, hidden)."""
        pictures = features.to(self.norm.weight.dtype) * 2 - 1
        encoded: Tensor = self.norm(torch.flatten(self.blocks(pictures), start_dim=1))
        return encoded
