"""One process or many, on one machine or several: `torchrun` starts them, this tells each what it is."""

import os
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Processes:
    """This process among all that train together."""

    rank: int
    world: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is the process that logs and saves."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with its gradients averaged over all processes."""
        if self.world == 1:
            return module
        return DistributedDataParallel(
            module, device_ids=[self.device] if self.device.type == "cuda" else None
        )

    def mean(self, value: Tensor) -> Tensor:
        """A value's mean over all processes."""
        if self.world > 1:
            distributed.all_reduce(value)
            value = value / self.world
        return value

    def longest(self, seconds: float) -> float:
        """The longest of all processes' times, so that all stop at the same step."""
        if self.world == 1:
            return seconds
        longest = torch.tensor(seconds, device=self.device, dtype=torch.float64)
        distributed.all_reduce(longest, op=distributed.ReduceOp.MAX)
        return float(longest)


def join_processes() -> Processes:
    """Join the processes that `torchrun` started; alone, without it."""
    cuda = torch.cuda.is_available()
    world = int(os.environ.get("WORLD_SIZE", "1"))
    local = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
        torch.set_float32_matmul_precision("high")
    if world > 1 and not distributed.is_initialized():
        distributed.init_process_group("nccl" if cuda else "gloo")
    return Processes(int(os.environ.get("RANK", "0")), world, device)
