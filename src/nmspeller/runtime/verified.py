"""Model files are what they were when they were exported: verified by their hash, once after each change."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import lru_cache
from pathlib import Path

from nmspeller import files
from nmspeller.errors import InputError
from nmspeller.messages import _

# Smaller files are hashed in a few milliseconds, quicker than it is worth remembering.
_REMEMBERED_BYTES = 8 << 20


def sha256(path: Path) -> str:
    """The hash of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return files.sha256(file)


@contextmanager
def verifying(paths: Iterable[Path], hashes: Mapping[str, str]) -> Iterator[None]:
    """Verify files while they are loaded inside the block, which takes longer than hashing them.

    What is wrong with them is raised at the end of the block, in place of what it made of such a file.
    """
    with ThreadPoolExecutor(1, "verify") as thread:
        verified = thread.submit(copy_context().run, verify, paths, hashes)
        try:
            yield
        finally:
            verified.result()


def verify(paths: Iterable[Path], hashes: Mapping[str, str]) -> None:
    """Check that files have the content that their policy.json names by hash.

    An exported model needs a hash. Others, such as a checkpoint that was given the policy of its export, are
    verified if they have one.

    Raises:
        InputError: a file has other content, or a model has no hash.
    """
    for path in paths:
        expected = hashes.get(path.name)
        if expected is None and path.suffix == ".onnx":
            raise InputError(
                _("{folder}/policy.json has no hash of {file}; export the model again.").format(
                    folder=path.parent, file=path.name
                )
            )
        if expected is not None and _hash(path) != expected:
            raise InputError(
                _(
                    "{file} is damaged, or is not the file that policy.json beside it belongs to; "
                    "install or export the model again."
                ).format(file=path)
            )


def _hash(path: Path) -> str:
    """The hash of a file, which is computed only if the file is not known from the last time."""
    try:
        status = path.stat()
        # Programs that copy files may set mtime, but not ctime.
        stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns
        return _remembered(os.path.realpath(path), stamp)
    except OSError as error:
        raise InputError(
            _("cannot read {path} ({reason}); check the path.").format(path=path, reason=files.reason(error))
        ) from error


@lru_cache(maxsize=64)
def _remembered(path: str, stamp: tuple[int, ...]) -> str:
    if stamp[0] < _REMEMBERED_BYTES:
        return sha256(Path(path))
    # Without a home folder, or one that can be written, every process hashes the file while it loads it.
    with suppress(OSError, RuntimeError, ValueError, TypeError, KeyError):
        known = json.loads(_memory(path).read_text("utf-8"))
        if known["stamp"] == list(stamp):
            return str(known["sha256"])
    computed = sha256(Path(path))
    with suppress(OSError, RuntimeError):
        memory = _memory(path)
        memory.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(memory, json.dumps({"path": path, "stamp": stamp, "sha256": computed}).encode())
    return computed


def _memory(path: str) -> Path:
    """One small file for each model, in the folder that the XDG specification names for caches."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"
    return folder / "nmspeller" / "hashes" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"
