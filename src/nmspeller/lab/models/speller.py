"""What every speller is: a semantic encoder, something on top, and one interface."""

import json
from pathlib import Path
from typing import ClassVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from nmspeller.errors import InputError
from nmspeller.lab.models import names
from nmspeller.lab.models.batch import NO_TARGET, Batch, PackedBatch
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig, SpellerConfig
from nmspeller.lab.models.crf import NEVER
from nmspeller.lab.models.encoder import Embeddings, Layer, dropout, initialise, run, stack
from nmspeller.lab.models.fake_quantisation import dense, fake_quantise_inputs
from nmspeller.lab.models.masking import NGramMasking
from nmspeller.text.vocabulary import Vocabulary


class SemanticEncoder(nn.Module):
    """Embeddings → n-gram masking, where there is any → BERT's layers: the one seam for every speller."""

    def __init__(self, config: EncoderConfig, masking: MaskingConfig | None) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.masking = NGramMasking(config, masking) if masking else None
        self.layers = stack(config, config.layers)
        self.apply(initialise)
        self.start_masking()

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """H_s: (..., hidden), with the batch's layout."""
        return run(self.layers, self._before_layers(batch), batch)

    def layer_outputs(self, batch: Batch | PackedBatch) -> list[Tensor]:
        """What each layer says, (..., hidden) each; the last is H_s, which needs none of the others kept."""
        hidden, outputs = self._before_layers(batch), []
        for layer in self.layers:
            hidden = layer(hidden, batch)
            outputs.append(hidden)
        return outputs

    def _before_layers(self, batch: Batch | PackedBatch) -> Tensor:
        hidden: Tensor = self.embeddings(batch)
        return hidden if self.masking is None else self.masking(hidden, batch, self.embeddings)

    def start_masking(self) -> None:
        if self.masking is not None:
            first = self.layers[0]
            assert isinstance(first, Layer)
            self.masking.start_from(first)


class Head(nn.Module):
    """Hidden states → scores over the vocabulary, with the word embeddings as the matrix.

    `mlm` is BERT's masked-language-model head (dense, gelu, norm first); `linear` is the paper's dense layer.
    """

    steps: Tensor  # (hidden,), and `zero`: of what is multiplied with the words; see `rounding`
    zero: Tensor

    def __init__(self, config: SpellerConfig) -> None:
        super().__init__()
        size = config.encoder.hidden
        self.dropout = dropout(config.encoder.dropout if config.head == "linear" else 0.0)
        self.dense = dense(config.encoder, size, size) if config.head == "mlm" else None
        self.norm = nn.LayerNorm(size, eps=config.encoder.norm_epsilon) if config.head == "mlm" else None
        self.bias = nn.Parameter(torch.zeros(config.encoder.vocabulary))
        self.rounded = config.encoder.fake_quantised
        if self.rounded:
            self.register_buffer("steps", torch.ones(size))
            self.register_buffer("zero", torch.zeros(()))
        self.apply(initialise)

    def forward(self, hidden: Tensor, words: Tensor, *, aligned: bool = False) -> Tensor:
        """hidden: (..., hidden), words: (vocabulary, hidden) → (..., vocabulary).

        aligned: add columns that are never chosen up to a multiple of 64, which fast kernels want.
        """
        if self.dense is not None and self.norm is not None:
            hidden = self.norm(functional.gelu(self.dense(hidden)))
        if self.rounded:
            hidden = fake_quantise_inputs(hidden, self.steps, self.zero)
        bias: Tensor = self.bias
        if aligned:
            missing = -len(words) % 64
            words = functional.pad(words, (0, 0, 0, missing))
            bias = functional.pad(bias, (0, missing), value=NEVER)
        return functional.linear(self.dropout(hidden), words, bias)


