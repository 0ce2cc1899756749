"""Atomic file writing, hashes, the system's errors, and the exceptions that damaged npz files raise."""

import ctypes
import hashlib
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import BadZipFile

from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.text.patterns import lazy_pattern

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


def reason(error: Exception) -> str:
    """Why the system refused something, in the present language if it is among the common reasons."""
    said = getattr(error, "strerror", None) or str(error)
    return _(said) if said in _SYSTEM else said


def path_of(given: str | Path) -> Path:
    """The path that a program gives.

    Raises:
        InputError: it is none.
    """
    if not isinstance(given, str | os.PathLike) or "\0" in str(given):
        raise InputError(_("give a path as a string or a Path, not {given!r}.").format(given=given))
    return Path(given)


def sha256(stream: IO[bytes]) -> str:
    """The hash of the rest of a stream, in hexadecimal digits."""
    digest = hashlib.sha256()
    while piece := stream.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


TEMPORARY = lazy_pattern(r"\.[0-9a-f]{16}\.aside$")
"""The names of files that are not complete. They lack the final name, which may have the maximum length."""


_IN_THIS_FOLDER, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of the C library."""


def temporary_name() -> str:
    """A new name for a file that is not complete."""
    return f".{secrets.token_hex(8)}.aside"


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """An empty file in the folder of `path`, which is removed at the end unless it was renamed.

    It may be read by nobody but its owner if `path` exists, which may have the same permissions.
    """
    temporary = path.with_name(temporary_name())
    mode = 0o600 if path.exists() else 0o666
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` in one step if the block ends without an exception.

    Whoever opens `path` finds the old content or all of the new one, also after a power failure. A link is
    followed. A file that exists keeps its owner, permissions and other attributes.

    Raises:
        OSError: it cannot be written; nothing has changed, and no partial file is left.
    """
    target = Path(os.path.realpath(path))
    try:
        with beside(target) as temporary:
            yield temporary
            put_in_place(temporary, target)
    except OSError as error:
        if error.errno is not None and (error.filename is None or TEMPORARY.search(str(error.filename))):
            # The error of a full disk does not name the file, and nobody knows the temporary one.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A stream to a file that is replaced as by `replacing`."""
    with replacing(path) as temporary, open(temporary, "wb") as stream:
        yield stream


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file as by `replacing`."""
    with writing(path) as stream:
        stream.write(content)


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a finished file; one that exists under that name passes its attributes on."""
    sync(temporary)
    if path.exists():
        copy_attributes(path, temporary)
    os.replace(temporary, path)
    sync(path.parent)


def exchange(one: Path, other: Path) -> bool:
    """Let two files change names in one step, and return whether this system can; only Linux does."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_IN_THIS_FOLDER, names[0], _IN_THIS_FOLDER, names[1], _EXCHANGE) == 0)


def copy_attributes(model: Path, copy: Path) -> None:
    """Give a file the owner and all attributes of another one, but the current time."""
    status = model.stat()
    # Only root may change the owner, but members of a group may set it.
    for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
        with suppress(OSError, AttributeError):  # Windows has no owners of this kind
            os.chown(copy, owner, group)
    shutil.copystat(model, copy)
    os.utime(copy)


def sync(path: Path) -> None:
    """Make a file, or what was renamed in a folder, survive a power failure."""
    try:
        # Windows syncs only what may be written; no system lets a folder be opened to write.
        handle = os.open(path, os.O_RDONLY if path.is_dir() or os.name != "nt" else os.O_RDWR)
    except OSError:
        return  # not every system can open a folder
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
