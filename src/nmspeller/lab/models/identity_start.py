"""Layers that start as the identity."""

from typing import Protocol

import torch
from torch import nn

from nmspeller.lab.models.attention import Attention, FeedForward


class TransformerLayer(Protocol):
    """The parts of a transformer layer, be it of the encoder or the masking layer."""

    attention: Attention
    attention_norm: nn.LayerNorm
    feed_forward: FeedForward
    output_norm: nn.LayerNorm


@torch.no_grad()
def start_as_identity(layer: TransformerLayer, norm: nn.LayerNorm) -> None:
    """Let a layer start as the identity, nearly, on what `norm` puts out.

    Attention and feed-forward start at zero, which leaves the layer's two norms. An output γz + β of `norm`,
    z being normalised, has about the mean of β and the variance mean γ² + var β over its channels; gain and
    bias of the two norms restore both.
    """
    for dense in (layer.attention.out, layer.feed_forward.down):
        nn.init.zeros_(dense.weight)
        nn.init.zeros_(dense.bias)
    gain = (norm.weight.square().mean() + norm.bias.var(correction=0)).sqrt()
    for own in (layer.attention_norm, layer.output_norm):
        own.weight.copy_(gain.expand_as(own.weight))
        own.bias.copy_(norm.bias.mean().expand_as(own.bias))
