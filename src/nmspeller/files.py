"""Atomic file writing, what the system says of files, and the exceptions that damaged npz files raise."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile

from nmspeller.messages import N_, _

DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error)
"""What numpy raises for an npz file that is truncated, altered or of another format."""


_SYSTEM = (
    N_("No such file or directory"),
    N_("Permission denied"),
    N_("Operation not permitted"),
    N_("Is a directory"),
    N_("Not a directory"),
    N_("File exists"),
    N_("File name too long"),
    N_("No space left on device"),
    N_("Disk quota exceeded"),
    N_("Read-only file system"),
    N_("Input/output error"),
    N_("Too many open files"),
    N_("Too many levels of symbolic links"),
    N_("Address already in use"),
    N_("Cannot assign requested address"),
)
"""What the C library says of the errors that users meet; it does not know the present language."""


def reason(wrong: Exception) -> str:
    """Why the system refused something, in the present language if it is among the common reasons."""
    said = getattr(wrong, "strerror", None) or str(wrong)
    return _(said) if said in _SYSTEM else said


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file atomically: a reader sees the old content or all of the new one.

    Raises:
        OSError: it cannot be written; no partial file is left.
    """
    with writing(path) as file:
        file.write(content)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """The same for a file that is written piece by piece: it appears when all of it is written.

    Raises:
        OSError: it cannot be written; no partial file is left.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            yield file
        os.replace(partial, path)
    except OSError as wrong:
        # The error of a full disk does not name the file.
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong
    finally:
        if partial.exists():
            partial.unlink()
