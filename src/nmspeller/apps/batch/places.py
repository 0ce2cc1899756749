"""Files wherever they are: local paths and any fsspec address, and files that appear whole or not at all."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from nmspeller.errors import InputError

# How the name of a file ends that is not finished. The finished one's is no part of it, for that may be as
# long as a name can be.
ASIDE = re.compile(r"\.[0-9a-f]{16}\.aside$")


@dataclass(frozen=True)
class Folder:
    """A folder at an fsspec address, which need not exist yet."""

    address: str

    @property
    def _place(self) -> tuple[Any, str]:
        return file_system(self.address)

    @property
    def is_local(self) -> bool:
        """Whether the folder is on a disk of this machine."""
        return isinstance(self._place[0], LocalFileSystem)

    def path(self, name: str) -> str:
        """The address of a file in the folder."""
        return f"{self.address.rstrip('/')}/{name}"

    def make(self) -> None:
        """Create the folder unless it is there."""
        fs, root = self._place
        fs.makedirs(root, exist_ok=True)

    def sizes(self) -> dict[str, int]:
        """The size of every file in the folder, by its name relative to the folder."""
        fs, root = self._place
        fs.invalidate_cache()
        root = root.rstrip("/")
        found = fs.find(root, detail=True) if fs.exists(root) else {}
        return {path[len(root) + 1 :]: info["size"] for path, info in found.items()}

    def size(self, name: str) -> int | None:
        """The size of a file, or None where there is no such file."""
        fs, root = self._place
        try:
            return int(fs.info(f"{root.rstrip('/')}/{name}")["size"])
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""
        fs, root = self._place
        path = f"{root.rstrip('/')}/{name}" if name else root
        if fs.exists(path):
            fs.rm(path, recursive=True)

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None where there is no such file."""
        fs, root = self._place
        try:
            content: bytes = fs.cat_file(f"{root.rstrip('/')}/{name}")
        except FileNotFoundError:
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a small file whole."""
        with self.writing(name) as stream:
            stream.write(content)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A stream to a file that appears under its name only when the block ends well.

        On a local disk the content is safe before the name is there; elsewhere it is as safe as the store's
        own rename.
        """
        fs, root = self._place
        path = f"{root.rstrip('/')}/{name}"
        folder = path.rsplit("/", 1)[0]
        aside = f"{folder}/.{secrets.token_hex(8)}.aside"
        fs.makedirs(folder, exist_ok=True)
        try:
            with fs.open(aside, "wb") as stream:
                yield stream
                stream.flush()
                if self.is_local:
                    os.fsync(stream.fileno())
            if self.is_local:
                os.replace(aside, path)
                _sync_folder(os.path.dirname(path))
            else:
                fs.mv(aside, path)
        except BaseException:
            if fs.exists(aside):
                fs.rm_file(aside)
            raise


def file_system(address: str) -> tuple[Any, str]:
    """The fsspec file system of an address and the path in it."""
    # fsspec would take `::` in the name of a local file for one address inside another.
    if "://" not in address or address.startswith("file://"):
        return LocalFileSystem(), LocalFileSystem._strip_protocol(address)
    try:
        fs, path = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as wrong:
        raise InputError(f"{address} cannot be reached: {wrong}.") from wrong
    return fs, path


def absolute(address: str) -> str:
    """The address as it is understood from anywhere."""
    fs, path = file_system(address)
    return path if isinstance(fs, LocalFileSystem) else str(fs.unstrip_protocol(path))


def printable(address: str) -> str:
    """The address for people to read; of a name that is not UTF-8, the odd bytes are spelt out."""
    return os.fsencode(address).decode("utf-8", "backslashreplace")


def _sync_folder(path: str) -> None:
    """Make a rename last through a power cut; not every system lets a folder be opened."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
