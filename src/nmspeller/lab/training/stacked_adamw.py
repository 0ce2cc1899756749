"""AdamW on the stacked weights of several spellers, as few passes over memory as there can be.

It is torch.optim.AdamW but for two things: gradients are clipped for each speller by itself, and matrices of
dense layers that are read in bfloat16 get their new values together with the weights in single precision.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from nmspeller.errors import InputError
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
        masters: Mapping[str, Tensor],
        config: OptimiserConfig,
        *,
        spellers: int,
        halved: bool,
        compiled: bool,
    ) -> None:
        if config.kind != "adamw" or config.adamw_rate is not None:
            raise InputError("on_device trains with AdamW at one rate; use `optimiser: {kind: adamw}`.")
        self.config, self.spellers = config, spellers
        self.masters = {name: master.detach() for name, master in masters.items()}
        self.copies = {
            name: master.bfloat16()
            for name, master in self.masters.items()
            if halved and _is_dense(name, master)
        }
        self.leaves = {
            name: self.copies.get(name, master).detach().requires_grad_()
            for name, master in self.masters.items()
        }
        self.means = {name: torch.zeros_like(master) for name, master in self.masters.items()}
        self.squares = {name: torch.zeros_like(master) for name, master in self.masters.items()}
        first = next(iter(self.masters.values()))
        self.rate, self.step = torch.zeros(2, device=first.device).unbind()
        # Flat tensors of any size share one compiled kernel.
        self._squares_of = torch.compile(_sums_of_squares, dynamic=True) if compiled else _sums_of_squares
        self._move = torch.compile(_move, dynamic=True) if compiled else _move

    def set_rate(self, factor: float) -> None:
        """Set the rate to `factor` of its peak."""
        self.rate.fill_(self.config.rate * factor)

    @torch.no_grad()
    def move(self, gradients: Mapping[str, Tensor]) -> Tensor:
        """Clip and take a step at the rate that is set; returns the norm of the gradients, (spellers,)."""
        config, spellers = self.config, self.spellers
        betas = (0.9, 0.999) if config.default_betas else (0.9, 0.98)
        sums = torch.zeros(spellers, device=self.step.device)
        for gradient in gradients.values():
            sums[spellers - len(gradient) :] += self._squares_of(gradient.flatten(1))
        norms = sums.sqrt()
        factors = (config.clip / (norms + 1e-6)).clamp(max=1.0) if config.clip else torch.ones_like(norms)
        self.step.add_(1)
        pace = self.rate / (1 - betas[0] ** self.step)
        correction = (1 - betas[1] ** self.step).sqrt()
        for name, master in self.masters.items():
            copy = self.copies.get(name)
            decays = config.weight_decay > 0 and master.ndim > 2  # not biases and norms
            self._move(
                master.flatten(1),
                self.means[name].flatten(1),
                self.squares[name].flatten(1),
                None if copy is None else copy.flatten(1),
                gradients[name].flatten(1),
                factors[spellers - len(master) :, None],
                pace,
                correction,
                self.rate * config.weight_decay if decays else None,
                betas,
            )
        return norms

    def state(self) -> dict[str, Tensor]:
        """Every tensor of the state under a plain name, for safetensors."""
        kinds = {"mean": self.means, "square": self.squares}
        named = {f"{kind}.{name}": each for kind, where in kinds.items() for name, each in where.items()}
        return {**named, "step": self.step}

    @torch.no_grad()
    def load(self, masters: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
        """Go on from masters and from what `state` returned."""
        for name, own in self.masters.items():
            own.copy_(masters[name])
            if name in self.copies:
                self.copies[name].copy_(masters[name])
            self.means[name].copy_(state[f"mean.{name}"])
            self.squares[name].copy_(state[f"square.{name}"])
        self.step.copy_(state["step"])


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
    """One step of one parameter, (spellers, values); for a compiler that makes it one pass over memory."""
    clipped = gradient.float() * factors
    mean.lerp_(clipped, 1 - betas[0])
    square.mul_(betas[1]).addcmul_(clipped, clipped, value=1 - betas[1])
    if decay is not None:
        master.mul_(1 - decay)
    master.sub_(pace * mean / (square.sqrt() / correction + _EPSILON))
    if copy is not None:
        copy.copy_(master)
