"""Writes tiny_bert and smaller_bert, which tests export and check with, as transformers writes a model.

They are kept as files because every test worker would import transformers to write them. Their weights are
random, and large enough to make them opinionated.
"""

from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM

CHARACTERS = "我们门去外国可以认识很多的人就借介少绍地得在再他她它对不起气，。！？abc123"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write(folder: Path, *, layers: int, positions: int) -> None:
    """Write a BertForMaskedLM of its own vocabulary."""
    torch.manual_seed(0)
    tokens = [*SPECIALS, *CHARACTERS]
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=32, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=positions, type_vocab_size=2, initializer_range=0.3,
    )  # fmt: skip
    model = BertForMaskedLM(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.add_(torch.randn_like(weight) * 0.1)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")


if __name__ == "__main__":
    assets = Path(__file__).parent
    write(assets / "tiny_bert", layers=2, positions=64)
    write(assets / "smaller_bert", layers=1, positions=48)
