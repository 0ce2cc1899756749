"""Reading a trained BERT speller without torch: our checkpoints and Hugging Face's BertForMaskedLM."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.models.checkpoint import read_description
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig, from_mapping
from nmspeller.lab.models.names import config_from_hugging_face, from_hugging_face
from nmspeller.text.vocabulary import Vocabulary

Weights = dict[str, NDArray[np.float32]]

TABLE = "semantic.embeddings.words.weight"
"""The table that embeds characters and, tied, scores them."""


@dataclass(frozen=True)
class Source:
    """A BERT speller: its sizes, its weights under our own names, the folder it came from."""

    encoder: EncoderConfig
    weights: Weights
    folder: Path

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.from_file(self.folder / "vocab.txt")


def read_source(folder: str | Path) -> Source:
    """Read a checkpoint folder or a Hugging Face folder.

    Raises:
        InputError: the folder is neither, or holds a speller that cannot be exported.
    """
    folder = Path(folder)
    if (folder / "config.yaml").is_file():
        return _read_checkpoint(folder)
    if (folder / "config.json").is_file():
        return _read_hugging_face(folder)
    raise InputError(
        f"{folder} holds neither a checkpoint (config.yaml) nor a Hugging Face model (config.json)."
    )


def is_fake_quantised(folder: Path) -> bool:
    """Whether a checkpoint computes with rounded numbers already."""
    if not (folder / "config.yaml").is_file():
        return False
    return bool(read_description(folder)[0].get("encoder", {}).get("rounded"))


def _read_checkpoint(folder: Path) -> Source:
    description, _ = read_description(folder)
    kind = description.pop("speller", None)
    if kind != "bert":
        raise InputError(f"{folder} holds a {kind!r} speller, and only 'bert' can be exported so far.")
    config = from_mapping(SpellerConfig, description)
    if config.masking is not None and config.masking.active == "always":
        raise InputError(f"{folder} masks n-grams in prediction too, and that cannot be exported so far.")
    tensors = _tensors(folder)
    # The masking layer works in training only, so the export does without it.
    weights = {name: tensor for name, tensor in tensors.items() if not name.startswith("semantic.masking.")}
    return _checked(Source(config.encoder, weights, folder), head=config.head)


def _read_hugging_face(folder: Path) -> Source:
    try:
        description = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}/config.json cannot be read ({error}); copy it again.") from error
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    config = config_from_hugging_face(description, vocabulary.mask)
    weights = from_hugging_face(_tensors(folder), config.layers)
    if "head.bias" not in weights:
        raise InputError(f"{folder} has no head that predicts characters; give a BertForMaskedLM.")
    return _checked(Source(config, weights, folder), head="mlm")


def _checked(source: Source, head: str) -> Source:
    """The source, if its weights are numbers and of the sizes that its config tells of.

    Raises:
        InputError: they are not.
    """
    if len(source.vocabulary) != source.encoder.vocabulary:
        raise InputError(
            f"{source.folder}/vocab.txt has {len(source.vocabulary)} tokens, but the model knows "
            f"{source.encoder.vocabulary}; use the files of one model."
        )
    path = source.folder / "model.safetensors"
    for name, shape in _shapes(source.encoder, head).items():
        if name not in source.weights:
            raise InputError(
                f"{path} has no {name!r}, which its config asks for; use the files of one model."
            )
        found = source.weights[name].shape
        if found != shape:
            raise InputError(f"{path} has {name!r} of shape {found}, but its config says {shape}.")
        if not np.isfinite(source.weights[name]).all():
            raise InputError(f"{path} has values in {name!r} that are no numbers; its training has failed.")
    return source


def _shapes(encoder: EncoderConfig, head: str) -> dict[str, tuple[int, ...]]:
    """Every weight that a BERT speller must have."""
    hidden, inner = encoder.hidden, encoder.intermediate
    dense = {"head.dense": (hidden, hidden)} if head == "mlm" else {}
    norms = ["semantic.embeddings.norm", *(["head.norm"] if head == "mlm" else [])]
    for layer in (f"semantic.layers.{number}" for number in range(encoder.layers)):
        dense |= {f"{layer}.qkv": (3 * hidden, hidden), f"{layer}.out": (hidden, hidden)}
        dense |= {f"{layer}.up": (inner, hidden), f"{layer}.down": (hidden, inner)}
        norms += [f"{layer}.attention_norm", f"{layer}.output_norm"]
    shapes: dict[str, tuple[int, ...]] = {
        TABLE: (encoder.vocabulary, hidden),
        "semantic.embeddings.positions.weight": (encoder.positions, hidden),
        "head.bias": (encoder.vocabulary,),
    }
    for name, shape in dense.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        shapes |= {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}
    if encoder.fake_quantised:
        for name, (_, inputs) in {**dense, "head": shapes[TABLE]}.items():
            shapes |= {f"{name}.steps": (inputs,), f"{name}.zero": ()}
    return shapes


def _tensors(folder: Path) -> Weights:
    import ml_dtypes  # noqa: F401  (teaches numpy bfloat16, in which checkpoints may be stored)
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = folder / "model.safetensors"
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path} is missing or damaged ({error}); copy it again.") from error
    return {
        name: tensor if tensor.dtype.kind in "iu" else tensor.astype(np.float32)
        for name, tensor in tensors.items()
    }
