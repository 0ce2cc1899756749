"""From a trained checkpoint to the ONNX folder that `Speller` reads."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nmspeller.data.files import write_whole
from nmspeller.data.pairs import Pair
from nmspeller.errors import InputError
from nmspeller.runtime import glance, masking
from nmspeller.runtime.arithmetic import Float, Integer
from nmspeller.runtime.bert import build
from nmspeller.runtime.calibration import round_source
from nmspeller.runtime.device import need_exported
from nmspeller.runtime.glance import Doubts
from nmspeller.runtime.glance_calibration import calibrate_glance
from nmspeller.runtime.masking import MaskingLayer
from nmspeller.runtime.policy import Level, Policy
from nmspeller.runtime.reader import Reader
from nmspeller.runtime.thresholds import calibrate
from nmspeller.runtime.weights import Source, read_source
from nmspeller.text.vocabulary import Vocabulary


def export_model(
    checkpoint: str | Path,
    out: str | Path,
    *,
    texts: Sequence[str] | None = None,
) -> Path:
    """Write model.onnx, vocab.txt, card.md, masking.npz and a policy.json that is not calibrated yet.

    A checkpoint that was trained rounded becomes a model in integers with the same numbers. A glance that the
    folder held before is removed: it was chosen for another model.

    Args:
        checkpoint: a checkpoint of ours, or a Hugging Face BertForMaskedLM folder.
        out: the folder to write; files of the same names in it are replaced, each whole or not at all.
        texts: some hundred sentences of the kind that will be read, to fit eight-bit integers to. Without
            them a checkpoint that is not rounded stays in single precision, four times as large.

    Raises:
        InputError: the checkpoint cannot be read, or is of a kind that cannot be exported.
    """
    source, out = _rounded(read_source(checkpoint), texts), Path(out)
    content = _graph(source)
    out.mkdir(parents=True, exist_ok=True)
    for name in (glance.FILE, glance.DOUBTS):
        (out / name).unlink(missing_ok=True)
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


def export_glance(checkpoint: str | Path, folder: str | Path, *, texts: Sequence[str] | None = None) -> Path:
    """Write the glance.onnx of an exported model, and its glance.json so that nothing is left unread yet.

    Args:
        checkpoint: a very small speller, of a kind that `export_model` takes.
        folder: what `export_model` wrote.
        texts: as for `export_model`.

    Raises:
        InputError: the checkpoint cannot be exported or does not fit the model, or the folder holds no model.
    """
    source, folder = read_source(checkpoint), Path(folder)
    need_exported(folder)
    policy = Policy.read(folder / "policy.json")
    if source.vocabulary.tokens != Vocabulary.from_file(folder / "vocab.txt").tokens:
        raise InputError(
            f"{source.folder} has another vocab.txt than {folder}; train a glance with that of its model."
        )
    longest = source.encoder.positions - 2
    if policy.window > longest:
        raise InputError(
            f"{source.folder} reads {longest} characters at once, and {folder} {policy.window}; "
            "train a glance with as many positions as its model."
        )
    content = _graph(_rounded(source, texts), best=False)
    # Doubts that were chosen for another glance must never meet this one, whatever happens in between.
    Doubts(dict.fromkeys(Level, 0.0)).write(folder / glance.DOUBTS)
    write_whole(folder / glance.FILE, content)
    return folder / glance.FILE


def calibrate_glance_model(folder: str | Path, dev: Sequence[Pair], clean: Sequence[str] = ()) -> Doubts:
    """Choose how doubtful the glance of an exported model must be and write it to its glance.json."""
    folder = Path(folder)
    doubts = calibrate_glance(Reader(folder, quick=True), dev, clean)
    doubts.write(folder / glance.DOUBTS)
    return doubts


def _rounded(source: Source, texts: Sequence[str] | None) -> Source:
    """The source as it was, or rounded where there are texts to fit integers to."""
    return source if texts is None else round_source(source, texts)


def _graph(source: Source, *, best: bool = True) -> bytes:
    """The source as an ONNX file, in integers where it is rounded."""
    arithmetic = Integer if source.encoder.rounded else Float
    model = build(source, arithmetic(source.weights), best=best)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _card(source: Source) -> bytes:
    card = source.folder / "card.md"
    return card.read_bytes() if card.is_file() else b"# A speller exported from Hugging Face weights\n"
