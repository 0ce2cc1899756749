"""The trainings behind model 3, step by step; needs the core, PyTorch and safetensors, `reopen` onnx too.

    python benchmarks/train_model3.py starts PARTS OUT         # OUT/backbone and OUT/model2 from their parts
    python benchmarks/train_model3.py pretrain CONFIG OUT --data DATA [--seconds S]    # from random weights
    python benchmarks/train_model3.py reopen EXPORTED OUT [--without-tags]             # in floats again
    python benchmarks/train_model3.py train RECIPE START OUT --data DATA [--teacher CHECKPOINT] [--seconds S]
                                               [--tags CHECKPOINT]
    python benchmarks/train_model3.py judge CHECKPOINT --data DATA --out FILE
    python benchmarks/train_model3.py mix A B OUT --data DATA --shares 0.35,0.5,0.65
    python benchmarks/train_model3.py pick MIX OUT               # the best of several mixes below a folder
    python benchmarks/train_model3.py quantise CHECKPOINT OUT --data DATA
    python benchmarks/train_model3.py pack CHECKPOINT OUT
    python benchmarks/train_model3.py unpack PARTS CHECKPOINT_LIKE OUT

DATA is what `nmspeller lab data prepare` wrote, with clean0.txt of benchmarks/clean_text.py in it. A recipe
is a JSON file, or a name where PyYAML is installed. `mix` judges both checkpoints and their means and writes
the best.
"""

import argparse
import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import dev_characters
import dev_tags
import packing
from nmspeller.lab.configs import read_config
from nmspeller.lab.data.edit_sets import DEV_FILE, read_dev
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.export.onnx_weights import in_floats, read_exported
from nmspeller.lab.export.weights import OUTPUT, TAGS
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.config import EncoderConfig
from nmspeller.lab.models.registry import from_arrays
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.finetune import finetune
from nmspeller.lab.training.pretrain import pretrain as pretrain_encoder
from nmspeller.lab.training.recipes import read_pretrain_recipe, read_recipe, with_budget, with_seconds
from nmspeller.lab.training.start import load_teacher, start_model, take_weights
from readings import Reader
from torch_fitting import fake_quantised

CLEAN_SHARE = "0.4%"  # of clean sentences changed, where tags are judged beside characters
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def pretrain(options: argparse.Namespace) -> None:
    """Pretrain a BERT of the sizes in a config of `lab pretrain`."""
    values = read_config("pretrain", options.recipe)
    plan = read_pretrain_recipe(values["recipe"])
    if options.seconds:
        plan = with_seconds(plan, options.seconds)
    result = pretrain_encoder(
        plan, data=options.data, out=options.out, start=None, encoder=values["encoder"], seed=options.seed
    )
    (options.out / "pretrain.json").write_text(json.dumps(result) + "\n")
    print({name: result[name] for name in ("after", "seconds", "tokens")}, flush=True)


def train(options: argparse.Namespace) -> None:
    """Train from a start; a start that is fake-quantised stays so."""
    began, prepared = time.perf_counter(), Prepared(options.data)
    recipe = options.recipe
    plan = read_recipe(json.loads(Path(recipe).read_text()) if recipe.endswith(".json") else recipe)
    if options.seconds:
        plan = with_budget(plan, options.seconds)
    if options.workers is not None:
        stages = (replace(stage, loop=replace(stage.loop, workers=options.workers)) for stage in plan.stages)
        plan = replace(plan, stages=tuple(stages))
    description = {"speller": "bert", "tags": not plan.stages[0].detect}
    model = start_model(description, options.start, vocabulary=prepared.vocabulary, seed=options.seed)
    if options.tags:
        known = take_weights(model, options.tags, only=("tags.",))
        model.new_parameters = set(model.new_parameters) - known
    teacher = load_teacher(options.teacher, prepared.vocabulary) if options.teacher else None
    steps: list[Any] = []
    finetune(model, plan, prepared, out=options.out, seed=options.seed, report=steps.append, teacher=teacher)
    checkpoint.save(options.out, model, prepared.vocabulary.tokens, card=f"# {Path(recipe).stem}\n")
    seconds = time.perf_counter() - began
    tokens = sum(each.tokens for each, after in zip(steps, [*steps[1:], None], strict=True)
                 if after is None or after.tokens < each.tokens)  # fmt: skip
    record = {"recipe": Path(recipe).stem, "seconds": round(seconds), "tokens": tokens}
    (options.out / "train.json").write_text(json.dumps(record) + "\n")
    print(record, "last loss", steps[-1].loss if steps else None, flush=True)


