"""The speller: an ONNX model without PyTorch, a decoding policy and the user's own words."""

from nmspeller.runtime.correction import Correction, Edit, Hint, Reason
from nmspeller.runtime.speller import Speller

__all__ = ["Correction", "Edit", "Hint", "Reason", "Speller"]
