"""A Hugging Face BERT from an int8 ONNX file of a fine-tuned BERT, with another vocabulary and a new head.

    python scripts/encoder_from_onnx.py MODEL.onnx VOCAB.txt NEW_VOCAB.txt OUT

`lab pretrain masked_only` starts from such an encoder, which has never read a misspelt row. The file is one
that ONNX Runtime's dynamic quantisation made of transformers' BertModel: weights are matched to layers by the
bias that is added after each product. Characters of NEW_VOCAB.txt take their row of VOCAB.txt, or else half
of [UNK]'s with noise. Token type 0 is added to the positions. The head starts as the identity.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.numpy import save_file

Weights = dict[str, NDArray[np.float32]]

_EMBEDDINGS = ("word", "position", "token_type")
_STEPS_TO_BIAS = 4  # product, cast, scale, and the addition


def encoder_weights(model: onnx.ModelProto) -> Weights:
    """The encoder's weights in single precision, by transformers' names."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    prefix = next(name for name in stored if name.endswith("embeddings.LayerNorm.weight"))
    prefix = prefix.removesuffix("embeddings.LayerNorm.weight")
    users = {name: node for node in model.graph.node for name in node.input}

    def dequantised(name: str) -> NDArray[np.float32]:
        values, zero = (stored[f"{name}_{part}"].astype(np.float32) for part in ("quantized", "zero_point"))
        return np.asarray((values - zero) * stored[f"{name}_scale"], dtype=np.float32)

    weights: Weights = {
        name.removeprefix(prefix): array
        for name, array in stored.items()
        if name.startswith(prefix) and array.dtype == np.float32 and name.endswith((".weight", ".bias"))
    }
    for name in _EMBEDDINGS:
        key = f"embeddings.{name}_embeddings.weight"
        weights[key] = dequantised(prefix + key)
    for node in model.graph.node:
        if node.op_type != "MatMulInteger":
            continue
        after = node
        for _ in range(_STEPS_TO_BIAS):
            after = users[after.output[0]]
            if after.op_type == "Add":
                break
        bias = next((name for name in after.input if name in stored and name.endswith(".bias")), "")
        if bias.startswith(prefix):
            matrix = dequantised(node.input[1].removesuffix("_quantized"))
            weights[bias.removeprefix(prefix).removesuffix("bias") + "weight"] = matrix.T.copy()
    return {name: array for name, array in weights.items() if not name.startswith("pooler")}


def with_vocabulary(weights: Weights, old: list[str], new: list[str]) -> Weights:
    """The same encoder for other characters, with token types folded into the positions."""
    rows = {token: number for number, token in enumerate(old)}
    words = weights["embeddings.word_embeddings.weight"]
    unknown = 0.5 * words[rows["[UNK]"]]
    random = np.random.default_rng(0)
    chosen = [rows.get(token, rows.get(token.lower())) for token in new]
    types = weights["embeddings.token_type_embeddings.weight"]
    return weights | {
        "embeddings.word_embeddings.weight": np.stack(
            [
                words[row] if row is not None else unknown + random.normal(0, 0.02, words.shape[1])
                for row in chosen
            ]
        ).astype(np.float32),
        "embeddings.position_embeddings.weight": weights["embeddings.position_embeddings.weight"] + types[:1],
        "embeddings.token_type_embeddings.weight": np.zeros_like(types[:1]),
    }


def head(hidden: int, vocabulary: int) -> Weights:
    """A masked-language-model head whose dense layer is the identity."""
    return {
        "cls.predictions.transform.dense.weight": np.eye(hidden, dtype=np.float32),
        "cls.predictions.transform.dense.bias": np.zeros(hidden, np.float32),
        "cls.predictions.transform.LayerNorm.weight": np.ones(hidden, np.float32),
        "cls.predictions.transform.LayerNorm.bias": np.zeros(hidden, np.float32),
        "cls.predictions.bias": np.zeros(vocabulary, np.float32),
    }


def main() -> None:
    file, old_vocabulary, new_vocabulary, out = map(Path, sys.argv[1:])
    old, new = (path.read_text("utf-8").rstrip("\n").split("\n") for path in (old_vocabulary, new_vocabulary))
    weights = with_vocabulary(encoder_weights(onnx.load(file)), old, new)
    hidden = weights["embeddings.LayerNorm.weight"].shape[0]
    config = {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": len(new),
        "hidden_size": hidden,
        "num_hidden_layers": len({name.split(".")[2] for name in weights if name.startswith("encoder")}),
        "num_attention_heads": hidden // 64,
        "intermediate_size": weights["encoder.layer.0.intermediate.dense.bias"].shape[0],
        "max_position_embeddings": len(weights["embeddings.position_embeddings.weight"]),
        "type_vocab_size": 1,
    }
    out.mkdir(parents=True, exist_ok=True)
    named = {f"bert.{name}": np.ascontiguousarray(array) for name, array in weights.items()}
    save_file(named | head(hidden, len(new)), out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    (out / "vocab.txt").write_bytes(new_vocabulary.read_bytes())


if __name__ == "__main__":
    main()
