"""The experiment `paper_setting` on a GPU machine that has PyTorch, numpy, safetensors and PyYAML alone.

    python benchmarks/train_model3.py starts PARTS OUT --names encoder    # a checkpoint from its parts
    python benchmarks/paper_setting.py pretrain OUT/encoder RUNS/masked_only --data PREPARED
    python benchmarks/paper_setting.py pack RUNS/masked_only PARTS        # to start from at another time
    python benchmarks/paper_setting.py time START --data PREPARED --jobs none:0,trigram:0
    python benchmarks/paper_setting.py train START RUNS --data PREPARED --jobs none:0,right-bigram:0,trigram:0

All jobs, n-gram and seed each, are trained together, since one training does not fill a large GPU. `time`
trains them for some seconds and prints the steps a second. `train` leaves a file for each run, as
`nmspeller lab experiment` does.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import packing
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation.experiments import Job, jobs, run_jobs_together
from nmspeller.lab.models import checkpoint
from nmspeller.lab.training.device_trainer import DeviceTrainer, Trainee
from nmspeller.lab.training.distributed import join_processes
from nmspeller.lab.training.pretrain import pretrain
from nmspeller.lab.training.recipes import read_pretrain_recipe, read_recipe, with_seconds
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.trainer import Progress

EXPERIMENT = "paper_setting"


def find_jobs(given: str, recipe: str) -> list[Job]:
    """The jobs that are named as n-gram and seed, such as none:0,trigram:2."""
    named = [tuple(each.split(":")) for each in given.split(",")]
    known = jobs(EXPERIMENT, sorted({int(seed) for _, seed in named}), recipe=recipe)
    return [job for ngram, seed in named for job in known if (job.ngram, str(job.seed)) == (ngram, seed)]


def pretrain_start(options: argparse.Namespace) -> None:
    """Pretrain on masked text alone; prints what held-out text says of the encoder before and after."""
    recipe = read_pretrain_recipe(_pretraining(options.recipe))
    recipe = with_seconds(recipe, options.seconds) if options.seconds else recipe
    found = pretrain(recipe, data=options.data, out=options.out, start=options.start, report=_say_loss(50))
    found.pop("data")
    (options.out / "pretrain.json").write_text(json.dumps(found) + "\n")
    print(found, flush=True)


def _pretraining(name: str) -> Any:
    from nmspeller.lab.configs import read_config

    return read_config("pretrain", name)["recipe"]


def pack(options: argparse.Namespace) -> None:
    """A float checkpoint in parts, its matrices as int8 rows with a scale each."""
    weights = {
        name: tensor.numpy() for name, tensor in checkpoint.load(options.checkpoint)[0].state_dict().items()
    }
    for name, array in list(weights.items()):
        if name.endswith(".weight") and array.ndim == 2 and ".embeddings." not in name:
            weights[f"{name.removesuffix('.weight')}.scale"] = np.ones(array.shape[1], np.float32)
    for path in packing.pack(weights, options.out, options.checkpoint.name, parts=options.parts):
        print(path, path.stat().st_size, flush=True)
    (options.out / "vocab.txt").write_bytes((options.checkpoint / "vocab.txt").read_bytes())


def train(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = find_jobs(options.jobs, options.recipe)

    def report(job: Job) -> Callable[[Progress], None]:
        return _say_loss(1_000, job.name)

    run_jobs_together(chosen, data=options.data, start=options.start, out=options.out, reports=report)
    print("trained", *(job.name for job in chosen), flush=True)


def measure_time(options: argparse.Namespace) -> None:
    """Train all jobs together for some seconds."""
    print(time_steps(find_jobs(options.jobs, options.recipe), options), flush=True)


def time_steps(chosen: Sequence[Job], options: argparse.Namespace) -> dict[str, Any]:
    """How many steps of all jobs together a second has."""
    processes, prepared, began = join_processes(), Prepared(options.data), time.perf_counter()
    (stage,) = read_recipe(chosen[0].recipe).stages
    trainees = [
        Trainee(
            start_model(
                job.model, options.start, vocabulary=prepared.vocabulary, dropout=stage.dropout, seed=job.seed
            ).to(processes.device),
            seed=job.seed,
            folder=Path(),
        )
        for job in chosen
    ]
    pairs = stage.device_pairs(prepared, processes.device)
    trainer = DeviceTrainer(trainees, pairs, stage.loop, epochs=1)
    trainer.choose()
    trainer.optimiser.set_rate(0.1)
    for _ in range(6):
        trainer.advance()
    losses = trainer.seen_losses[:6].tolist()  # waits for the device
    ready = time.perf_counter() - began
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < options.seconds and steps + 26 < len(pairs):
        for _ in range(20):
            trainer.optimiser.set_rate(0.1)
            trainer.advance()
        steps += 20
        float(trainer.cursor)  # waits for the device
    return {
        "jobs": [job.name for job in chosen],
        "steps_a_second": round(steps / (time.perf_counter() - began), 1),
        "ready_after": round(ready, 1),
        "first_losses": losses[0],
        "last_losses": trainer.seen_losses[: steps + 6][-20:].mean(dim=0).tolist(),
        "memory": torch.cuda.max_memory_allocated() if processes.device.type == "cuda" else 0,
    }


def _say_loss(every: int, name: str = "") -> Callable[[Progress], None]:
    said = 0

    def say(progress: Progress) -> None:
        nonlocal said
        if progress.step // every > said:
            said = progress.step // every
            seconds, loss = round(progress.seconds), round(progress.loss, 4)
            print(name, f"{progress.step} of {progress.steps}, {seconds} s, loss {loss}", flush=True)

    return say


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)

    def command(name: str, do: Callable[[argparse.Namespace], None], *places: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name)
        one.set_defaults(do=do)
        for place in places:
            one.add_argument(place, type=Path)
        return one

    one = command("pretrain", pretrain_start, "start", "out")
    one.add_argument("--data", type=Path, required=True)
    one.add_argument("--recipe", default="masked_only")
    one.add_argument("--seconds", type=float)
    one = command("pack", pack, "checkpoint", "out")
    one.add_argument("--parts", type=int, default=6)
    for name, do, places in (("time", measure_time, ["start"]), ("train", train, ["start", "out"])):
        one = command(name, do, *places)
        one.add_argument("--data", type=Path, required=True)
        one.add_argument("--jobs", required=True)
        one.add_argument("--recipe", default=EXPERIMENT)
        if name == "time":
            one.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
