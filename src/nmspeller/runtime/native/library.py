"""The compiled library, and the structs that it is called with; they mirror `native/model.h`."""

import ctypes
import os
import sys
from ctypes import POINTER, Structure, c_char_p, c_float, c_int, c_int8, c_int32, c_void_p
from functools import lru_cache
from pathlib import Path

_SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
PATH = Path(__file__).with_name(f"_library{_SUFFIX}")
MOST_THREADS = 64
"""So many share one reading, as in `native/sharing.h`."""
SWITCH = "NMSPELLER_NATIVE"
"""Set to 0, this variable leaves the library aside, when it would be compiled and when it would be loaded."""


class Dense(Structure):
    """A product of bytes."""

    _fields_ = (
        ("weights", POINTER(c_int8)),
        ("weight_scale", POINTER(c_float)),
        ("bias", POINTER(c_float)),
        ("input_multiplier", POINTER(c_float)),
        ("scale", c_float),
        ("zero_point", c_int32),
        ("width", c_int32),
        ("outputs", c_int32),
    )


class FloatDense(Structure):
    """A product of floats."""

    _fields_ = (
        ("weights", POINTER(c_float)),
        ("bias", POINTER(c_float)),
        ("width", c_int32),
        ("outputs", c_int32),
    )


class Norm(Structure):
    _fields_ = (("gain", POINTER(c_float)), ("bias", POINTER(c_float)))


class Layer(Structure):
    _fields_ = (
        ("qkv", Dense),
        ("out", Dense),
        ("up", Dense),
        ("down", Dense),
        ("attention_norm", Norm),
        ("output_norm", Norm),
        ("qkv_scale", POINTER(c_float)),
        ("up_scale", POINTER(c_float)),
    )


class Block(Structure):
    """A convolution of the tags."""

    _fields_ = (("norm", Norm), ("neighbours", FloatDense), ("out", FloatDense))


class Model(Structure):
    _fields_ = (
        ("vocabulary", c_int32),
        ("hidden", c_int32),
        ("intermediate", c_int32),
        ("layers", c_int32),
        ("heads", c_int32),
        ("blocks", c_int32),
        ("longest", c_int32),
        ("scores_all", c_int32),
        ("epsilon", c_float),
        ("table_scale", c_float),
        ("table_zero_point", c_int32),
        ("table", POINTER(c_int8)),
        ("table_scales", POINTER(c_float)),
        ("table_bias", POINTER(c_float)),
        ("positions", POINTER(c_float)),
        ("embedding_norm", Norm),
        ("layer", POINTER(Layer)),
        ("head", Dense),
        ("head_norm", Norm),
        ("states_read", POINTER(c_int32)),
        ("states", FloatDense),
        ("likelihoods", FloatDense),
        ("tags", FloatDense),
        ("tag_norm", Norm),
        ("tag_output_norm", Norm),
        ("block", POINTER(Block)),
    )


class Reading(Structure):
    """Windows to read and where the answers go; see `native/model.h`."""

    _fields_ = (
        ("ids", c_void_p),
        ("edges", c_void_p),
        ("windows", c_int),
        ("rows", c_int),
        ("best", c_void_p),
        ("best_probabilities", c_void_p),
        ("source_probability", c_void_p),
        ("tags", c_void_p),
    )


@lru_cache(maxsize=1)
def load() -> ctypes.CDLL | None:
    """The library, or None where there is none for this machine."""
    if os.environ.get(SWITCH) == "0" or not PATH.exists():
        return None
    try:
        library = ctypes.CDLL(str(PATH))
    except OSError:  # of another machine, as in a folder that two share
        return None
    library.nmspeller_instruction_set.restype = c_char_p
    library.nmspeller_open.restype = library.nmspeller_team.restype = c_void_p
    library.nmspeller_open.argtypes = [POINTER(Model), c_char_p]
    library.nmspeller_close.argtypes = library.nmspeller_dismiss.argtypes = [c_void_p]
    library.nmspeller_read.argtypes = [c_void_p, c_void_p, POINTER(Reading)]
    return library


def best_instruction_set() -> str | None:
    """The one to use, or None where there is no library for this processor."""
    return next(iter(instruction_sets()), None)


@lru_cache(maxsize=1)
def instruction_sets() -> tuple[str, ...]:
    """Those of this processor that the library has kernels for, best first."""
    library = load()
    found: list[str] = []
    while library is not None and (name := library.nmspeller_instruction_set(len(found))):
        found.append(name.decode())
    return tuple(found)
