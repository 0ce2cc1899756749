"""An exported model's file, read without the package onnx: its constants, nodes and facts.

The format is Protocol Buffers: fields, each with a number and a kind, one behind the other. Of the messages
of onnx.proto only the fields that the exports have are looked at. Constants are not copied out of the file.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16}


@dataclass(frozen=True)
class Node:
    """An operator with the names of what it reads and makes, and those of its attributes that are numbers."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OnnxFile:
    """A model: `facts` are its metadata."""

    facts: dict[str, str]
    nodes: list[Node]
    constants: dict[str, NDArray[Any]]

    @classmethod
    def read(cls, path: Path) -> "OnnxFile":
        """Read a file.

        Raises:
            OSError: it cannot be opened.
            ValueError: it is no model, or a damaged one.
        """
        with path.open("rb") as stream:
            content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        try:
            fields = list(_fields(content))
            facts = [dict(_fields(value)) for number, value in fields if number == 14]
            graph = next(value for number, value in fields if number == 7)
            nodes, constants = [], {}
            for number, value in _fields(graph):
                if number == 1:
                    nodes.append(_node(value))
                elif number == 5:
                    name, array = _tensor(value)
                    constants[name] = array
            return cls({_text(fact[1]): _text(fact[2]) for fact in facts}, nodes, constants)
        except (IndexError, KeyError, TypeError, AttributeError, StopIteration, struct.error) as error:
            raise ValueError(f"{path} is damaged") from error


def _fields(message: Any) -> Iterator[tuple[int, Any]]:
    """The number of each field and its value: a number, or the bytes of a text or a message."""
    place, end = 0, len(message)
    while place < end:
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        value: Any
        if kind == 0:
            value, place = _varint(message, place)
        elif kind == 2:
            size, place = _varint(message, place)
            value = message[place : place + size]
            if len(value) != size:
                raise IndexError("the file ends too early")
            place += size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value = struct.unpack("<d" if kind == 1 else "<f", message[place : place + size])[0]
            place += size
        else:
            raise KeyError(kind)
        yield number, value


def _varint(message: Any, place: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    raise IndexError("a number has no end")


def _text(value: Any) -> str:
    return bytes(value).decode()


def _node(message: Any) -> Node:
    inputs, outputs, operator, attributes = [], [], "", {}
    for number, value in _fields(message):
        if number == 1:
            inputs.append(_text(value))
        elif number == 2:
            outputs.append(_text(value))
        elif number == 4:
            operator = _text(value)
        elif number == 5:
            parts = dict(_fields(value))
            whole = parts.get(3, 0)
            signed = whole - (1 << 64) if isinstance(whole, int) and whole >> 63 else whole
            attributes[_text(parts[1])] = parts.get(2, signed)
    return Node(operator, tuple(inputs), tuple(outputs), attributes)


def _tensor(message: Any) -> tuple[str, NDArray[Any]]:
    shape: list[int] = []
    parts: dict[int, Any] = {}
    for number, value in _fields(message):
        if number != 1:
            parts[number] = value
        elif isinstance(value, int):
            shape.append(value)
        else:
            place = 0
            while place < len(value):
                size, place = _varint(value, place)
                shape.append(size)
    array = np.frombuffer(parts.get(9, b""), _TYPES[parts[2]])
    return _text(parts[8]), array.reshape(shape)
