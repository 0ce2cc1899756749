"""Pretraining of the phonetic and graphic encoders, as ReaLiSe does: pinyin, or pictures, to characters.

Both learn against the word embeddings of the semantic encoder, so that their outputs are in its space.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.lab.configs.parsing import check_range
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import Batch, PackedBatch
from nmspeller.lab.models.fusion import MultiModalSpeller
from nmspeller.lab.models.speller import cross_entropy
from nmspeller.lab.training.corruption import NoiseConfig
from nmspeller.lab.training.distributed import join_processes
from nmspeller.lab.training.optimisation import OptimiserConfig, rate_factor
from nmspeller.lab.training.start import start_model
from nmspeller.lab.training.streams import CorpusStream
from nmspeller.lab.training.trainer import LoopConfig, Trainer


@dataclass(frozen=True)
class ModalitiesRecipe:
    """Steps for the phonetic encoder, each with `batch_rows` rows of text, and for the graphic encoder."""

    sound_steps: int = 1500
    batch_rows: int = 128
    picture_steps: int = 800

    def __post_init__(self) -> None:
        check_range(self, "sound_steps", "batch_rows", "picture_steps", least=1)


class SoundToCharacter(nn.Module):
    """Predict every character of a sentence from its pinyin alone."""

    def __init__(self, model: MultiModalSpeller) -> None:
        super().__init__()
        self.phonetic = model.phonetic
        self.letters: Tensor
        self.words: Tensor
        self.register_buffer("letters", model.tables.letters, persistent=False)
        self.register_buffer("words", model.output_words().detach(), persistent=False)

    def loss(self, batch: Batch | PackedBatch) -> Tensor:
        assert batch.targets is not None
        return cross_entropy(functional.linear(self.phonetic(batch, self.letters), self.words), batch.targets)


def pretrain_sounds(
    model: MultiModalSpeller,
    prepared: Prepared,
    *,
    out: Path,
    steps: int,
    batch_rows: int,
    loop: LoopConfig,
    seed: int,
) -> float:
    """Train the phonetic encoder on clean text; returns the last loss."""
    stream = CorpusStream(
        prepared, NoiseConfig(clean=1.0), steps=steps, batch_rows=batch_rows, length=128, seed=seed
    )
    task = SoundToCharacter(model)
    last = Trainer(
        task,  # type: ignore[arg-type]
        stream,
        loop,
        pad=prepared.vocabulary.pad,
        seed=seed,
        folder=out,
        processes=join_processes(),
        name="sounds",
    ).run()
    return last.loss if last else float("nan")


def pretrain_pictures(
    model: MultiModalSpeller, *, steps: int, batch: int, seed: int, rate: float = 1e-3
) -> float:
    """Train the graphic encoder to recognise the vocabulary's characters; returns its accuracy."""
    bitmaps = model.tables.bitmaps
    drawn = torch.nonzero(bitmaps.flatten(1).any(dim=1)).flatten()
    words = model.output_words().detach()
    encoder = model.graphic
    encoder.train()
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=rate, weight_decay=0.01)
    generator = torch.Generator(device="cpu").manual_seed(seed)
    accuracy = 0.0
    for step in range(steps):
        chosen = drawn[torch.randint(len(drawn), (batch,), generator=generator).to(drawn.device)]
        scores = functional.linear(encoder.encode(bitmaps[chosen]), words)
        loss = functional.cross_entropy(scores, chosen)
        loss.backward()
        for group in optimiser.param_groups:
            group["lr"] = rate * rate_factor(step / steps, warm_up=0.05)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if step == steps - 1:
            accuracy = float((scores.argmax(dim=-1) == chosen).float().mean())
    return accuracy


def pretrain_modalities(
    recipe: ModalitiesRecipe, *, data: Path, start: Path, out: Path, seed: int = 0
) -> dict[str, float]:
    """Pretrain both encoders and write them as a ReaLiSe checkpoint, for every multi-modal speller."""
    prepared = Prepared(data)
    processes = join_processes()
    model = start_model(
        {"speller": "realise", "encoder": {"attention_dropout": 0.0}, "modality_scale": 1.0},
        start,
        vocabulary=prepared.vocabulary,
        tables=data / "characters.npz",
        seed=seed,
    )
    assert isinstance(model, MultiModalSpeller)
    model.to(processes.device)
    loop = LoopConfig(
        optimiser=OptimiserConfig(rate=3e-4),
        packed=True,
        precision="bf16" if processes.device.type == "cuda" else "fp32",
        workers=8 if processes.device.type == "cuda" else 0,
        save_seconds=0,
    )
    result = {
        "picture_accuracy": 100 * pretrain_pictures(model, steps=recipe.picture_steps, batch=512, seed=seed),
        "sound_loss": pretrain_sounds(
            model,
            prepared,
            out=out,
            steps=recipe.sound_steps,
            batch_rows=recipe.batch_rows,
            loop=loop,
            seed=seed,
        ),
    }
    checkpoint.save(out, model, prepared.vocabulary.tokens)
    return result
