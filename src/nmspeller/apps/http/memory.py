"""Memory that is free, but that the C library keeps for later; and memory that is never free."""

import ctypes
import gc
from contextlib import suppress


def return_freed_memory() -> None:
    """Give it back to the system; else ten models, loaded one after the other, take the memory of three."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # only glibc has this function
        ctypes.CDLL(None).malloc_trim(0)


def settle_memory() -> None:
    """After words and model were loaded: free the last ones, and spare the garbage collector the new ones.

    To look through all their tables takes it up to 70 ms, every few seconds, in which nobody is answered.
    """
    gc.unfreeze()
    return_freed_memory()
    gc.freeze()
