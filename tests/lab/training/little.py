"""python little.py PREPARED START OUT PAUSE DROPOUT: a small training, to be killed or distributed.

OUT/process has the id of the process that trains.
"""

import os
import sys
import time
from pathlib import Path

from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.training.corruption import NoiseConfig
from nmspeller.lab.training.distributed import join_processes
from nmspeller.lab.training.optimisation import OptimiserConfig
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.streams import PairStream
from nmspeller.lab.training.trainer import LoopConfig, Trainer


def train(
    prepared,
    start,
    out,
    *,
    pause=0.0,
    dropout=0.1,
    kind="muon",
    save_seconds=0.001,
    epochs=1,
    teacher=None,
    **loop,
):
    model = start_model({"speller": "bert"}, Path(start), dropout=dropout)
    stream = PairStream(
        prepared,
        NoiseConfig(),
        copies={"sighan15_train": 8},
        synthetic=64,
        epochs=epochs,
        batch_sentences=8,
        batch_tokens=None,
        seed=3,
    )
    config = LoopConfig(
        optimiser=OptimiserConfig(kind=kind, rate=2e-3),
        save_seconds=save_seconds,
        **{"precision": "fp32", "log_every": 1, **loop},
    )
    trainer = Trainer(
        model,
        stream,
        config,
        pad=prepared.vocabulary.pad,
        seed=3,
        folder=Path(out),
        processes=join_processes(),
        report=lambda _: time.sleep(pause),
        teacher=teacher,
    )
    return model, trainer.run()


if __name__ == "__main__":
    folder, start, out, pause, dropout = sys.argv[1:]
    Path(out).mkdir(exist_ok=True)
    (Path(out) / "process").write_text(str(os.getpid()))
    train(Prepared(Path(folder)), start, out, pause=float(pause), dropout=float(dropout))
