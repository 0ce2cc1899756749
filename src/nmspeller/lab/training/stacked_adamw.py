"""AdamW on the stacked weights of several spellers, as few passes over memory as there can be.

It is torch.optim.AdamW but for two things: gradients are clipped for each speller by itself, and matrices of
dense layers that are read in bfloat16 get their new values together with the weights in single precision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.models.stacked import Weights
from nmspeller.lab.training.optimisation import OptimiserConfig

_EPSILON = 1e-8


class StackedAdamW:
    """Moves `masters`, (spellers, ...) each, in place; nothing waits for the device.

    What fewer spellers have, as a masking layer, is of the last of them.

    leaves: what the losses are computed from, by the same names: the masters, or, where `halved`, copies of
    the dense layers' matrices in bfloat16.
    """

    def __init__(
        self,
        masters: Weights,
        config: OptimiserConfig,
        *,
        spellers: int,
        halved: bool,
        compiled: bool,
    ) -> None:
        if config.kind != "adamw" or config.adamw_rate is not None:
            raise InputError("on_device trains with AdamW at one rate; use `optimiser: {kind: adamw}`.")
        self.config, self.spellers = config, spellers
        self.flats = [_Flat.of(names, masters, halved=halved) for names in _moved_together(masters)]
        self.masters, self.means, self.squares, self.copies = (
            {name: part for flat in self.flats for name, part in flat.named(kind).items()}
            for kind in ("master", "mean", "square", "copy")
        )
        self.leaves = {
            name: self.copies.get(name, self.masters[name]).detach().requires_grad_() for name in masters
        }
        first = next(iter(self.masters.values()))
        self.rate, self.step = torch.zeros(2, device=first.device).unbind()
        self._squares_of, self._move = _sums_of_squares, _move
        if compiled:
            # A kernel for each shape moves more bytes a second than one for all; there are about a dozen.
            torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 64)
            self._squares_of = torch.compile(_sums_of_squares, dynamic=False)
            self._move = torch.compile(_move, dynamic=False)

    def set_rate(self, factor: float) -> None:
        """Set the rate to `factor` of its peak."""
        self.rate.fill_(self.config.rate * factor)

    @torch.no_grad()
    def move(self, gradients: Weights) -> Tensor:
        """Clip and take a step at the rate that is set; returns the norm of the gradients, (spellers,)."""
        config, spellers = self.config, self.spellers
        betas = (0.9, 0.999) if config.default_betas else (0.9, 0.98)
        gathered = [flat.gathered(gradients) for flat in self.flats]
        sums = torch.zeros(spellers, device=self.step.device)
        for gradient in gathered:
            sums[spellers - len(gradient) :] += self._squares_of(gradient)
        norms = sums.sqrt()
        factors = (config.clip / (norms + 1e-6)).clamp(max=1.0) if config.clip else torch.ones_like(norms)
        self.step.add_(1)
        pace = self.rate / (1 - betas[0] ** self.step)
        correction = (1 - betas[1] ** self.step).sqrt()
        for flat, gradient in zip(self.flats, gathered, strict=True):
            self._move(
                flat.master,
                flat.mean,
                flat.square,
                flat.copy,
                gradient,
                factors[spellers - len(gradient) :, None],
                pace,
                correction,
                self.rate * config.weight_decay if config.weight_decay > 0 and flat.decays else None,
                betas,
            )
        return norms

    def state(self) -> dict[str, Tensor]:
        """Every tensor of the state under a plain name, for safetensors."""
        kinds = {"mean": self.means, "square": self.squares}
        named = {f"{kind}.{name}": each for kind, where in kinds.items() for name, each in where.items()}
        return {**named, "step": self.step}

    @torch.no_grad()
    def load(self, masters: Weights, state: Weights) -> None:
        """Go on from masters and from what `state` returned."""
        for name, own in self.masters.items():
            own.copy_(masters[name])
            if name in self.copies:
                self.copies[name].copy_(masters[name])
            self.means[name].copy_(state[f"mean.{name}"])
            self.squares[name].copy_(state[f"square.{name}"])
        self.step.copy_(state["step"])


@dataclass(frozen=True, eq=False)
class _Flat:
    """Parameters that are moved by one kernel, beside each other in tensors of (spellers, values).

    shapes: of each parameter, without the spellers.
    copy: the master in bfloat16, where the losses are computed from it.
    """

    shapes: Mapping[str, Sequence[int]]
    master: Tensor
    mean: Tensor
    square: Tensor
    copy: Tensor | None

    @classmethod
    def of(cls, names: Sequence[str], masters: Weights, *, halved: bool) -> "_Flat":
        shapes = {name: masters[name].shape[1:] for name in names}
        master = torch.cat([masters[name].detach().flatten(1) for name in names], dim=1)
        is_dense = any(_is_dense(name, masters[name]) for name in names)
        copy = master.bfloat16() if halved and is_dense else None
        return cls(shapes, master, torch.zeros_like(master), torch.zeros_like(master), copy)

    @property
    def decays(self) -> bool:
        """Whether they are matrices: biases and norms do not decay."""
        return any(len(shape) > 1 for shape in self.shapes.values())

    def named(self, kind: str) -> dict[str, Tensor]:
        """Views of one tensor by the parameters' names; none where there is no such tensor."""
        tensor = getattr(self, kind)
        if tensor is None:
            return {}
        parts = tensor.split([prod(shape) for shape in self.shapes.values()], dim=1)
        return {
            name: part.unflatten(1, shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }

    def gathered(self, gradients: Weights) -> Tensor:
        """The gradients of the parameters, (spellers, values)."""
        parts = [gradients[name].flatten(1) for name in self.shapes]
        return torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]


def _moved_together(masters: Weights) -> list[list[str]]:
    """A matrix is moved by itself; biases and norms all at once: each would take a kernel's shortest time."""
    matrices = [[name] for name, master in masters.items() if master.ndim > 2]
    vectors: dict[int, list[str]] = {}
    for name, master in masters.items():
        if master.ndim == 2:
            vectors.setdefault(len(master), []).append(name)
    return [*matrices, *vectors.values()]


def _is_dense(name: str, master: Tensor) -> bool:
    """Whether it is a matrix of a dense layer: what embeds characters is read in single precision too."""
    return master.ndim == 3 and ".embeddings." not in name


def _sums_of_squares(gradient: Tensor) -> Tensor:
    """(spellers, values) → (spellers,)"""
    return gradient.float().square().sum(dim=1)


def _move(
    master: Tensor,
    mean: Tensor,
    square: Tensor,
    copy: Tensor | None,
    gradient: Tensor,
    factors: Tensor,
    pace: Tensor,
    correction: Tensor,
    decay: Tensor | None,
    betas: tuple[float, float],
) -> None:
    """One step of parameters, (spellers, values); for a compiler that makes it one pass over memory."""
    clipped = gradient.float() * factors
    mean.lerp_(clipped, 1 - betas[0])
    square.mul_(betas[1]).addcmul_(clipped, clipped, value=1 - betas[1])
    if decay is not None:
        master.mul_(1 - decay)
    master.sub_(pace * mean / (square.sqrt() / correction + _EPSILON))
    if copy is not None:
        copy.copy_(master)
