"""Local paths and fsspec addresses, and files that are written atomically."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from nmspeller import files
from nmspeller.errors import InputError
from nmspeller.messages import _


@dataclass(frozen=True)
class Folder:
    """A folder at an fsspec address, which may not exist yet."""

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
        """Create the folder unless it exists."""
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
        """The size of a file, or None if it does not exist."""
        fs, root = self._place
        try:
            return int(fs.info(f"{root.rstrip('/')}/{name}")["size"])
        except FileNotFoundError:
            return None

    def sha256(self, name: str) -> str | None:
        """The hash of a file's content, or None if it does not exist."""
        try:
            return sha256(self.path(name))
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file or a folder with its content, if it exists."""
        fs, root = self._place
        path = f"{root.rstrip('/')}/{name}" if name else root
        if fs.exists(path):
            fs.rm(path, recursive=True)

    def read(self, name: str) -> bytes | None:
        """The content of a file, or None if it does not exist."""
        fs, root = self._place
        try:
            content: bytes = fs.cat_file(f"{root.rstrip('/')}/{name}")
        except FileNotFoundError:
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a small file atomically."""
        with self.writing(name) as stream:
            stream.write(content)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A stream to a file that gets its name only when the block ends without an exception.

        On a local disk the content is synced before the rename; elsewhere it is as safe as the store's own
        rename.
        """
        fs, root = self._place
        path = f"{root.rstrip('/')}/{name}"
        folder = path.rsplit("/", 1)[0]
        fs.makedirs(folder, exist_ok=True)
        if self.is_local:
            with files.writing(Path(path)) as stream:
                yield stream
            return
        temporary = f"{folder}/{files.temporary_name()}"
        try:
            with fs.open(temporary, "wb") as stream:
                yield stream
            fs.mv(temporary, path)
        except BaseException:
            if fs.exists(temporary):
                fs.rm_file(temporary)
            raise


def file_system(address: str) -> tuple[Any, str]:
    """The fsspec file system of an address and the path in it."""
    # fsspec would take `::` in the name of a local file for one address inside another.
    if "://" not in address or address.startswith("file://"):
        return LocalFileSystem(), LocalFileSystem._strip_protocol(address)
    try:
        fs, path = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise InputError(
            _("{address} cannot be reached: {problem}.").format(address=address, problem=error)
        ) from error
    return fs, path


def sha256(address: str) -> str:
    """The hash of a file's content."""
    fs, path = file_system(address)
    with fs.open(path, "rb") as stream:
        return files.sha256(stream)


def absolute(address: str) -> str:
    """The address in a form that does not depend on the working folder."""
    fs, path = file_system(address)
    return path if isinstance(fs, LocalFileSystem) else str(fs.unstrip_protocol(path))


def printable(address: str) -> str:
    """The address for messages; bytes that are not UTF-8 are escaped."""
    return os.fsencode(address).decode("utf-8", "backslashreplace")
