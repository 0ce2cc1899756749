"""A tiny random speller: it knows nothing, but it can be exported, compared and made to propose edits."""

from dataclasses import replace
from pathlib import Path

import pytest

from nmspeller import Speller
from nmspeller.runtime.policy import Level, Policy, Thresholds

CHARACTERS = "我们门去外国可以认识很多的人就借介少绍地得在再他她它对不起气，。！？abc123"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_hugging_face_model(folder: Path, *, layers: int = 2, positions: int = 64) -> Path:
    """A BertForMaskedLM with random weights that are large enough to make it opinionated."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

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
    return folder


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """What integers are fitted to."""
    return [
        "我们去外国可以认识很多的人。",
        "他在这里，她不在那里。",
        "对不起，再也不会了！",
        "以后可以介绍。",
    ] * 8


@pytest.fixture(scope="session")
def source_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hugging_face_model(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="session")
def small_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another speller of the same vocabulary, to glance with; it reads less at once."""
    return write_hugging_face_model(tmp_path_factory.mktemp("small"), layers=1, positions=48)


@pytest.fixture(scope="session")
def model_folder(source_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exported in single precision, with thresholds so low that it proposes many edits."""
    from nmspeller.runtime.export import export_model

    folder = export_model(source_folder, tmp_path_factory.mktemp("model"))
    policy = Policy.uncalibrated()
    levels = {level: Thresholds(0.002, 0.002) for level in Level}
    replace(policy, levels=levels, window=40, passes=2).write(folder / "policy.json")
    return folder


@pytest.fixture(scope="session")
def eager(model_folder: Path) -> Speller:
    return Speller(model_folder, threads=1)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of pairs, for the commands that read one."""
    path = tmp_path / "pairs.tsv"
    path.write_text("我门去外国\t我们去外国\n他在国外\t他在国外\n可以借少\t可以介绍\n", "utf-8")
    return path