class SpellerModel(nn.Module):
    """The interface: `forward`, `loss`, `predict`, for padded and packed batches alike."""

    needs: ClassVar[tuple[str, ...]] = ()
    """The names of `CharacterTables`' arrays that this speller reads."""

    def __init__(self, config: SpellerConfig) -> None:
        super().__init__()
        self.config = config
        self.semantic = SemanticEncoder(config.encoder, config.masking)
        self.head = Head(config)

    def hidden(self, batch: Batch | PackedBatch) -> Tensor:
        """What the head reads: (..., hidden). Spellers that enrich the semantic encoding do it here."""
        return self.semantic(batch)

    def output_words(self) -> Tensor:
        """The head's matrix: (vocabulary, hidden)."""
        return self.semantic.embeddings.table()

    def forward(self, batch: Batch | PackedBatch) -> Tensor:
        """Scores: (..., vocabulary)."""
        return self.head(self.hidden(batch), self.output_words())

    def loss(self, batch: Batch | PackedBatch) -> Tensor:
        """Mean cross-entropy in fp32 over the positions that have a target; 0 where none has."""
        assert batch.targets is not None
        scores = self.head(self.hidden(batch), self.output_words(), aligned=True)
        return cross_entropy(scores, batch.targets)

    @torch.no_grad()
    def predict(self, batch: Batch | PackedBatch) -> tuple[Tensor, Tensor]:
        """The best id at each position and its probability, both (...); call `eval()` first."""
        best = self(batch).float().softmax(dim=-1).max(dim=-1)
        return best.indices, best.values

    def load_backbone(self, folder: str | Path) -> None:
        """Start from a Hugging Face BERT folder: encoder, head where both have one, and the masking layer.

        Raises:
            InputError: the folder is not a BERT of this config's sizes.
        """
        tensors = names.from_hugging_face(
            read_safetensors(Path(folder) / "model.safetensors"), self.config.encoder.layers, torch.cat
        )
        own = self.state_dict()
        for name, tensor in tensors.items():
            found, expected = tuple(tensor.shape), tuple(own[name].shape) if name in own else None
            if expected is not None and found != expected:
                raise InputError(f"{folder} has {name} of shape {found}, but this model needs {expected}.")
        self.load_state_dict({name: tensor for name, tensor in tensors.items() if name in own}, strict=False)
        self.semantic.start_masking()

    def write_hugging_face(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors as transformers' BertForMaskedLM (or BertModel) reads them.

        Raises:
            InputError: the masking layer works in prediction too, which Hugging Face's BERT cannot express.
        """
        masking = self.config.masking
        if masking is not None and masking.active == "always":
            raise InputError("a masking layer that is always active cannot be written as a plain BERT.")
        tensors = names.to_hugging_face(self.state_dict(), self.config.encoder.layers)
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        head = names.HEAD["head.bias"] in tensors
        config = names.config_to_hugging_face(self.config.encoder, head=head)
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        contiguous = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(contiguous, folder / "model.safetensors", metadata={"format": "pt"})


def cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """scores: (..., classes), targets: (...), -100 where there is none → the mean over the rest, in fp32."""
    total = functional.cross_entropy(
        scores.flatten(0, -2).float(), targets.flatten(), ignore_index=NO_TARGET, reduction="sum"
    )
    return total / (targets != NO_TARGET).sum().clamp(min=1)


def read_encoder_config(folder: str | Path) -> EncoderConfig:
    """The sizes of a Hugging Face BERT folder; [MASK]'s id comes from its vocab.txt.

    Raises:
        InputError: config.json or vocab.txt is missing or not a BERT's.
    """
    folder = Path(folder)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"{folder} is not a Hugging Face BERT folder: {problem}.") from None
    return names.config_from_hugging_face(config, mask_id=Vocabulary.from_file(folder / "vocab.txt").mask)


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """Tensors of one file; a pickle (pytorch_model.bin) is never opened.

    Raises:
        InputError: no such file, or a damaged one.
    """
    if not path.is_file():
        if path.with_name("pytorch_model.bin").is_file():
            raise InputError(
                f"{path.parent} has only a pickle; load and save it with transformers to convert it."
            )
        raise InputError(f"{path} does not exist; weights are read from safetensors only.")
    try:
        return load_file(path)
    except (SafetensorError, OSError) as problem:
        raise InputError(f"{path} is damaged ({problem}); copy it again.") from None
