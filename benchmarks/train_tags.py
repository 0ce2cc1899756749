"""Trains the network that tags extra, missing and swapped characters, on top of a model that stays as it is.

    python benchmarks/train_tags.py read MODEL PREPARED FEATURES --set NAME [--rows N] [--seed S]
    python benchmarks/train_tags.py read-dev MODEL PREPARED FEATURES
    python benchmarks/train_tags.py train MODEL FEATURES OUT [--start OUT] [--epochs E] [--rate R] [--seed S]
    python benchmarks/train_tags.py add MODEL OUT NEW

It needs no GPU. `read` lets the int8 model read rows with errors, and keeps what the network sees of them:
the states of four layers, as bytes, and log-probabilities. PREPARED is what `nmspeller lab data prepare`
wrote; a set is one of its sets of pairs, or running text with errors of the noise model, `synthetic`, or most
of them swaps, `swapped`. Several of these may run side by side. `train` learns from all rows in FEATURES,
sets as often as --weights says, from random weights or those of another training. It measures on the dev rows
of `read-dev`, which no training saw, and on the sentences of PREPARED/clean0.txt (benchmarks/clean_text.py).
`add` writes the model folder NEW: MODEL with the network.
"""

import argparse
import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper
from safetensors.numpy import load_file, save_file

from nmspeller.lab.data.alignment import EXTRA, MISSING, SWAPPED
from nmspeller.lab.data.edit_sets import DEV_FILE, edit_arrays, read_dev
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.export.arithmetic import Integer
from nmspeller.lab.export.bert_graph import build
from nmspeller.lab.export.export import record_hash
from nmspeller.lab.export.onnx_weights import read_exported
from nmspeller.lab.export.tag_proposals import TARGETS
from nmspeller.lab.export.weights import TAGS, SpellerWeights
from nmspeller.lab.models.batch import NO_TARGET, Batch
from nmspeller.lab.models.speller import tag_bits, tag_loss
from nmspeller.lab.models.tag_network import TagNetwork
from nmspeller.lab.models.tag_sizes import KINDS, LEAST_PROBABILITY, LIKELIHOODS, states_read
from nmspeller.lab.training.averaging import move_averages
from nmspeller.lab.training.corruption import NoiseConfig, Row, with_specials
from nmspeller.lab.training.streams import PairStream
from nmspeller.runtime.onnx_runtime import onnxruntime

NOISE = NoiseConfig(
    profiles={"writer": 0.45, "input_method": 0.25, "learner": 0.2, "scanner": 0.1},
    clean=0.3,
    similar=0.4,
    density=(0.004, 0.03),
    unlike=0.15,
    edits=0.8,
    edit_kinds={"missing": 0.55, "extra": 0.37, "swapped": 0.08},
    spare_masks=0.06,
)
SWAPPED_NOISE = replace(NOISE, clean=0.1, edit_kinds={"missing": 0.1, "extra": 0.1, "swapped": 0.8})
SYNTHETIC = {"synthetic": NOISE, "swapped": SWAPPED_NOISE}
REAL_SPARE_MASKS = 0.04
WEIGHTS = {
    "edits_revisions": 6.0, "edits_native_word": 8.0, "edits_native": 3.0, "edits_learners_word": 3.0,
    "edits_learners": 0.5, "edits_revisions_clean": 1.0, "edits_gec_clean": 0.5, "native_clean": 1.0,
    "synthetic": 1.0, "swapped": 1.0,
}  # fmt: skip
SHARD_TOKENS, BATCH_TOKENS, BATCH_ROWS, POOL = 40_000, 512, 64, 32
CLEAN_SHARES = (0.002, 0.005, 0.02)
CLEAN = "clean0"
HEAD = "head.dense"
TARGET = "target"
AVERAGE = 0.999
# Bytes around zero, about as large as numbers of a normal distribution.
_ZERO, _UNIT = 128, 40


