"""The native engine: the passes of an exported model in C, for processors with fast products of bytes.

The library is compiled when the package is installed. Without it, or on other processors, ONNX Runtime runs
the same file.
"""
