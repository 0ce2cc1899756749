"""Our parameter names, Hugging Face's BERT names, and our own of earlier versions; no torch.

`PARTS` is the table. A right-hand side of several names stands for their concatenation: queries, keys and
values are one matrix here and three there. Token types are folded into the positions, because a speller only
ever sees type 0: reading adds row 0 of the type table to every position, writing leaves one zero row.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from nmspeller.errors import InputError
from nmspeller.lab.models.config import EncoderConfig

PARTS: dict[str, tuple[str, ...]] = {
    "embeddings.words": ("embeddings.word_embeddings",),
    "embeddings.positions": ("embeddings.position_embeddings",),
    "embeddings.norm": ("embeddings.LayerNorm",),
    "layers.{i}.attention.qkv": (
        "encoder.layer.{i}.attention.self.query",
        "encoder.layer.{i}.attention.self.key",
        "encoder.layer.{i}.attention.self.value",
    ),
    "layers.{i}.attention.out": ("encoder.layer.{i}.attention.output.dense",),
    "layers.{i}.attention_norm": ("encoder.layer.{i}.attention.output.LayerNorm",),
    "layers.{i}.feed_forward.up": ("encoder.layer.{i}.intermediate.dense",),
    "layers.{i}.feed_forward.down": ("encoder.layer.{i}.output.dense",),
    "layers.{i}.output_norm": ("encoder.layer.{i}.output.LayerNorm",),
}
HEAD: dict[str, str] = {
    "head.dense.weight": "cls.predictions.transform.dense.weight",
    "head.dense.bias": "cls.predictions.transform.dense.bias",
    "head.norm.weight": "cls.predictions.transform.LayerNorm.weight",
    "head.norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "head.output.bias": "cls.predictions.bias",
}
"""The masked-language-model head; its decoder's weight is tied to the word embeddings on both sides."""

TYPES = "embeddings.token_type_embeddings.weight"
SEMANTIC = "semantic."
"""The prefix of the encoder's tensors in every speller."""

Tensors = dict[str, Any]

# Names of checkpoints of format 1, and what each part is called today.
_EARLIER = (
    (r"^semantic\.masking\.layer\.", "semantic.masking."),
    (r"(layers\.\d+|fusion\.\d+|semantic\.masking)\.(qkv|out)\.", r"\1.attention.\2."),
    (r"(layers\.\d+|fusion\.\d+|semantic\.masking)\.(up|down)\.", r"\1.feed_forward.\2."),
    (r"^head\.(bias|steps|zero)$", r"head.output.\1"),
    (r"\.steps$", ".scale"),
    (r"\.zero$", ".zero_point"),
    (r"\.scales$", ".weight_scale"),
    (r"\.reach$", ".channel_scale"),
    (r"\.share$", ".inverse_channel_scale"),
)


def modern_name(name: str) -> str:
    """Today's name of a tensor that an earlier version may have written; today's names stay as they are."""
    for pattern, replacement in _EARLIER:
        name = re.sub(pattern, replacement, name)
    return name


def modern_names(tensors: Mapping[str, Any]) -> Tensors:
    """The tensors of a checkpoint of any version under today's names."""
    return {modern_name(name): tensor for name, tensor in tensors.items()}


def encoder_names(layers: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(our name, Hugging Face's names), one per tensor; without `semantic.` and without `bert.`."""
    for ours, theirs in PARTS.items():
        endings = ("weight",) if ours in ("embeddings.words", "embeddings.positions") else ("weight", "bias")
        for i in range(layers) if "{i}" in ours else [0]:
            for end in endings:
                yield f"{ours.format(i=i)}.{end}", tuple(f"{name.format(i=i)}.{end}" for name in theirs)


def from_hugging_face(
    tensors: Mapping[str, Any], layers: int, concatenate: Callable[[list[Any]], Any] = np.concatenate
) -> Tensors:
    """A speller's tensors from those of a BertModel or BertForMaskedLM, old or new, with or without the head.

    Raises:
        InputError: a tensor that every BERT has is missing.
    """
    theirs = {_without_prefix(name): tensor for name, tensor in tensors.items()}
    ours: Tensors = {}
    for name, sources in encoder_names(layers):
        missing = [source for source in sources if source not in theirs]
        if missing:
            raise InputError(f"these weights have no {missing[0]!r}; they are not a BERT of {layers} layers.")
        found = [theirs[source] for source in sources]
        ours[SEMANTIC + name] = found[0] if len(found) == 1 else concatenate(found)
    if TYPES in theirs:
        ours[f"{SEMANTIC}embeddings.positions.weight"] = (
            ours[f"{SEMANTIC}embeddings.positions.weight"] + theirs[TYPES][0]
        )
    if all(source in theirs for source in HEAD.values()):
        ours.update({name: theirs[source] for name, source in HEAD.items()})
    return ours


def to_hugging_face(tensors: Mapping[str, Any], layers: int) -> Tensors:
    """The tensors of a BertForMaskedLM, or of its encoder alone where there is no such head, from ours."""
    theirs: Tensors = {}
    for name, targets in encoder_names(layers):
        tensor = tensors[SEMANTIC + name]
        rows = len(tensor) // len(targets)
        for part, target in enumerate(targets):
            theirs[f"bert.{target}"] = tensor[part * rows : (part + 1) * rows]
    theirs[f"bert.{TYPES}"] = tensors[f"{SEMANTIC}embeddings.positions.weight"][:1] * 0
    if all(name in tensors for name in HEAD):
        theirs.update({target: tensors[name] for name, target in HEAD.items()})
    return theirs


def config_from_hugging_face(config: Mapping[str, Any], mask_id: int) -> EncoderConfig:
    """Our sizes from a `config.json`."""
    activation = config.get("hidden_act", "gelu")
    if config.get("model_type", "bert") != "bert" or activation != "gelu":
        raise InputError("only BERT with gelu can be loaded; this config.json describes something else.")
    try:
        return EncoderConfig(
            vocabulary=config["vocab_size"],
            hidden=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            intermediate=config["intermediate_size"],
            positions=config["max_position_embeddings"],
            dropout=config.get("hidden_dropout_prob", 0.1),
            attention_dropout=config.get("attention_probs_dropout_prob", 0.1),
            norm_epsilon=config.get("layer_norm_eps", 1e-12),
            mask_id=mask_id,
        )
    except KeyError as missing:
        raise InputError(f"config.json does not have {missing}; it does not describe a BERT.") from None


def config_to_hugging_face(config: EncoderConfig, *, head: bool) -> dict[str, Any]:
    """The `config.json` that goes with `to_hugging_face`."""
    return {
        "architectures": ["BertForMaskedLM" if head else "BertModel"],
        "model_type": "bert",
        "vocab_size": config.vocabulary,
        "hidden_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "intermediate_size": config.intermediate,
        "max_position_embeddings": config.positions,
        "type_vocab_size": 1,
        "hidden_act": "gelu",
        "layer_norm_eps": config.norm_epsilon,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "pad_token_id": 0,
    }


def _without_prefix(name: str) -> str:
    """Without `bert.`, and with today's names of a norm's two vectors."""
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
