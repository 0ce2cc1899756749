"""The speller: an ONNX model without PyTorch, a decoding policy and the user's own words."""
