"""Checkpoints made of other models, to be trained further: imported from ONNX, fake-quantised, pruned."""

from collections.abc import Sequence
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.lab.export.activations import quantise_weights
from nmspeller.lab.export.onnx_weights import read_exported, read_prefilter
from nmspeller.lab.export.pruning import prune
from nmspeller.lab.export.weights import SpellerWeights, read_weights
from nmspeller.runtime.device import need_exported, prefilter_files


def import_onnx(folder: str | Path, out: str | Path) -> Path:
    """Write the weights of an exported folder as a checkpoint of a BERT speller.

    Raises:
        InputError: the folder has no exported model, or PyTorch is missing.
    """
    folder = Path(folder)
    need_exported(folder)
    return _write(read_exported(folder), out)


def import_prefilter(folder: str | Path, out: str | Path) -> Path:
    """The same for the folder's prefilter.

    Raises:
        InputError: the folder has no prefilter, or PyTorch is missing.
    """
    path, _ = prefilter_files(Path(folder))
    return _write(read_prefilter(path.parent), out)


def prepare_qat(checkpoint: str | Path, out: str | Path, texts: Sequence[str]) -> Path:
    """Write a checkpoint for quantisation-aware training: it computes as its int8 export will.

    Raises:
        InputError: the checkpoint cannot be exported or is fake-quantised already, there is no text, or
            PyTorch is missing.
    """
    return _write(quantise_weights(read_weights(checkpoint), texts), out)


def prune_checkpoint(checkpoint: str | Path, out: str | Path, texts: Sequence[str], neurons: int) -> Path:
    """Write a checkpoint with so many neurons in each feed-forward block, to be trained on.

    Raises:
        InputError: the checkpoint cannot be exported or has no more neurons, there is no text, or PyTorch is
            missing.
    """
    return _write(prune(read_weights(checkpoint), texts, neurons), out)


def _write(speller: SpellerWeights, out: str | Path) -> Path:
    """Write the speller as a checkpoint, with its own card."""
    try:
        from nmspeller.lab.models import checkpoint
        from nmspeller.lab.models.registry import from_arrays
    except ImportError as error:
        raise InputError("a checkpoint needs PyTorch: pip install 'nmspeller[train]'.") from error
    card = speller.folder / "card.md"
    text = card.read_text("utf-8") if card.is_file() else ""
    checkpoint.save(out, from_arrays(speller.encoder, speller.weights), speller.vocabulary.tokens, text)
    return Path(out)
