"""From a trained checkpoint to the ONNX folder that `Speller` reads."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import onnx

from nmspeller.runtime.arithmetic import Float
from nmspeller.runtime.bert import build
from nmspeller.runtime.calibration import integer_arithmetic
from nmspeller.runtime.policy import Policy
from nmspeller.runtime.weights import read_source


def export_model(checkpoint: str | Path, out: str | Path, texts: Sequence[str] | None = None) -> None:
    """Write the ONNX folder of a checkpoint: in integers fitted to `texts`, or in single precision."""
    source, out = read_source(checkpoint), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    arithmetic = Float(source.weights) if texts is None else integer_arithmetic(source, texts)
    onnx.save_model(build(source, arithmetic), out / "model.onnx")
    shutil.copyfile(source.folder / "vocab.txt", out / "vocab.txt")
    Policy.uncalibrated().write(out / "policy.json")