class StateReader:
    """The model on the processor; the states that the network reads are outputs: bytes, as it has them."""

    def __init__(self, model: Path) -> None:
        source = read_exported(model)
        assert source.encoder.fake_quantised, "the model must be one in integers"
        proto = build(replace(source, weights=_without_tags(source)), Integer(source.weights))
        makers = {output: node for node in proto.graph.node for output in node.output}
        # The head reads the last state without [CLS] and [SEP]; here it is read with them.
        dense = next(node for node in proto.graph.node if f"{HEAD}.weight" in node.input)
        quantise = makers[dense.input[0]]
        scale = makers[quantise.input[0]]
        whole = makers[scale.input[0]].input[0]
        proto.graph.node.extend(
            [
                helper.make_node("Mul", [whole, scale.input[1]], ["last_scaled"]),
                helper.make_node("QuantizeLinear", ["last_scaled", *quantise.input[1:3]], ["last_state"]),
            ]
        )
        self._states = [
            "last_state"
            if name == HEAD
            else next(node.input[0] for node in proto.graph.node if f"{name}.weight" in node.input)
            for name in _readers(source)
        ]
        probabilities = next(node.output[0] for node in proto.graph.node if node.op_type == "Softmax")
        for name, kind in [
            *((name, TensorProto.UINT8) for name in dict.fromkeys(self._states)),
            (probabilities, 1),
        ]:
            proto.graph.output.append(helper.make_tensor_value_info(name, kind, None))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self._session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._probabilities = probabilities

    def read(self, rows: Sequence[Row], pad: int) -> dict[str, NDArray[Any]]:
        """What the network sees of all tokens, row by row: states (tokens, 4 × hidden) u8, and so on."""
        found: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}
        for chosen in _batches(rows):
            lengths = np.array([len(rows[number].ids) for number in chosen], np.int32)
            ids = np.full((len(chosen), lengths.max()), pad, np.int32)
            for place, number in enumerate(chosen):
                ids[place, : lengths[place]] = rows[number].ids
            *states, probabilities = self._session.run(
                [*self._states, self._probabilities], {"ids": ids, "lengths": lengths}
            )
            together = np.concatenate(states, axis=2)
            likely = _log_likelihoods(ids, probabilities)
            for place, number in enumerate(chosen):
                own = likely[place, : lengths[place]].copy()
                own[-1] = 0
                found[number] = together[place, : lengths[place]], own
        return {
            "features": np.concatenate([found[number][0] for number in range(len(rows))]),
            "scalars": np.concatenate([found[number][1] for number in range(len(rows))]),
            "ids": np.concatenate([row.ids for row in rows]).astype(np.uint16),
            "tags": np.concatenate([row.tags for row in rows]).astype(np.int8),
            "starts": np.cumsum([0, *(len(row.ids) for row in rows)]),
        }


def _log_likelihoods(ids: NDArray[np.int32], probabilities: NDArray[np.float32]) -> NDArray[np.float16]:
    """ids (rows, length), probabilities (rows, length - 2, vocabulary) → (rows, length, 4)."""
    likely = np.zeros((*ids.shape, LIKELIHOODS), np.float16)
    around = (ids[:, 1:-1], ids[:, 2:], ids[:, :-2])
    found = [np.take_along_axis(probabilities, each[..., None], axis=2) for each in around]
    found.append(probabilities.max(axis=2, keepdims=True))
    likely[:, 1:-1] = np.log(np.maximum(np.concatenate(found, axis=2), LEAST_PROBABILITY))
    return likely


