"""Files that are written whole or not at all, and what is raised for those that are not whole."""

import os
import zlib
from pathlib import Path
from zipfile import BadZipFile

DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error)
"""By numpy, for an npz file that is cut, changed or something else."""


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file; whoever reads it, also after a kill, finds all of it or what was before.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as wrong:
        # A full disk does not say which file it was full for.
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong
    finally:
        if partial.exists():
            partial.unlink()