def figures(model: SpellerModel, data: Path, *, tags_too: bool = True) -> dict[str, Any]:
    """Dev figures of a model, of characters alone or of tags too, and the number that chooses weights."""
    prepared = Prepared(data)
    clean = (data / "clean0.txt").read_text(encoding="utf-8").splitlines()
    reader = Reader(model.to(DEVICE), prepared.vocabulary)
    read = dev_characters.read(reader, prepared, clean)
    characters, weighed = read.at_shares(), read.weighed()
    result: dict[str, Any] = {"characters": characters, "weighed": weighed}
    chosen = weighed["chosen_by"]
    if tags_too and model.tags is not None:
        threshold = characters[CLEAN_SHARE]["threshold"]
        tags = dev_tags.judge(reader, read_dev(data / DEV_FILE), clean, threshold)
        result["tags"] = tags
        kinds = [tags["target"].get(kind, 0.0) for kind in ("extra", "missing", "swap")]
        chosen = 0.75 * chosen + 0.25 * sum(kinds) / len(kinds)
    return {"chosen_by": round(chosen, 2), **result}


def reopen(options: argparse.Namespace) -> None:
    """An exported model as a checkpoint in floats, to be a teacher, a part of a mean or a start."""
    floats = in_floats(read_exported(options.exported))
    weights = {
        name: array
        for name, array in floats.weights.items()
        if not (options.without_tags and name.startswith(f"{TAGS}."))
    }
    model = from_arrays(floats.encoder, weights)
    checkpoint.save(options.out, model, floats.vocabulary.tokens, card="# Reopened in floats\n")


def judge(options: argparse.Namespace) -> None:
    model, _ = checkpoint.load(options.checkpoint)
    found = figures(model, options.data)
    options.out.write_text(json.dumps(found, ensure_ascii=False) + "\n")
    _say(options.checkpoint.name, found)


def mix(options: argparse.Namespace) -> None:
    """Judge A, B and means of them; write the best of the means and single ones.

    What B does not have, as tags where it knows none, is A's.
    """
    (one, tokens), (other, _) = (checkpoint.load(folder) for folder in (options.a, options.b))
    states = one.state_dict(), other.state_dict()
    judged: dict[str, dict[str, Any]] = {}
    best = -1.0
    for share in [float(each) for each in options.shares.split(",")]:
        model, _ = checkpoint.load(options.a)
        model.load_state_dict(
            {
                name: torch.lerp(states[1].get(name, tensor), tensor, share)
                for name, tensor in states[0].items()
            }
        )
        found = figures(model, options.data, tags_too=not options.characters)
        judged[f"{share:g} A + {1 - share:g} B"] = found
        _say(f"{share:g} A + {1 - share:g} B", found)
        if found["chosen_by"] > best:
            best = found["chosen_by"]
            checkpoint.save(options.out, model.cpu(), tokens, card=f"# {share:g} A + {1 - share:g} B\n")
    for found in judged.values():
        if "tags" in found:
            found["tags"] = {
                name: value for name, value in found["tags"].items() if not name.endswith("edits")
            }
    (options.out / "mix.json").write_text(json.dumps(judged, ensure_ascii=False) + "\n")


def pick(options: argparse.Namespace) -> None:
    """The best of the mixes in the folders below one, and what was said of all of them."""
    judged = {path.parent: json.loads(path.read_text()) for path in sorted(options.mixes.glob("*/mix.json"))}
    best = max(judged, key=lambda folder: max(each["chosen_by"] for each in judged[folder].values()))
    shutil.copytree(best, options.out, dirs_exist_ok=True)
    everything = {name: found for each in judged.values() for name, found in each.items()}
    (options.out / "mix.json").write_text(json.dumps(everything, ensure_ascii=False) + "\n")
    print("picked", best.name, flush=True)


def quantise(options: argparse.Namespace) -> None:
    """The start of quantisation-aware training, fitted to sources of dev pairs and to clean sentences."""
    model, tokens = checkpoint.load(options.checkpoint)
    prepared = Prepared(options.data)
    clean = (options.data / "clean0.txt").read_text(encoding="utf-8").splitlines()
    sources = [pair.source for pairs in read_dev(options.data / DEV_FILE).values() for pair in pairs]
    texts = [
        text[:126] for text in np.random.default_rng(0).permutation(np.array([*clean[:600], *sources[:900]]))
    ]
    vocabulary = prepared.vocabulary
    rows = [np.concatenate(([vocabulary.cls], vocabulary.encode(text), [vocabulary.sep])) for text in texts]
    checkpoint.save(options.out, fake_quantised(model.to(DEVICE), rows), tokens, card="# Rounded\n")