def _batches(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Rows of similar length, together at most BATCH_TOKENS."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].ids))
    chosen: list[int] = []
    for number in order:
        if chosen and (len(chosen) + 1) * len(rows[number].ids) > BATCH_TOKENS:
            yield chosen
            chosen = []
        chosen.append(number)
    yield chosen


def _readers(source: SpellerWeights) -> list[str]:
    """The layers of the speller that read the same states, and have them as bytes."""
    layers = source.encoder.layers
    return [
        f"semantic.layers.{number}.attention.qkv" if number < layers else HEAD
        for number in states_read(layers)
    ]


def _without_tags(source: SpellerWeights) -> dict[str, NDArray[np.float32]]:
    return {name: array for name, array in source.weights.items() if not name.startswith(f"{TAGS}.")}


def read(options: argparse.Namespace) -> None:
    """Rows of one set, in files of SHARD_TOKENS."""
    prepared, reader = Prepared(options.prepared), StateReader(options.model)
    synthetic = options.set in SYNTHETIC
    stream = PairStream(
        prepared,
        SYNTHETIC.get(options.set, replace(NOISE, spare_masks=REAL_SPARE_MASKS)),
        copies={} if synthetic else {options.set: 1},
        synthetic=options.rows if synthetic else 0,
        epochs=1,
        batch_sentences=None,
        batch_tokens=SHARD_TOKENS,
        seed=options.seed,
        join=0.3 if synthetic else 0.4,
        sort=False,
    )
    done = 0
    for step in range(len(stream)):
        rows = stream.rows(step)
        write(
            options.features,
            f"{options.set}-{options.seed}-{step:03d}",
            reader.read(rows, prepared.vocabulary.pad),
        )
        done += len(rows)
        print(options.set, step, done, flush=True)
        if done >= options.rows:
            break


def read_dev_rows(options: argparse.Namespace) -> None:
    """The dev pairs of TARGETS, and clean sentences."""
    prepared, reader = Prepared(options.prepared), StateReader(options.model)
    vocabulary, limit = prepared.vocabulary, 126
    dev = read_dev(options.prepared / DEV_FILE)
    pairs = edit_arrays(
        [pair for name in TARGETS for pair in dev[name] if len(pair.source) <= limit], vocabulary
    )
    rows = [
        with_specials(*pairs[number], vocabulary, pairs.tags_of(number).astype(np.int64))
        for number in range(len(pairs))
    ]
    write(options.features / "dev", TARGET, reader.read(rows, vocabulary.pad))
    sentences = (options.prepared / f"{CLEAN}.txt").read_text(encoding="utf-8").splitlines()
    clean = [vocabulary.encode(text)[:limit] for text in sentences]
    write(
        options.features / "dev",
        CLEAN,
        reader.read([with_specials(ids, ids, vocabulary) for ids in clean], vocabulary.pad),
    )


def write(folder: Path, name: str, arrays: dict[str, NDArray[Any]]) -> None:
    """The features last: a file of them stands for all."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in sorted(arrays, key=lambda part: part == "features"):
        np.save(folder / f"{name}.{part}.part.npy", arrays[part])
        os.replace(folder / f"{name}.{part}.part.npy", folder / f"{name}.{part}.npy")


@dataclass(frozen=True)
class Shard:
    """Rows of one set, with what the network sees of them."""

    name: str
    features: NDArray[np.uint8]  # (tokens, 4 × hidden)
    scalars: NDArray[np.float16]  # (tokens, 4)
    tags: NDArray[np.int8]  # (tokens,)
    starts: NDArray[np.int64]  # (rows + 1,)

    @classmethod
    def open(cls, folder: Path, name: str) -> "Shard":
        arrays = {part: np.load(folder / f"{name}.{part}.npy") for part in ("scalars", "tags", "starts")}
        return cls(name, np.load(folder / f"{name}.features.npy", mmap_mode="r"), **arrays)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def length(self, row: int) -> int:
        return int(self.starts[row + 1] - self.starts[row])


Pick = tuple[Shard, int]


def collate(picks: Sequence[Pick]) -> tuple[torch.Tensor, torch.Tensor, Batch]:
    """States (rows, length, 4 × hidden), likelihoods (rows, length, 4), and a batch with their tags."""
    lengths = np.array([shard.length(row) for shard, row in picks])
    shape = (len(picks), int(lengths.max()))
    states = np.full((*shape, picks[0][0].features.shape[1]), _ZERO, np.uint8)
    likely = np.zeros((*shape, LIKELIHOODS), np.float32)
    tags = np.full(shape, NO_TARGET, np.int64)
    for place, (shard, row) in enumerate(picks):
        here = slice(shard.starts[row], shard.starts[row + 1])
        states[place, : lengths[place]] = shard.features[here]
        likely[place, : lengths[place]] = shard.scalars[here]
        tags[place, : lengths[place]] = shard.tags[here]
    mask = torch.from_numpy(np.arange(shape[1]) < lengths[:, None])
    batch = Batch(torch.zeros(shape, dtype=torch.long), mask, tags=torch.from_numpy(tags))
    return (torch.from_numpy(states).float() - _ZERO) / _UNIT, torch.from_numpy(likely), batch


def predict(network: TagNetwork, shard: Shard) -> NDArray[np.float32]:
    """The probabilities of the tags: (tokens, 3)."""
    network.eval()
    found = np.zeros((len(shard.tags), KINDS), np.float32)
    order = sorted(range(len(shard)), key=shard.length)
    with torch.no_grad():
        for first in range(0, len(order), BATCH_ROWS):
            chosen = order[first : first + BATCH_ROWS]
            states, likely, batch = collate([(shard, row) for row in chosen])
            tags = network.tag(states, likely, batch).sigmoid().numpy()
            for place, row in enumerate(chosen):
                found[shard.starts[row] : shard.starts[row + 1]] = tags[place, : shard.length(row)]
    network.train()
    found[shard.tags == NO_TARGET] = 0
    return found


def judge(network: TagNetwork, dev: dict[str, Shard]) -> dict[str, float]:
    """In percent: average precision of each tag, and what is found where some clean sentences are tagged."""
    figures = {}
    clean, target = predict(network, dev[CLEAN]), predict(network, dev[TARGET])
    labels = tag_bits(torch.from_numpy(dev[TARGET].tags.astype(np.int64))).numpy().astype(bool)
    for column, (kind, bit) in enumerate((("extra", EXTRA), ("missing", MISSING), ("swapped", SWAPPED))):
        assert bit == 1 << column
        worst = np.sort(np.maximum.reduceat(clean[:, column], dev[CLEAN].starts[:-1]))[::-1]
        wanted, likely = labels[:, column], target[:, column]
        for share in CLEAN_SHARES:
            least = worst[int(share * len(worst))]
            figures[f"{kind} at {share:.1%}"] = 100 * float((likely[wanted] > least).mean())
        hits = wanted[np.argsort(-likely)]
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        figures[f"{kind}, average precision"] = 100 * float(precision[hits].mean())
    return {name: round(figure, 1) for name, figure in figures.items()}


def train(options: argparse.Namespace) -> None:
    """Train a network, and write it with a record of what it learnt from."""
    weights = {**WEIGHTS, **dict(_weight(each) for each in options.weights)}
    names = sorted(
        path.name.removesuffix(".features.npy") for path in options.features.glob("*.features.npy")
    )
    shards = [Shard.open(options.features, name) for name in names if weights.get(_set(name), 0)]
    dev = {name: Shard.open(options.features / "dev", name) for name in (TARGET, CLEAN)}
    torch.manual_seed(options.seed)
    source = read_exported(options.model)
    network = TagNetwork(replace(source.encoder, dropout=options.dropout))
    if options.start:
        _load(network, load_file(options.start / "tags.safetensors"), source)
    batches = list(_order(shards, weights, options.epochs, np.random.default_rng(options.seed)))
    matrices = [weight for weight in network.parameters() if weight.ndim > 1]
    others = [weight for weight in network.parameters() if weight.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    averages = [weight.detach().clone() for weight in network.parameters()]
    began, tokens, mean = time.perf_counter(), 0, 0.0
    for step, picks in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1, (step + 1) / 100) * (1 - 0.98 * step / len(batches))
        states, likely, batch = collate(picks)
        assert batch.tags is not None
        loss = tag_loss(network.tag(states, likely, batch), batch.tags)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        move_averages(averages, network, AVERAGE, step)
        tokens += int(batch.real.sum())
        mean = loss.item() if step == 0 else 0.98 * mean + 0.02 * loss.item()
        if step % 250 == 0:
            print(step, len(batches), f"{mean:.4f} {time.perf_counter() - began:.0f} s", flush=True)
        if step and step % 1000 == 0:
            print(judge(network, dev), flush=True)
    torch._foreach_copy_([weight.data for weight in network.parameters()], averages)
    record = {
        "start": _tokens_before(options.start),
        "rows": {name: _rows(shards, name) for name in sorted({_set(shard.name) for shard in shards})},
        "tokens": tokens,
        "seconds": round(time.perf_counter() - began),
        "loss": round(mean, 4),
        "seed": options.seed,
        "dev": judge(network, dev),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(as_read(network, source), options.out / "tags.safetensors")
    (options.out / "train.json").write_text(json.dumps(record, indent=1) + "\n")
    print(record, flush=True)


def _tokens_before(start: Path | None) -> int:
    """How many tokens the start of a training had seen, and its own start before."""
    if start is None:
        return 0
    before = json.loads((start / "train.json").read_text())
    return int(before.get("start", 0)) + int(before["tokens"])


def _weight(text: str) -> tuple[str, float]:
    name, _, weight = text.partition("=")
    return name, float(weight)


def _set(name: str) -> str:
    """The set that a shard is of."""
    return name.split("-")[0]


def _rows(shards: Sequence[Shard], name: str) -> int:
    return sum(len(shard) for shard in shards if _set(shard.name) == name)


def _order(
    shards: Sequence[Shard], weights: dict[str, float], epochs: float, random: np.random.Generator
) -> Iterator[list[Pick]]:
    """Every row as often as its set's weight says, in each epoch anew; batches of similar length."""
    picks: list[Pick] = []
    for epoch in range(math.ceil(epochs)):
        drawn: list[Pick] = []
        for shard in shards:
            times = weights[_set(shard.name)] * min(1.0, epochs - epoch)
            counts = int(times) + (random.random(len(shard)) < times % 1)
            drawn += [(shard, row) for row in np.repeat(np.arange(len(shard)), counts).tolist()]
        picks += [drawn[number] for number in random.permutation(len(drawn))]
    for first in range(0, len(picks), BATCH_ROWS * POOL):
        pool = sorted(picks[first : first + BATCH_ROWS * POOL], key=lambda pick: pick[0].length(pick[1]))
        for start in random.permutation(np.arange(0, len(pool), BATCH_ROWS)).tolist():
            yield pool[start : start + BATCH_ROWS]


def as_read(network: TagNetwork, source: SpellerWeights) -> dict[str, NDArray[np.float32]]:
    """The network's weights for states as they are, instead of bytes around zero."""
    weights = {name: tensor.detach().numpy().copy() for name, tensor in network.state_dict().items()}
    scale, zero = _scale_and_zero(source)
    weights["states.bias"] = weights["states.bias"] + weights["states.weight"] @ zero
    weights["states.weight"] = weights["states.weight"] / scale
    return {name: array.astype(np.float32) for name, array in weights.items()}


def _load(network: TagNetwork, weights: dict[str, NDArray[np.float32]], source: SpellerWeights) -> None:
    """The reverse of `as_read`."""
    scale, zero = _scale_and_zero(source)
    weight = weights["states.weight"] * scale
    own = {**weights, "states.weight": weight, "states.bias": weights["states.bias"] - weight @ zero}
    network.load_state_dict({name: torch.from_numpy(np.float32(array)) for name, array in own.items()})


def _scale_and_zero(source: SpellerWeights) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """What a step of each byte is in units of a state, and zero in units of a byte: (4 × hidden,) each."""
    readers = _readers(source)
    scale = np.concatenate([source.weights[f"{name}.scale"] for name in readers])
    zero = np.repeat([float(source.weights[f"{name}.zero_point"]) for name in readers], source.encoder.hidden)
    return _UNIT * scale, (zero - _ZERO) / _UNIT


def add(options: argparse.Namespace) -> None:
    """A model folder with a network."""
    trained = load_file(options.out / "tags.safetensors")
    tags = {f"{TAGS}.{name}": array for name, array in trained.items()}
    source = read_exported(options.model)
    source = replace(source, weights={**_without_tags(source), **tags})
    new: Path = options.new
    new.mkdir(parents=True, exist_ok=True)
    for name in ("vocab.txt", "policy.json", "card.md"):
        shutil.copy(options.model / name, new / name)
    model: onnx.ModelProto = build(source, Integer(source.weights))
    (new / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    record_hash(new)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    wanted: dict[str, tuple[Any, tuple[str, ...]]] = {
        "read": (read, ("prepared", "features")), "read-dev": (read_dev_rows, ("prepared", "features")),
        "train": (train, ("features", "out")), "add": (add, ("out", "new")),
    }  # fmt: skip
    for command, (function, names) in wanted.items():
        own = commands.add_parser(command)
        own.set_defaults(command=function)
        for name in ("model", *names):
            own.add_argument(name, type=Path)
        if command == "read":
            own.add_argument("--set", required=True)
            own.add_argument("--rows", type=int, default=10**9)
        if command in ("read", "train"):
            own.add_argument("--seed", type=int, default=0)
        if command == "train":
            own.add_argument("--start", type=Path, metavar="OUT")
            own.add_argument("--epochs", type=float, default=2.0)
            own.add_argument("--rate", type=float, default=1.5e-3)
            own.add_argument("--dropout", type=float, default=0.1)
            own.add_argument("--weights", nargs="*", default=[], metavar="SET=WEIGHT")
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
