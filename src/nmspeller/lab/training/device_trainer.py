"""Training in small steps: several spellers at once, and the whole step, from the choice of pairs to the new
weights, as one CUDA graph.

A step of 32 sentences is a few hundred kernels of some microseconds each, which take longer to launch one by
one than to run; a graph launches all of them at once. Each of them leaves most of a large GPU idle; the
kernels of several spellers that are stacked do not. On a CPU the same step runs as it is written.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.stacked import StackedSpellers, laid_end_to_end
from nmspeller.lab.training.device_pairs import DevicePairs
from nmspeller.lab.training.optimisation import rate_factor
from nmspeller.lab.training.stacked_adamw import StackedAdamW
from nmspeller.lab.training.state import keep_log, read_state, write_state
from nmspeller.lab.training.trainer import LoopConfig, Progress, Report

AfterEpoch = Callable[[int], None]
"""What is done after an epoch, given its number, counted from 1."""

_EAGER_STEPS = 3  # before a graph is captured, so that kernels are compiled


@dataclass(frozen=True)
class Trainee:
    """A speller that is trained in place, the order of its pairs, and the folder of its log.

    after_epoch: called with the speller in prediction mode.
    identity: a digest of the training's settings; it never resumes from the state of another.
    """

    model: SpellerModel
    seed: int
    folder: Path
    report: Report | None = None
    after_epoch: AfterEpoch | None = None
    identity: str = ""


class DeviceTrainer:
    """Trains several spellers for some epochs over pairs that lie on their device.

    The state for a resume is in the folder of the first.

    Raises:
        InputError: they are not BERTs of one size; another speller's shapes depend on the batch, which no
            graph can contain.
    """

    def __init__(
        self,
        trainees: Sequence[Trainee],
        pairs: DevicePairs,
        config: LoopConfig,
        *,
        epochs: int,
        name: str = "train",
    ) -> None:
        self.trainees = sorted(trainees, key=lambda trainee: trainee.model.semantic.masking is not None)
        self.pairs, self.config, self.epochs, self.name = pairs, config, epochs, name
        self.spellers = StackedSpellers([trainee.model for trainee in self.trainees])
        self.state_path = trainees[0].folder / f"{name}.resume.safetensors"
        self.identity = hashlib.sha256("".join(each.identity for each in self.trainees).encode()).hexdigest()
        count, steps = len(self.trainees), len(pairs)
        weights = self.spellers.weights()
        self.device = next(iter(weights.values())).device
        if self.device.type == "cuda":
            # Its kernels for masks with dropout are young; the others have both.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.half = config.precision != "fp32"
        self.optimiser = StackedAdamW(
            weights, config.optimiser, spellers=count, halved=self.half, compiled=config.compile
        )
        self.losses: Any = torch.compile(self._losses, dynamic=False) if config.compile else self._losses
        self.chosen = torch.zeros(steps, count, pairs.sentences, dtype=torch.long, device=self.device)
        self.cursor = torch.zeros(1, dtype=torch.long, device=self.device)
        self.seen_losses, self.seen_norms = torch.zeros(2, steps, count, device=self.device).unbind()
        self.graph: torch.cuda.CUDAGraph | None = None
        self.stream: torch.cuda.Stream | None = None
        self.eager_steps = 0
        self.epoch = 0
        self.elapsed = 0.0

    def run(self) -> None:
        """Train until the last epoch ends."""
        for trainee in self.trainees:
            trainee.folder.mkdir(parents=True, exist_ok=True)
        if self.state_path.exists():
            self._resume()
        else:
            for trainee in self.trainees:
                self._log_path(trainee).unlink(missing_ok=True)
        saved = time.perf_counter()
        while self.epoch < self.epochs:
            self._run_epoch()
            self.epoch += 1
            self._hand_back()
            for trainee in self.trainees:
                if trainee.after_epoch:
                    trainee.after_epoch(self.epoch)
            if self.config.save_seconds and time.perf_counter() - saved > self.config.save_seconds:
                self._save()
                saved = time.perf_counter()
        self._hand_back()
        if not all(each.isfinite().all() for each in self.optimiser.masters.values()):
            raise InputError("weights became infinite; lower the learning rate.")
        self.state_path.unlink(missing_ok=True)

    def choose(self) -> None:
        """Choose the pairs of every step of the epoch, for each speller by its own seed."""
        orders = [
            self.pairs.order(np.random.default_rng((trainee.seed, 2, self.epoch)))
            for trainee in self.trainees
        ]
        self.chosen.copy_(torch.from_numpy(np.stack(orders, axis=1)))
        self.cursor.zero_()

    def _run_epoch(self) -> None:
        steps, every = len(self.pairs), self.config.log_every
        self.choose()
        seeds = tuple(trainee.seed for trainee in self.trainees)
        started, logged = time.perf_counter() - self.elapsed, 0
        for step in range(steps):
            number = self.epoch * steps + step
            factor = rate_factor(
                number / (self.epochs * steps),
                warm_up=self.config.warm_up,
                decay_from=self.config.decay_from,
                floor=self.config.floor,
            )
            torch.manual_seed(hash((*seeds, number)))  # so that dropout is a function of the step
            self.optimiser.set_rate(factor)
            self.advance()
            if (step + 1) % every == 0 or step + 1 == steps:
                losses = self.seen_losses[logged : step + 1].mean(dim=0).tolist()
                norms = self.seen_norms[step].tolist()
                self.elapsed = time.perf_counter() - started
                for trainee, loss, norm in zip(self.trainees, losses, norms, strict=True):
                    progress = Progress(
                        step=number + 1,
                        steps=self.epochs * steps,
                        loss=loss,
                        rate=factor * self.config.optimiser.rate,
                        norm=norm,
                        tokens=(number + 1) * self.pairs.tokens,
                        seconds=self.elapsed,
                    )
                    self._log(trainee, progress)
                logged = step + 1
                if not np.isfinite(losses).all():
                    raise InputError(f"a loss became {losses} by step {number}; lower the learning rate.")

    def advance(self) -> None:
        """Take the next step: as it is written, or, on a GPU and after a few steps, as a graph."""
        if self.device.type != "cuda":
            self._step()
        elif self.eager_steps < _EAGER_STEPS:
            # On the stream of the capture, as that demands of what comes before it.
            self.stream = self.stream or torch.cuda.Stream()
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                self._step()
            torch.cuda.current_stream().wait_stream(self.stream)
            self.eager_steps += 1
        else:
            if self.graph is None:
                self.graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self.graph, stream=self.stream, capture_error_mode="thread_local"):
                    self._step()
            self.graph.replay()

    def _step(self) -> None:
        """One step on the pairs at the cursor; all that it reads and writes has a fixed place."""
        leaves = self.optimiser.leaves
        losses: Tensor = self.losses(leaves, self.chosen.index_select(0, self.cursor)[0])
        gradients = torch.autograd.grad(losses.sum(), list(leaves.values()))
        norms = self.optimiser.move(dict(zip(leaves, gradients, strict=True)))
        self.seen_losses.index_copy_(0, self.cursor, losses.detach()[None])
        self.seen_norms.index_copy_(0, self.cursor, norms[None])
        self.cursor.add_(1)

    def _losses(self, leaves: dict[str, Tensor], chosen: Tensor) -> Tensor:
        """(spellers,) of the pairs that each has chosen, (spellers, sentences)."""
        batch = laid_end_to_end([self.pairs.batch(own) for own in chosen.unbind()])
        half = torch.autocast(self.device.type, dtype=torch.bfloat16) if self.half else nullcontext()
        with half:
            return self.spellers.losses(leaves, batch)

    def _hand_back(self) -> None:
        self.spellers.hand_back(self.optimiser.masters)
        for trainee in self.trainees:
            trainee.model.eval()

    def _log_path(self, trainee: Trainee) -> Path:
        return trainee.folder / f"{self.name}.jsonl"

    def _log(self, trainee: Trainee, progress: Progress) -> None:
        with self._log_path(trainee).open("a", encoding="utf-8") as log:
            log.write(json.dumps(vars(progress)) + "\n")
        if trainee.report:
            trainee.report(progress)

    def _save(self) -> None:
        tensors = {"model": self.optimiser.masters, "optimiser": self.optimiser.state()}
        write_state(self.state_path, tensors, {"epoch": self.epoch, "elapsed": self.elapsed}, self.identity)

    def _resume(self) -> None:
        tensors, position = read_state(self.state_path, self.device, self.identity)
        self.optimiser.load(tensors["model"], tensors["optimiser"])
        self.epoch, self.elapsed = int(position["epoch"]), position["elapsed"]
        for trainee in self.trainees:
            keep_log(self._log_path(trainee), self.epoch * len(self.pairs))
