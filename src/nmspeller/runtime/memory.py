"""Memory that was needed only while a model was loaded."""

import ctypes
import sys


def release_free_memory() -> None:
    """Give free memory back to the system; glibc would keep what the model's file was read into."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
