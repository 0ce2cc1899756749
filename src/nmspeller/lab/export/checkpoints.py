"""Checkpoints made of other models, to train on from: an exported one reopened, one rounded or narrowed."""

from collections.abc import Sequence
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.lab.export.activations import quantise_weights
from nmspeller.lab.export.onnx_weights import read_exported
from nmspeller.lab.export.weights import Source, read_source
from nmspeller.runtime.device import need_exported


def import_onnx(folder: str | Path, out: str | Path) -> Path:
    """Write the weights of an exported folder as a checkpoint of a BERT speller.

    Raises:
        InputError: the folder holds no exported model, or PyTorch is missing.
    """
    folder = Path(folder)
    need_exported(folder)
    return _write(read_exported(folder), out)


def prepare_qat(checkpoint: str | Path, out: str | Path, texts: Sequence[str]) -> Path:
    """Write a checkpoint that computes as the export in integers would, to train on from it.

    Raises:
        InputError: the checkpoint cannot be exported or is rounded, there is no text, or PyTorch is missing.
    """
    return _write(quantise_weights(read_source(checkpoint), texts), out)


def _write(source: Source, out: str | Path, card: str | None = None) -> Path:
    """Write the source as a checkpoint, with the card that it had if no other is given."""
    try:
        from nmspeller.lab.models import checkpoint
        from nmspeller.lab.models.bert import from_arrays
    except ImportError as missing:
        raise InputError("a checkpoint needs PyTorch: pip install 'nmspeller[train]'.") from missing
    own = source.folder / "card.md"
    if card is None:
        card = own.read_text("utf-8") if own.is_file() else ""
    checkpoint.save(out, from_arrays(source.encoder, source.weights), source.vocabulary.tokens, card)
    return Path(out)