def pack(options: argparse.Namespace) -> None:
    model, _ = checkpoint.load(options.checkpoint)
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    for path in packing.pack(weights, options.out, "model3", parts=options.parts):
        print(path, path.stat().st_size, flush=True)


def unpack(options: argparse.Namespace) -> None:
    """A checkpoint from its parts; a folder with vocab.txt says which characters it knows."""
    weights = packing.unpack(_parts(options.parts, "model3"))
    tokens = (options.like / "vocab.txt").read_text(encoding="utf-8").splitlines()
    encoder = _sizes(weights, fake_quantised=f"{OUTPUT}.scale" in weights)
    checkpoint.save(options.out, from_arrays(encoder, weights), tokens, card="# Model 3\n")


def starts(options: argparse.Namespace) -> None:
    """The pretrained encoder and model 2, both in floats, as checkpoints."""
    tokens = (options.parts / "vocab.txt").read_text(encoding="utf-8").splitlines()
    for name in options.names.split(","):
        weights = packing.unpack(_parts(options.parts, name))
        floats = {key: array for key, array in weights.items() if not key.endswith((".scale", ".zero_point"))}
        encoder = _sizes(floats, fake_quantised=False)
        checkpoint.save(options.out / name, from_arrays(encoder, floats), tokens, card=f"# {name}\n")


def _sizes(weights: packing.Weights, *, fake_quantised: bool) -> EncoderConfig:
    """The sizes of a BERT with heads of 64 channels, read off its weights."""
    vocabulary, hidden = weights[packing.TABLE].shape
    return EncoderConfig(
        vocabulary=vocabulary,
        hidden=hidden,
        layers=sum(name.endswith(".attention.qkv.weight") for name in weights),
        heads=max(hidden // 64, 1),
        intermediate=len(weights["semantic.layers.0.feed_forward.up.bias"]),
        positions=len(weights["semantic.embeddings.positions.weight"]),
        mask_id=4,
        fake_quantised=fake_quantised,
    )


def _parts(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}.*.xz"), key=lambda path: int(path.name.split(".")[-2]))


def _say(name: str, found: dict[str, Any]) -> None:
    weighed, tags = found["weighed"], found.get("tags", {})
    short = {key: weighed[key] for key in ("macro", "native", "revisions", "sighan", "ecspell")}
    keys = ("target", "target_by_tags", "thresholds", "clean_by_tags", "clean_by_all")
    print(name, found["chosen_by"], short, {key: tags.get(key) for key in keys}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    wanted: dict[Any, tuple[str, ...]] = {
        pretrain: ("recipe", "out"), train: ("recipe", "start", "out"),
        judge: ("checkpoint",), mix: ("a", "b", "out"),
        quantise: ("checkpoint", "out"), pack: ("checkpoint", "out"), unpack: ("parts", "like", "out"),
        reopen: ("exported", "out"), starts: ("parts", "out"), pick: ("mixes", "out"),
    }  # fmt: skip
    for command, names in wanted.items():
        own = commands.add_parser(command.__name__)
        own.set_defaults(command=command)
        for name in names:
            own.add_argument(name, type=str if name == "recipe" else Path)
        if command in (pretrain, train, judge, mix, quantise):
            own.add_argument("--data", type=Path, required=True)
        if command is reopen:
            own.add_argument("--without-tags", action="store_true")
        if command is pack:
            own.add_argument("--parts", type=int, default=8)
        if command is judge:
            own.add_argument("--out", type=Path, required=True)
        if command is mix:
            own.add_argument("--shares", default="0,0.35,0.5,0.65,1")
            own.add_argument("--characters", action="store_true", help="judge and choose by characters alone")
        if command is starts:
            own.add_argument("--names", default="backbone,model2")
        if command in (pretrain, train):
            own.add_argument("--seconds", type=float)
            own.add_argument("--seed", type=int, default=0)
        if command is train:
            own.add_argument("--teacher", type=Path)
            own.add_argument("--tags", type=Path, help="a checkpoint with the network of tags to start from")
            own.add_argument("--workers", type=int)
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
