"""The speed of training, and its share of the device's peak."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.training.corruption import NoiseConfig, Row
from nmspeller.lab.training.distributed import join_processes
from nmspeller.lab.training.optimisation import OptimiserConfig
from nmspeller.lab.training.streams import CorpusStream
from nmspeller.lab.training.trainer import LoopConfig, Precision, Progress, Trainer

LENGTH = 128
PACKED_TOKENS = 1 << 16
# Lengths of sentences; the mean of SIGHAN's is in the middle.
SENTENCES = 16, 96


class _TimeIsUp(Exception):
    """The measurement has run long enough."""


class RandomRows:
    """Rows of random ids, which cost no time to make: only the training is measured."""

    def __init__(self, lengths: NDArray[np.integer], vocabulary: int) -> None:
        random = np.random.default_rng(0)
        self.made: list[Row] = [
            Row(row, row, np.zeros_like(row)) for row in (random.integers(5, vocabulary, n) for n in lengths)
        ]

    def __len__(self) -> int:
        return 1_000_000

    def rows(self, step: int) -> list[Row]:
        return self.made


def measure_training(
    *,
    seconds: float,
    data: Path | None = None,
    encoder: dict[str, Any] | None = None,
    precision: Precision | None = None,
    packed: bool = False,
) -> dict[str, Any]:
    """Train a BERT for some seconds: tokens a second once it runs, and the share of the peak.

    seconds: how long after the first few steps, in which kernels are compiled.
    data: a prepared folder, whose text is corrupted as in pretraining; else rows of random ids.
    encoder: other sizes than BERT-base with 8,372 characters.
    precision: see `LoopConfig`; bf16 on a GPU and fp32 elsewhere where None.
    packed: as in fine-tuning: sentences of their own length end to end, AdamW. Else as in pretraining: rows
    of 128, Muon.
    """
    if packed and data:
        raise InputError("packed sentences are random ids; leave out the data.")
    processes = join_processes()
    cuda = processes.device.type == "cuda"
    rows = 1024 if cuda else 8
    prepared = Prepared(data) if data else None
    sizes = {"vocabulary": 8372, "mask_id": 4, "dropout": 0.0, "attention_dropout": 0.0, **(encoder or {})}
    if prepared:
        sizes |= {"vocabulary": len(prepared.vocabulary), "mask_id": prepared.vocabulary.mask}
    model = build(parse({"speller": "bert", "encoder": sizes})).to(processes.device)
    stream = (
        CorpusStream(prepared, NoiseConfig(), steps=1_000_000, batch_rows=rows, length=LENGTH, seed=0)
        if prepared
        else RandomRows(_lengths(rows, packed=packed), sizes["vocabulary"])
    )
    tokens = PACKED_TOKENS if cuda else 512
    loop = LoopConfig(
        optimiser=OptimiserConfig(kind="adamw" if packed else "muon", rate=1e-4),
        packed=packed,
        packed_tokens=tokens if packed else None,
        compile=cuda,
        precision=precision or ("bf16" if cuda else "fp32"),
        workers=12 if cuda and prepared else 0,
        log_every=10 if cuda else 1,
        save_seconds=0,
    )
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if progress.seconds - seen[0].seconds > seconds:
            raise _TimeIsUp

    with TemporaryDirectory() as folder, suppress(_TimeIsUp):
        Trainer(
            model,
            stream,
            loop,
            pad=0,
            seed=0,
            folder=Path(folder),
            processes=processes,
            report=watch,
        ).run()
    peak = matmul_peak(processes.device)
    first, last = seen[0], seen[-1]
    speed = (last.tokens - first.tokens) / (last.seconds - first.seconds)
    work = operations_per_token(model.config.encoder, sum(SENTENCES) // 2 if packed else LENGTH)
    return {
        "device": torch.cuda.get_device_name() if cuda else "CPU",
        "precision": loop.precision,
        "packed": packed,
        "tokens_per_second": speed,
        "operations_per_token": work,
        "peak_operations_per_second": peak,
        "share_of_peak": speed * work / peak,
    }


def _lengths(rows: int, *, packed: bool) -> NDArray[np.integer]:
    """The lengths of rows of 128 tokens, or of more sentences than fill the packed batch."""
    if not packed:
        return np.full(rows, LENGTH)
    return np.random.default_rng(0).integers(*SENTENCES, size=2 * rows)


def operations_per_token(encoder: EncoderConfig, length: int = LENGTH) -> float:
    """Multiplications and additions of a training step per token: products and attention, thrice forward."""
    matrices = encoder.layers * (4 * encoder.hidden**2 + 2 * encoder.hidden * encoder.intermediate)
    head = encoder.hidden**2 + encoder.hidden * encoder.vocabulary
    attention = 2 * encoder.layers * encoder.hidden * length
    return 6.0 * (matrices + head + attention)


def matmul_peak(device: torch.device, seconds: float = 2.0) -> float:
    """Operations per second of a large product on this device: in bf16 on a GPU, in fp32 on a CPU.

    Many CPUs have no bf16 arithmetic, and are many times slower in it.
    """
    size, dtype = (8192, torch.bfloat16) if device.type == "cuda" else (1024, torch.float32)
    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    wait: Callable[[], None] = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        wait()
        began = time.perf_counter()
        for _ in range(4):
            left @ right
        wait()
        best = min(best, (time.perf_counter() - began) / 4)
    return 2.0 * size**3 / best
