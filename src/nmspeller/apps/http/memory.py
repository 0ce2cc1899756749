"""Memory that is free, but that the C library keeps for later."""

import ctypes
import gc
from contextlib import suppress


def return_freed_memory() -> None:
    """Give it back to the system; else ten models, loaded one after the other, take the memory of three."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # only glibc has this function
        ctypes.CDLL(None).malloc_trim(0)
