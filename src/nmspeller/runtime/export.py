"""From a trained checkpoint to the ONNX folder that `Speller` reads."""

import shutil
from pathlib import Path

import onnx

from nmspeller.runtime.arithmetic import Float
from nmspeller.runtime.bert import build
from nmspeller.runtime.weights import read_source


def export_model(checkpoint: str | Path, out: str | Path) -> None:
    """Write the ONNX folder of a checkpoint."""
    source, out = read_source(checkpoint), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    onnx.save_model(build(source, Float(source.weights)).model(), out / "model.onnx")
    shutil.copyfile(source.vocabulary, out / "vocab.txt")
