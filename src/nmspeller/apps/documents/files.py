"""Reading whole files, and replacing them atomically."""

import errno
import os
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO

from nmspeller.apps.documents.leases import StillOpen, without_writers
from nmspeller.errors import InputError
from nmspeller.files import beside, copy_attributes, exchange, replacing, sync
from nmspeller.files import reason as system_reason
from nmspeller.messages import N_, _

LARGEST = 64 * 1024 * 1024

_CHANGED = N_(
    "{file} changed while it was being checked and was left alone; what was read of it is corrected "
    "in {kept}."
)
_OPEN = N_(
    "{file} is open for writing in another program and was left alone; what was read of it is corrected in "
    "{kept}."
)


def read(path: Path) -> bytes:
    """All bytes of a file, which must be a file that can be read and no larger than `LARGEST`."""
    try:
        if path.is_dir():
            raise InputError(_("{file} is a folder.").format(file=path))
        with open(path, "rb") as file:
            return read_stream(file, str(path))
    except (OSError, ValueError) as error:  # a ValueError for a name that no file can have
        raise InputError(
            _("{file} cannot be read: {reason}.").format(file=path, reason=reason(error))
        ) from None


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """All bytes of a stream, at most `LARGEST` of them."""
    raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(
            _(
                "{name} has more than {limit} MB, more than the limit of one check; "
                "split it or use `nmspeller batch`."
            ).format(name=name, limit=LARGEST // 2**20)
        )
    return raw


def replace(path: Path, content: bytes, *, expected: bytes, backup: bool = False) -> Path | None:
    """Put `content` in the place of `expected` in one step: whoever opens the file sees the one or the other.

    A link is followed, permissions are kept. If the file is read-only, has changed since it was read, or is
    open for writing in another program, it is left alone; in the last two cases the corrected text is kept
    beside it. Returns the path of the backup, if there is one.
    """
    target = Path(os.path.realpath(path))
    try:
        # The path itself: what it leads to may have no name, as a pipe behind /dev/stdin.
        if os.path.exists(path) and not path.is_file():
            raise InputError(
                _("{file} is a pipe or a device, which cannot be corrected in place; read it as -.").format(
                    file=path
                )
            )
        if not may_be_written(target):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with beside(target) as corrected:
            corrected.write_bytes(content)
            copy_attributes(target, corrected)
            sync(corrected)
            kept = _backup(target, expected) if backup else None
            problem = _put_in_place(corrected, target, content, expected)
            if problem:
                if kept:
                    kept.unlink()
                beside_it = _beside_as_named(path, _keep(corrected, target))
                raise InputError(_(problem).format(file=path, kept=beside_it))
        return kept and _beside_as_named(path, kept)
    except OSError as error:
        raise InputError(
            _("{file} cannot be written: {reason}.").format(file=path, reason=reason(error))
        ) from None


def may_be_written(path: Path) -> bool:
    """Whether the file itself may be: putting another in its place takes the folder's permission alone."""
    has_write_bit = path.stat().st_mode & 0o222 != 0  # root may write all files, also those made read-only
    return has_write_bit and os.access(path, os.W_OK)


def _put_in_place(corrected: Path, target: Path, content: bytes, expected: bytes) -> str | None:
    """Replace a file unless it has changed, up to the last moment; returns why it was left alone."""
    if not _still_holds(target, expected):
        return _CHANGED
    if target.stat().st_nlink > 1:
        _overwrite(target, content, expected)
    elif exchange(corrected, target):
        sync(target.parent)
        return _undone_if_changed(corrected, target, expected)
    else:
        os.replace(corrected, target)
        sync(target.parent)
    return None


def _undone_if_changed(old: Path, target: Path, expected: bytes) -> str | None:
    """Put the old file back in its place if another program wrote to it meanwhile; returns why.

    What that program wrote after the last comparison is in the old file, and so is what it still writes if
    it opened it before. It must have closed it, and one that waits to open it finds it in its place.
    """
    try:
        with without_writers(old) as nobody_waits:
            if _still_holds(old, expected) and nobody_waits():
                return None
            exchange(old, target)
            return _CHANGED
    except StillOpen:
        exchange(old, target)
        return _OPEN


def _still_holds(path: Path, expected: bytes) -> bool:
    """Whether the file has this content, and had it all the time that the comparison took."""

    def stamp() -> tuple[int, ...]:
        status = path.stat()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    try:
        before = stamp()
        return path.read_bytes() == expected and stamp() == before
    except FileNotFoundError:
        return False


def _overwrite(path: Path, content: bytes, expected: bytes) -> None:
    """Write into the file itself: it has other names, and a rename would leave them with the old content.

    A crash leaves the whole corrected text beside the file; after an error the file is as it was.
    """
    with open(path, "r+b", buffering=0) as file:
        try:
            _write_from_start(file, content)
        except OSError:
            _write_from_start(file, expected)
            raise


def _write_from_start(file: RawIOBase, content: bytes) -> None:
    file.seek(0)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate(len(content))
    os.fsync(file.fileno())


def _backup(path: Path, content: bytes) -> Path:
    """A copy of the original beside it, with all its attributes."""
    kept = _free_name(path, "bak")
    with replacing(kept) as copy:
        copy.write_bytes(content)
        if path.exists():  # or it was removed meanwhile, which is noticed in the end
            copy_attributes(path, copy)
    return kept


def _keep(corrected: Path, target: Path) -> Path:
    """Give the corrected text a name of its own, since the file has other content by now."""
    kept = _free_name(target, "corrected")
    os.replace(corrected, kept)
    return kept


def _beside_as_named(path: Path, kept: Path) -> Path:
    """A file beside `path`, in the folder as the user names it, unless a link leads to another one."""
    return kept if path.is_symlink() else path.with_name(kept.name)


def _free_name(path: Path, suffix: str) -> Path:
    """`name.bak`, or the first `name.bak2`, `name.bak3` … that is free, to keep older ones."""
    candidate, number = path.with_name(f"{path.name}.{suffix}"), 2
    while os.path.lexists(candidate):
        candidate, number = path.with_name(f"{path.name}.{suffix}{number}"), number + 1
    return candidate


def reason(error: OSError | ValueError) -> str:
    """The system's error message, starting in lower case, to be part of a sentence."""
    sentence = system_reason(error)
    return sentence[:1].lower() + sentence[1:]
