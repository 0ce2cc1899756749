"""Training in small steps: the whole step, from the choice of pairs to the new weights, is one CUDA graph.

A step of 32 sentences is a few hundred kernels of some microseconds each, which take longer to launch one by
one than to run; a graph launches all of them at once. On a CPU the same step runs as it is written.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nmspeller.errors import InputError
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.device_pairs import DevicePairs
from nmspeller.lab.training.optimisation import Optimiser, rate_factor
from nmspeller.lab.training.state import keep_log, read_state, write_state
from nmspeller.lab.training.trainer import LoopConfig, Progress, Report, TrainingLoss

AfterEpoch = Callable[[int], None]
"""What is done after an epoch, given its number, counted from 1."""

_EAGER_STEPS = 3  # before a graph is captured, so that kernels are compiled and the optimiser has its state


class DeviceTrainer:
    """Trains `model`, in place, for some epochs over pairs that lie on its device.

    after_epoch: called with the model in prediction mode.
    identity: a digest of the training's settings; it never resumes from the state of another.

    Raises:
        InputError: the speller's shapes depend on the batch, which no graph can contain.
    """

    def __init__(
        self,
        model: SpellerModel,
        pairs: DevicePairs,
        config: LoopConfig,
        *,
        epochs: int,
        seed: int,
        folder: Path,
        name: str = "train",
        report: Report | None = None,
        after_epoch: AfterEpoch | None = None,
        identity: str = "",
    ) -> None:
        if not isinstance(model, BertSpeller):
            raise InputError("only BERT and NM-BERT can be trained on_device; choose another recipe.")
        self.model, self.pairs, self.config, self.epochs, self.seed = model, pairs, config, epochs, seed
        self.report, self.after_epoch, self.identity = report, after_epoch, identity
        self.log_path, self.state_path = folder / f"{name}.jsonl", folder / f"{name}.resume.safetensors"
        self.optimiser = Optimiser(model, config.optimiser, tensor_rates=True)
        self.loss: Any = TrainingLoss(model, config.precision)
        if config.compile:
            self.loss = torch.compile(self.loss, dynamic=False)
        self.device = next(model.parameters()).device
        steps = len(pairs)
        self.chosen = torch.zeros(steps, pairs.sentences, dtype=torch.long, device=self.device)
        self.cursor = torch.zeros(1, dtype=torch.long, device=self.device)
        self.losses, self.norms = torch.zeros(2, steps, device=self.device).unbind()
        self.graph: torch.cuda.CUDAGraph | None = None
        self.stream: torch.cuda.Stream | None = None
        self.eager_steps = 0
        self.epoch = 0
        self.elapsed = 0.0

    def run(self) -> Progress | None:
        """Train until the last epoch ends; returns the last progress."""
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.state_path.exists():
            self._resume()
        else:
            self.log_path.unlink(missing_ok=True)
        if self.device.type == "cuda":
            # Its kernels for masks with dropout are young; the others have both.
            torch.backends.cuda.enable_cudnn_sdp(False)
        last, saved = None, time.perf_counter()
        while self.epoch < self.epochs:
            last = self._run_epoch()
            self.epoch += 1
            self.model.eval()
            if self.after_epoch:
                self.after_epoch(self.epoch)
            if self.config.save_seconds and time.perf_counter() - saved > self.config.save_seconds:
                self._save()
                saved = time.perf_counter()
        self.model.eval()
        if not all(parameter.isfinite().all() for parameter in self.model.parameters()):
            raise InputError("weights became infinite; lower the learning rate.")
        self.state_path.unlink(missing_ok=True)
        return last

    def _run_epoch(self) -> Progress:
        steps, every = len(self.pairs), self.config.log_every
        order = self.pairs.order(np.random.default_rng((self.seed, 2, self.epoch)))
        self.chosen.copy_(torch.from_numpy(order))
        self.cursor.zero_()
        self.model.train()
        started, logged = time.perf_counter() - self.elapsed, 0
        for step in range(steps):
            number = self.epoch * steps + step
            factor = rate_factor(
                number / (self.epochs * steps),
                warm_up=self.config.warm_up,
                decay_from=self.config.decay_from,
                floor=self.config.floor,
            )
            torch.manual_seed(hash((self.seed, number)))  # so that dropout is a function of the step
            self.optimiser.set_rates(factor)
            self.advance()
            if (step + 1) % every == 0 or step + 1 == steps:
                loss = float(self.losses[logged : step + 1].mean())
                self.elapsed = time.perf_counter() - started
                last = Progress(
                    step=number + 1,
                    steps=self.epochs * steps,
                    loss=loss,
                    rate=factor * self.config.optimiser.rate,
                    norm=float(self.norms[step]),
                    tokens=(number + 1) * self.pairs.tokens,
                    seconds=self.elapsed,
                )
                self._log(last)
                logged = step + 1
                if not np.isfinite(loss):
                    raise InputError(f"the loss became {loss} by step {number}; lower the learning rate.")
        return last

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
        batch = self.pairs.batch(self.chosen.index_select(0, self.cursor)[0])
        loss: Tensor = self.loss(batch)
        loss.backward()
        norm = self.optimiser.move()
        self.losses.index_copy_(0, self.cursor, loss.detach()[None])
        self.norms.index_copy_(0, self.cursor, norm.detach()[None])
        self.cursor.add_(1)

    def _log(self, progress: Progress) -> None:
        with self.log_path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(vars(progress)) + "\n")
        if self.report:
            self.report(progress)

    def _save(self) -> None:
        tensors = {"model": self.model.state_dict(), "optimiser": self.optimiser.state()}
        write_state(self.state_path, tensors, {"epoch": self.epoch, "elapsed": self.elapsed}, self.identity)

    def _resume(self) -> None:
        tensors, position = read_state(self.state_path, self.device, self.identity)
        self.model.load_state_dict(tensors["model"])
        self.optimiser.load_state(tensors["optimiser"])
        self.epoch, self.elapsed = int(position["epoch"]), position["elapsed"]
        keep_log(self.log_path, self.epoch * len(self.pairs))
