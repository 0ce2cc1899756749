"""Reading whole files, and replacing them atomically."""

import contextlib
import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from nmspeller.errors import InputError
from nmspeller.files import reason as system_reason
from nmspeller.messages import _

LARGEST = 64 * 1024 * 1024


def read(path: Path) -> bytes:
    """All bytes of a file, which must be a file that can be read and no larger than `LARGEST`."""
    try:
        if path.is_dir():
            raise InputError(_("{file} is a folder.").format(file=path))
        with open(path, "rb") as file:
            return read_stream(file, str(path))
    except OSError as wrong:
        raise InputError(
            _("{file} cannot be read: {reason}.").format(file=path, reason=reason(wrong))
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

    A link is followed, permissions are kept. If the file is read-only, or has changed since it was read,
    nothing is written. Returns the path of the backup, if there is one.
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
        if not _may_be_written(target):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if target.read_bytes() != expected:
            raise InputError(
                _("{file} changed while it was being checked and was left alone; check it again.").format(
                    file=path
                )
            )
        kept = _free_backup_name(target) if backup else None
        if kept:
            _write_beside(target, expected, kept)
        _write_beside(target, content, target)
        # As the user names the folder, unless a link leads to another one.
        return kept and (kept if path.is_symlink() else path.with_name(kept.name))
    except OSError as wrong:
        raise InputError(
            _("{file} cannot be written: {reason}.").format(file=path, reason=reason(wrong))
        ) from None


def _may_be_written(path: Path) -> bool:
    """Whether the file itself may be: putting another in its place takes the folder's permission alone."""
    has_write_bit = path.stat().st_mode & 0o222 != 0  # root may write all files, also those made read-only
    return has_write_bit and os.access(path, os.W_OK)


def _write_beside(model: Path, content: bytes, destination: Path) -> None:
    """Write a file with the owner and all attributes of `model` under another name, then rename it."""
    descriptor, temporary = tempfile.mkstemp(dir=model.parent, prefix=f".{model.name[:40]}.", suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            status = model.stat()
            # Only root may change the owner, but members of a group may set it.
            for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
                with contextlib.suppress(OSError):
                    os.chown(temporary, owner, group)
            shutil.copystat(model, temporary)
            os.utime(temporary)  # but with the current time
            os.fsync(file.fileno())
        os.replace(temporary, destination)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _free_backup_name(path: Path) -> Path:
    """`name.bak`, or the first `name.bak2`, `name.bak3` … that is free, to keep older originals."""
    candidate, number = path.with_name(f"{path.name}.bak"), 2
    while os.path.lexists(candidate):
        candidate, number = path.with_name(f"{path.name}.bak{number}"), number + 1
    return candidate


def reason(wrong: OSError) -> str:
    """The system's error message, starting in lower case, to be part of a sentence."""
    sentence = system_reason(wrong)
    return sentence[:1].lower() + sentence[1:]
