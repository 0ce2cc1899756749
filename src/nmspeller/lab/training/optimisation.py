"""AdamW and Muon behind one interface, and the schedule of the learning rate."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from nmspeller.lab.configs.parsing import check_range


@dataclass(frozen=True)
class OptimiserConfig:
    """Muon moves the matrices of the transformer layers, AdamW everything else; or AdamW moves all.

    rate and adamw_rate are peak learning rates; Muon's steps are scaled to the size that AdamW's would have,
    so the same rates suit both.
    new_parameter_rate: a factor of both for parameters that were not loaded when the training started.
    default_betas: AdamW's own averages, (0.9, 0.999), instead of (0.9, 0.98), which forgets sooner.
    """

    kind: Literal["adamw", "muon"] = "adamw"
    rate: float = 5e-5
    adamw_rate: float | None = None
    weight_decay: float = 0.01
    clip: float = 1.0
    new_parameter_rate: float = 1.0
    default_betas: bool = False

    def __post_init__(self) -> None:
        check_range(self, "rate", "adamw_rate", "weight_decay", "clip", "new_parameter_rate", least=0)


class Muon(torch.optim.Optimizer):
    """Momentum whose direction is orthogonalised (Jordan et al. 2024), matrices of one shape in one batch.

    torch.optim.Muon does the same matrix by matrix; a 12-layer encoder then spends more time on launches than
    on arithmetic, so here matrices of equal shape are stacked.
    """

    def __init__(self, groups: list[dict[str, Any]], *, weight_decay: float, momentum: float = 0.95) -> None:
        """groups: the parameters of each, and its learning rate as "lr"."""
        super().__init__(groups, {"weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[tuple(parameter.shape)].append(parameter)
            for shape, parameters in by_shape.items():
                velocities = [self._velocity(parameter) for parameter in parameters]
                gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
                torch._foreach_lerp_(velocities, gradients, 1 - group["momentum"])
                ahead = torch._foreach_lerp(gradients, velocities, group["momentum"])
                # Queries, keys and values share one matrix but are three maps, each with its own directions.
                pieces = 3 if shape[0] == 3 * shape[1] else 1
                stacked = torch.stack(ahead).reshape(len(ahead) * pieces, shape[0] // pieces, shape[1])
                directions = orthogonalise(stacked).reshape(len(ahead), *shape)
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
                # The root mean square that AdamW's steps have in practice is about 0.2.
                scale = 0.2 * max(stacked.shape[1:]) ** 0.5
                torch._foreach_add_(
                    parameters, list(directions.to(parameters[0].dtype).unbind()), alpha=-group["lr"] * scale
                )

    def _velocity(self, parameter: Tensor) -> Tensor:
        state = self.state[parameter]
        if "velocity" not in state:
            state["velocity"] = torch.zeros_like(parameter)
        velocity: Tensor = state["velocity"]
        return velocity


def orthogonalise(matrices: Tensor, steps: int = 5) -> Tensor:
    """Matrices (count, rows, columns) with singular values pushed towards 1, by a Newton-Schulz iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x: Tensor = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.mT if tall else x


class _Groups(NamedTuple):
    """Parameters by what moves them: Muon, AdamW, AdamW without weight decay."""

    matrices: list[nn.Parameter]
    others: list[nn.Parameter]
    vectors: list[nn.Parameter]


class Optimiser:
    """One or two optimisers that follow one schedule."""

    def __init__(self, model: nn.Module, config: OptimiserConfig) -> None:
        new_names = set(getattr(model, "new_parameters", ()))
        groups = {new: _Groups([], [], []) for new in (False, True)}
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue
            group = groups[name in new_names and config.new_parameter_rate != 1]
            if config.kind == "muon" and parameter.ndim == 2 and ("layers." in name or "masking." in name):
                group.matrices.append(parameter)
            elif parameter.ndim >= 2:
                group.others.append(parameter)
            else:
                group.vectors.append(parameter)
        adamw, muon, self.parameters = [], [], list[nn.Parameter]()
        for new, (matrices, others, vectors) in groups.items():
            factor = config.new_parameter_rate if new else 1.0
            rate = (config.adamw_rate or config.rate) * factor
            adamw.append({"params": others, "lr": rate, "weight_decay": config.weight_decay})
            adamw.append({"params": vectors, "lr": rate, "weight_decay": 0.0})  # biases and norms
            muon.append({"params": matrices, "lr": config.rate * factor})
            self.parameters += [*matrices, *others, *vectors]
        first = next(model.parameters())
        options: dict[str, Any] = {"fused": True} if first.is_cuda else {}
        betas = (0.9, 0.999) if config.default_betas else (0.9, 0.98)
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(_without_empty(adamw), betas=betas, eps=1e-8, **options)
        ]
        if muon := _without_empty(muon):
            self.parts.append(Muon(muon, weight_decay=config.weight_decay))
        self.peaks = [[group["lr"] for group in part.param_groups] for part in self.parts]
        self.clip = config.clip

    def step(self, factor: float) -> Tensor:
        """Clip, take one step at `factor` of the peak rates, clear the gradients; returns their norm."""
        for part, peaks in zip(self.parts, self.peaks, strict=True):
            for group, peak in zip(part.param_groups, peaks, strict=True):
                group["lr"] = peak * factor
        norm = nn.utils.clip_grad_norm_(self.parameters, self.clip, foreach=True)
        for part in self.parts:
            part.step()
            part.zero_grad(set_to_none=True)
        return norm

    def state(self) -> dict[str, Tensor]:
        """Every tensor of the state under a plain name, for safetensors."""
        tensors = {}
        for part_index, part in enumerate(self.parts):
            for index, state in part.state_dict()["state"].items():
                for key, value in state.items():
                    tensors[f"{part_index}.{index}.{key}"] = torch.as_tensor(value)
        return tensors

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """Load what `state` returned."""
        for part_index, part in enumerate(self.parts):
            whole = part.state_dict()
            states: dict[int, dict[str, Tensor]] = defaultdict(dict)
            for name, tensor in tensors.items():
                owner, index, key = name.split(".", 2)
                if int(owner) == part_index:
                    states[int(index)][key] = tensor
            part.load_state_dict({**whole, "state": dict(states)})


def _without_empty(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [group for group in groups if group["params"]]


def rate_factor(progress: float, *, warm_up: float, decay_from: float = 0.0, floor: float = 0.0) -> float:
    """Share of the peak rate at `progress` (0 to 1): linear warm-up, level to `decay_from`, linear decay."""
    if progress < warm_up:
        return max(progress, 1e-3) / warm_up
    start = max(warm_up, decay_from)
    if progress < start:
        return 1.0
    return floor + (1 - floor) * max(0.0, (1 - progress) / (1 - start))
