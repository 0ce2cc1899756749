"""From a trained checkpoint to the ONNX folder that `Speller` reads."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nmspeller.data.files import write_whole
from nmspeller.data.pairs import Pair
from nmspeller.runtime import masking
from nmspeller.runtime.arithmetic import Float, Integer
from nmspeller.runtime.bert import build
from nmspeller.runtime.calibration import round_source
from nmspeller.runtime.masking import MaskingLayer
from nmspeller.runtime.policy import Policy
from nmspeller.runtime.reader import Reader
from nmspeller.runtime.thresholds import calibrate
from nmspeller.runtime.weights import Source, read_source


def export_model(
    checkpoint: str | Path,
    out: str | Path,
    *,
    texts: Sequence[str] | None = None,
) -> Path:
    """Write model.onnx, vocab.txt, card.md, masking.npz and a policy.json that is not calibrated yet.

    A checkpoint that was trained rounded becomes a model in integers with the same numbers.

    Args:
        checkpoint: a checkpoint of ours, or a Hugging Face BertForMaskedLM folder.
        out: the folder to write; files of the same names in it are replaced, each whole or not at all.
        texts: some hundred sentences of the kind that will be read, to fit eight-bit integers to. Without
            them a checkpoint that is not rounded stays in single precision, four times as large.

    Raises:
        InputError: the checkpoint cannot be read, or is of a kind that cannot be exported.
    """
    source, out = read_source(checkpoint), Path(out)
    if texts is not None:
        source = round_source(source, texts)
    arithmetic = Integer if source.encoder.rounded else Float
    content = build(source, arithmetic(source.weights)).SerializeToString(deterministic=True)
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "vocab.txt", (source.folder / "vocab.txt").read_bytes())
    write_whole(out / "card.md", _card(source))
    policy = Policy.uncalibrated()
    replace(policy, window=min(policy.window, source.encoder.positions - 2)).write(out / "policy.json")
    MaskingLayer.of(source).write(out / masking.FILE)
    write_whole(out / "model.onnx", content)
    return out


def calibrate_model(folder: str | Path, dev: Sequence[Pair], clean: Sequence[str] = ()) -> Policy:
    """Choose the thresholds of an exported model and write them to its policy.json."""
    folder = Path(folder)
    policy = calibrate(Reader(folder), dev, clean)
    policy.write(folder / "policy.json")
    return policy


def _card(source: Source) -> bytes:
    card = source.folder / "card.md"
    return card.read_bytes() if card.is_file() else b"# A speller exported from Hugging Face weights\n"
