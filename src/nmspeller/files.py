"""Atomic file writing, and the exceptions that damaged npz files raise."""

import os
import zlib
from pathlib import Path
from zipfile import BadZipFile

DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error)
"""What numpy raises for an npz file that is truncated, altered or of another format."""


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file atomically: a reader sees the old content or all of the new one.

    Raises:
        OSError: it cannot be written; no partial file is left.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as wrong:
        # The error of a full disk does not name the file.
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong
    finally:
        if partial.exists():
            partial.unlink()
