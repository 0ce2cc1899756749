"""The weights of a trained BERT speller, read without torch: our checkpoints and Hugging Face's."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import from_mapping
from nmspeller.lab.models.checkpoint import read_description
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig
from nmspeller.lab.models.names import config_from_hugging_face, from_hugging_face
from nmspeller.lab.models.tag_sizes import tag_shapes
from nmspeller.text.vocabulary import Vocabulary

Weights = dict[str, NDArray[np.float32]]

TABLE = "semantic.embeddings.words.weight"
"""The table that embeds characters and, tied, scores them."""
OUTPUT = "head.output"
"""The layer that scores them: its bias, and how its inputs are quantised."""
TAGS = "tags"
"""The network of the two tags, in models that have one; it stays in floats."""


@dataclass(frozen=True)
class SpellerWeights:
    """A BERT speller: its sizes, its weights under our own names, the folder it came from."""

    encoder: EncoderConfig
    weights: Weights
    folder: Path

    @property
    def has_tags(self) -> bool:
        return any(name.startswith(f"{TAGS}.") for name in self.weights)

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.from_file(self.folder / "vocab.txt")


def read_weights(folder: str | Path) -> SpellerWeights:
    """Read a checkpoint folder or a Hugging Face folder.

    Raises:
        InputError: the folder is neither, or has a speller that cannot be exported.
    """
    folder = Path(folder)
    if (folder / "config.yaml").is_file():
        return _read_checkpoint(folder)
    if (folder / "config.json").is_file():
        return _read_hugging_face(folder)
    raise InputError(
        f"{folder} has neither a checkpoint (config.yaml) nor a Hugging Face model (config.json)."
    )


def is_fake_quantised(folder: Path) -> bool:
    """Whether a folder is a checkpoint of quantisation-aware training."""
    if not (folder / "config.yaml").is_file():
        return False
    return bool(read_description(folder)[0].get("encoder", {}).get("fake_quantised"))


def _read_checkpoint(folder: Path) -> SpellerWeights:
    description, _ = read_description(folder)
    kind = description.get("speller")
    if kind != "bert":
        raise InputError(f"{folder} is a {kind!r} speller; only 'bert' can be exported.")
    config = from_mapping(SpellerConfig, description)
    if config.masking is not None and config.masking.active == "always":
        raise InputError(f"{folder} masks n-grams in prediction too, which cannot be exported.")
    tensors = _tensors(folder)
    # The masking layer is active in training only, so it is not exported.
    weights = {name: tensor for name, tensor in tensors.items() if not name.startswith("semantic.masking.")}
    return _checked(SpellerWeights(config.encoder, weights, folder), head=config.head, tags=config.tags)


def _read_hugging_face(folder: Path) -> SpellerWeights:
    try:
        description = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}/config.json cannot be read ({error}); copy it again.") from error
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    config = config_from_hugging_face(description, vocabulary.mask)
    weights = from_hugging_face(_tensors(folder), config.layers)
    if f"{OUTPUT}.bias" not in weights:
        raise InputError(f"{folder} has no head that predicts characters; give a BertForMaskedLM.")
    return _checked(SpellerWeights(config, weights, folder), head="mlm")


def _checked(speller: SpellerWeights, head: str, *, tags: bool = False) -> SpellerWeights:
    """The speller, if its weights are finite and of the sizes in its config.

    Raises:
        InputError: they are not.
    """
    if len(speller.vocabulary) != speller.encoder.vocabulary:
        raise InputError(
            f"{speller.folder}/vocab.txt has {len(speller.vocabulary)} tokens, but the model has "
            f"{speller.encoder.vocabulary}; use the files of one model."
        )
    path = speller.folder / "model.safetensors"
    for name, shape in _shapes(speller.encoder, head, tags).items():
        if name not in speller.weights:
            raise InputError(
                f"{path} has no {name!r}, which its config requires; use the files of one model."
            )
        found = speller.weights[name].shape
        if found != shape:
            raise InputError(f"{path} has {name!r} of shape {found}, but its config has {shape}.")
        if not np.isfinite(speller.weights[name]).all():
            raise InputError(
                f"{path} has values in {name!r} that are not finite numbers; its training has failed."
            )
    return speller


def _shapes(encoder: EncoderConfig, head: str, tags: bool) -> dict[str, tuple[int, ...]]:
    """Every weight that a BERT speller must have."""
    hidden, inner = encoder.hidden, encoder.intermediate
    dense = {"head.dense": (hidden, hidden)} if head == "mlm" else {}
    norms = ["semantic.embeddings.norm", *(["head.norm"] if head == "mlm" else [])]
    for layer in (f"semantic.layers.{number}" for number in range(encoder.layers)):
        dense |= {f"{layer}.attention.qkv": (3 * hidden, hidden), f"{layer}.attention.out": (hidden, hidden)}
        dense |= {f"{layer}.feed_forward.up": (inner, hidden), f"{layer}.feed_forward.down": (hidden, inner)}
        norms += [f"{layer}.attention_norm", f"{layer}.output_norm"]
    shapes: dict[str, tuple[int, ...]] = {
        TABLE: (encoder.vocabulary, hidden),
        "semantic.embeddings.positions.weight": (encoder.positions, hidden),
        f"{OUTPUT}.bias": (encoder.vocabulary,),
    }
    if tags:
        shapes |= {f"{TAGS}.{name}": shape for name, shape in tag_shapes(encoder).items()}
    for name, shape in dense.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        shapes |= {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}
    if encoder.fake_quantised:
        for name, (_, inputs) in {**dense, OUTPUT: shapes[TABLE]}.items():
            shapes |= {f"{name}.scale": (inputs,), f"{name}.zero_point": ()}
    return shapes


def _tensors(folder: Path) -> Weights:
    import ml_dtypes  # noqa: F401  (adds bfloat16 to numpy: checkpoints may use it)
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
