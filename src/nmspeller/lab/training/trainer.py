"""The training loop, with a log, a budget in seconds, and exact resume."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils.data import DataLoader

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import check_range
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training import fp8
from nmspeller.lab.training.averaging import move_averages
from nmspeller.lab.training.batches import Batches, Layout
from nmspeller.lab.training.detection import Detection
from nmspeller.lab.training.distillation import TEACHER_SHARE, Distillation
from nmspeller.lab.training.distributed import Processes
from nmspeller.lab.training.optimisation import Optimiser, OptimiserConfig, rate_factor
from nmspeller.lab.training.state import keep_log, read_state, write_state
from nmspeller.lab.training.streams import Stream

Report = Callable[["Progress"], None]
Precision = Literal["fp32", "bf16", "all-bf16", "fp8"]


@dataclass(frozen=True)
class LoopConfig:
    """How a stage is trained, independent of its data.

    warm_up, decay_from, floor: the schedule, see `rate_factor`.
    seconds: stop after this time, with the schedule complete, even if steps are left.
    average: decay of an exponential moving average of the weights, which replaces them at the end; 0 = none.
    packed: pack rows end to end instead of padding them; attention then has no dropout.
    packed_tokens: pack every batch to exactly this many tokens.
    compile: use torch.compile; worth it on a GPU where every batch has one shape: rows of one length, or
    `packed_tokens`.
    precision: "fp32"; "bf16", products in bfloat16 and everything else in single precision; "all-bf16",
    everything but the loss in bfloat16, from master weights in single precision; "fp8", the same with the
    products of the transformer layers in fp8.
    workers: processes that prepare batches ahead.
    save_seconds: how often the state for a resume is written; 0 = never.
    on_device: keep all pairs on the device and pack each step there to `packed_tokens`; see `device_trainer`.
    """

    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    warm_up: float = 0.1
    decay_from: float = 0.0
    floor: float = 0.0
    seconds: float | None = None
    average: float = 0.0
    packed: bool = False
    packed_tokens: int | None = None
    compile: bool = False
    precision: Precision = "bf16"
    workers: int = 0
    log_every: int = 20
    save_seconds: float = 60.0
    on_device: bool = False

    def __post_init__(self) -> None:
        check_range(self, "warm_up", "decay_from", "floor", "average", least=0, most=1)
        check_range(self, "workers", "save_seconds", least=0)
        check_range(self, "log_every", least=1)
        check_range(self, "seconds", least=0.001)
        check_range(self, "packed_tokens", least=Layout.longest)
        if self.on_device and (not self.packed_tokens or self.average or self.seconds or self.packed):
            raise InputError(
                "on_device needs packed_tokens, and goes neither with packed, nor average, nor seconds."
            )
        if self.on_device and self.precision not in ("bf16", "fp32"):
            raise InputError("on_device trains in bf16 or fp32; choose one of them as precision.")


@dataclass(frozen=True)
class Progress:
    """The progress of a stage: for the log, the progress bar and the loss curve."""

    step: int
    steps: int
    loss: float
    rate: float
    norm: float
    tokens: int
    seconds: float


class TrainingLoss(nn.Module):
    """The loss as a module's forward, which is what DDP and compile wrap."""

    def __init__(
        self, model: SpellerModel, precision: str, distillation: Distillation | Detection | None = None
    ) -> None:
        super().__init__()
        self.inner = _Plain(model, distillation)
        self.precision = precision

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        loss: Tensor
        if self.precision == "fp32":
            loss = self.inner(batch)
        elif self.precision == "bf16":
            with torch.autocast(batch.ids.device.type, dtype=torch.bfloat16):
                loss = self.inner(batch)
        else:
            halved = {name: tensor.to(torch.bfloat16) for name, tensor in self.inner.named_parameters()}
            loss = functional_call(self.inner, halved, (batch,))
        return loss


class _Plain(nn.Module):
    """The loss in the precision of the weights."""

    def __init__(self, model: SpellerModel, distillation: Distillation | Detection | None) -> None:
        super().__init__()
        self.model = model
        self.distillation = distillation

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        return self.distillation(self.model, batch) if self.distillation else self.model.loss(batch)


