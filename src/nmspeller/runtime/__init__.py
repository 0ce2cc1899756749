"""The speller as people use it: no torch, one ONNX file, a decoding policy and the user's own words."""

from nmspeller.runtime.correction import Correction, Edit, Reason
from nmspeller.runtime.speller import Speller

__all__ = ["Correction", "Edit", "Reason", "Speller"]
