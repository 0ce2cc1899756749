"""From an exported model back to a checkpoint: whoever has the shipped model can train on from it.

What eight bits rounded stays rounded; a few steps of training are worth more than the difference.
"""

from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.runtime.exported import read_exported


def reopen_model(folder: str | Path, out: str | Path) -> Path:
    """Write the weights of an exported folder as a checkpoint of a BERT speller.

    Raises:
        InputError: the folder holds no exported model, or PyTorch is missing.
    """
    folder, out = Path(folder), Path(out)
    if not (folder / "model.onnx").is_file():
        raise InputError(f"{folder} holds no model.onnx; give a folder that `nmspeller export` wrote.")
    try:
        from nmspeller.models import checkpoint
        from nmspeller.models.bert import from_arrays
    except ImportError as missing:
        raise InputError("a checkpoint needs PyTorch: pip install 'nmspeller[train]'.") from missing
    source = read_exported(folder)
    card = folder / "card.md"
    checkpoint.save(
        out,
        from_arrays(source.encoder, source.weights),
        source.vocabulary.tokens,
        card=card.read_text("utf-8") if card.is_file() else "",
    )
    return out