class Trainer:
    """Trains `model`, in place, on a stream; with a teacher, by distillation as well.

    teacher_where_right, match_layers: as for `Distillation`.
    detect: learn only where the teacher would edit.
    identity: a digest of the training's settings; it never resumes from the state of another.
    """

    def __init__(
        self,
        model: SpellerModel,
        stream: Stream,
        config: LoopConfig,
        *,
        pad: int,
        seed: int,
        folder: Path,
        processes: Processes,
        name: str = "train",
        report: Report | None = None,
        teacher: SpellerModel | None = None,
        teacher_share: float = TEACHER_SHARE,
        teacher_where_right: bool = False,
        match_layers: bool = True,
        detect: bool = False,
        identity: str = "",
    ) -> None:
        self.identity = identity
        self.model, self.stream, self.config, self.seed = model, stream, config, seed
        self.processes, self.report, self.folder = processes, report, folder
        self.log_path, self.state_path = folder / f"{name}.jsonl", folder / f"{name}.resume.safetensors"
        self.batches = Batches(
            stream, Layout(config.packed, config.packed_tokens), pad, processes.rank, processes.world
        )
        self.optimiser = Optimiser(model, config.optimiser)
        if config.precision == "fp8":
            fp8.apply(model)
        distillation: Distillation | Detection | None = None
        if teacher and detect:
            distillation = Detection(teacher, model, teacher_share)
        elif teacher:
            distillation = Distillation(
                teacher, model, teacher_share, match_layers=match_layers, where_right=teacher_where_right
            )
        self.loss = processes.wrap(TrainingLoss(model, config.precision, distillation))
        if config.compile:
            one_shape = not config.packed or config.packed_tokens is not None
            compiled: Any = torch.compile(self.loss, dynamic=None if one_shape else True)
            self.loss = compiled
        self.averages = (
            [parameter.detach().clone() for parameter in model.parameters()] if config.average else []
        )
        self.step = 0
        self.tokens = 0
        self.elapsed = 0.0

    def run(self) -> Progress | None:
        """Train until the stream or the budget ends; returns the last progress."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.state_path.exists():
            self._resume()
        elif self.processes.first:
            self.log_path.unlink(missing_ok=True)
        self.model.train()
        started = time.perf_counter() - self.elapsed
        saved = time.perf_counter()
        losses: list[Tensor] = []
        norm = torch.zeros(())
        last = None
        for batch, targets in self._loader():
            progress = self._progress()
            if progress >= 1:
                break
            factor = rate_factor(
                progress,
                warm_up=self.config.warm_up,
                decay_from=self.config.decay_from,
                floor=self.config.floor,
            )
            torch.manual_seed(hash((self.seed, self.step)))  # so that dropout is a function of the step
            losses.append(self._backward(batch.to(self.processes.device), targets))
            norm = self.optimiser.step(factor)
            if self.averages:
                move_averages(self.averages, self.model, self.config.average, self.step)
            self.step += 1
            self.tokens += batch.ids.numel()
            if self.step % self.config.log_every == 0 or self.step == len(self.stream):
                loss = float(torch.stack(losses).mean())
                self.elapsed = self.processes.longest(time.perf_counter() - started)
                rate = factor * self.config.optimiser.rate
                last = Progress(
                    self.step, len(self.stream), loss, rate, float(norm), self.tokens, self.elapsed
                )
                self._log(last)
                losses.clear()
                if not torch.isfinite(torch.tensor(loss)):
                    raise InputError(f"the loss became {loss} at step {self.step}; lower the learning rate.")
                if self.config.save_seconds and time.perf_counter() - saved > self.config.save_seconds:
                    self._save()
                    saved = time.perf_counter()
        if self.averages:
            torch._foreach_copy_([p.data for p in self.model.parameters()], self.averages)
        fp8.remove(self.model)
        self.model.eval()
        if not all(parameter.isfinite().all() for parameter in self.model.parameters()):
            # The last step's effect is not in any loss.
            raise InputError(f"weights became infinite by step {self.step}; lower the learning rate.")
        if self.processes.first:
            self.state_path.unlink(missing_ok=True)
        return last

    def _progress(self) -> float:
        by_steps = self.step / max(len(self.stream), 1)
        return max(by_steps, self.elapsed / self.config.seconds) if self.config.seconds else by_steps

    def _loader(self) -> DataLoader[Any]:
        workers = self.config.workers
        ahead: dict[str, Any] = {"prefetch_factor": 4, "persistent_workers": False} if workers else {}
        return DataLoader(
            self.batches,
            batch_size=None,
            sampler=range(self.step, len(self.stream)),
            num_workers=workers,
            **ahead,
        )

    def _backward(self, batch: Batch | PackedBatch, targets: int) -> Tensor:
        """Gradients of the mean loss over the whole batch, of which each process has only a part."""
        loss = self.loss(batch)
        if self.processes.world > 1:
            assert batch.targets is not None
            own = (batch.targets != NO_TARGET).sum()
            loss = loss * own * (self.processes.world / targets)
        loss.backward()
        return self.processes.mean(loss.detach())

    def _log(self, progress: Progress) -> None:
        if self.processes.first:
            with self.log_path.open("a", encoding="utf-8") as log:
                log.write(json.dumps(vars(progress)) + "\n")
            if self.report:
                self.report(progress)

    def _save(self) -> None:
        """Write all that is needed to resume, completely or not at all."""
        if not self.processes.first:
            return
        averages = {str(number): tensor for number, tensor in enumerate(self.averages)}
        write_state(
            self.state_path,
            {"model": self.model.state_dict(), "optimiser": self.optimiser.state(), "average": averages},
            {"step": self.step, "tokens": self.tokens, "elapsed": self.elapsed},
            self.identity,
        )

    def _resume(self) -> None:
        tensors, position = read_state(self.state_path, self.processes.device, self.identity)
        self.model.load_state_dict(tensors["model"])
        self.optimiser.load_state(tensors["optimiser"])
        for number, tensor in tensors["average"].items():
            self.averages[int(number)].copy_(tensor)
        self.step, self.tokens = int(position["step"]), int(position["tokens"])
        self.elapsed = position["elapsed"]
        if self.processes.first:
            keep_log(self.log_path, self.step)
