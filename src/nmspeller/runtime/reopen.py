"""Checkpoints made of other models, to train on from: an exported one reopened, one rounded or narrowed."""

from collections.abc import Sequence
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.runtime.calibration import round_source
from nmspeller.runtime.device import need_exported
from nmspeller.runtime.exported import read_exported
from nmspeller.runtime.narrowing import narrow_source
from nmspeller.runtime.weights import Source, read_source


def reopen_model(folder: str | Path, out: str | Path) -> Path:
    """Write the weights of an exported folder as a checkpoint of a BERT speller.

    Raises:
        InputError: the folder holds no exported model, or PyTorch is missing.
    """
    folder = Path(folder)
    need_exported(folder)
    return _write(read_exported(folder), out)


def round_model(checkpoint: str | Path, out: str | Path, texts: Sequence[str]) -> Path:
    """Write a checkpoint that computes as the export in integers would, to train on from it.

    Raises:
        InputError: the checkpoint cannot be exported or is rounded, there is no text, or PyTorch is missing.
    """
    return _write(round_source(read_source(checkpoint), texts), out)


def narrow_model(
    checkpoint: str | Path, out: str | Path, texts: Sequence[str], width: int, *, relu: bool = False
) -> Path:
    """Write a checkpoint with `width` inner units a layer, in floats, to be taught by the whole one.

    relu: bend the units by a relu, which takes less time than a gelu.

    Raises:
        InputError: the checkpoint cannot be exported or is no wider, there is no text, or PyTorch is missing.
    """
    whole = read_source(checkpoint)
    # The whole one's card tells of figures that this one does not reach before it is taught.
    card = f"# {whole.folder.name} with {width} inner units a layer\n"
    return _write(narrow_source(whole, texts, width, relu=relu), out, card)


def _write(source: Source, out: str | Path, card: str | None = None) -> Path:
    """Write the source as a checkpoint, with the card that it had if no other is given."""
    try:
        from nmspeller.models import checkpoint
        from nmspeller.models.bert import from_arrays
    except ImportError as missing:
        raise InputError("a checkpoint needs PyTorch: pip install 'nmspeller[train]'.") from missing
    own = source.folder / "card.md"
    if card is None:
        card = own.read_text("utf-8") if own.is_file() else ""
    checkpoint.save(out, from_arrays(source.encoder, source.weights), source.vocabulary.tokens, card)
    return Path(out)
