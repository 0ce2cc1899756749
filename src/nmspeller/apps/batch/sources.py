"""The input files of a job, their order, and their names in the output."""

import bz2
import gzip
import io
import lzma
import os
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from fsspec.implementations.local import LocalFileSystem

from nmspeller.apps.batch.filesystem import file_system, printable
from nmspeller.apps.batch.job import BatchJob, Write
from nmspeller.apps.documents.prose import is_prose_file
from nmspeller.errors import InputError
from nmspeller.messages import _, ngettext

FORMATS = {
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def _read_zstd(raw: IO[bytes]) -> Any:
    # The zstandard package does not detect truncated files; Arrow does.
    import pyarrow

    return pyarrow.CompressedInputStream(raw, "zstd")


def _write_zstd(data: bytes) -> bytes:
    import pyarrow

    packed: bytes = pyarrow.compress(data, "zstd", asbytes=True)
    return packed


# In all of these formats, parts that were compressed separately can be concatenated.
_COMPRESSION: dict[str, tuple[Callable[[IO[bytes]], Any], Callable[[bytes], bytes]]] = {
    ".gz": (lambda raw: gzip.GzipFile(fileobj=raw, mode="rb"), lambda data: gzip.compress(data, 6, mtime=0)),
    ".bz2": (bz2.BZ2File, bz2.compress),
    ".xz": (lzma.LZMAFile, lzma.compress),
    ".zst": (_read_zstd, _write_zstd),
}


@dataclass(frozen=True)
class Source:
    """An input file: its address, its name in OUTPUT, its format and the suffix of its compression."""

    address: str
    name: str
    format: str
    compression: str = ""

    @property
    def shown(self) -> str:
        """The address for messages."""
        return printable(self.address.removeprefix("file://"))

    @property
    def delimiters(self) -> str:
        """The possible delimiters of a CSV file, the most likely first."""
        return "\t,;|" if _suffixes(self.name)[0] == ".tsv" else ",\t;|"


def decompress(raw: IO[bytes], compression: str) -> IO[bytes]:
    """The content behind a compressed stream, or the stream itself."""
    if not compression:
        return raw
    return io.BufferedReader(_COMPRESSION[compression][0](raw), 1 << 20)


def compress(data: bytes, compression: str) -> bytes:
    """The data as one part of a compressed file; the same data always gives the same bytes."""
    return _COMPRESSION[compression][1](data) if compression else data


def find_sources(job: BatchJob, say: Callable[[str], None]) -> list[Source]:
    """The job's input files, in the order given and by name within a folder.

    say: is told of a folder's files that are skipped.
    """
    sources: list[Source] = []
    for given in job.inputs:
        fs, path = file_system(given)
        if any(sign in given for sign in "*?[") and not fs.exists(path):
            found = [
                (match, posixpath.basename(match)) for match in sorted(fs.glob(path)) if fs.isfile(match)
            ]
        elif fs.isdir(path):
            found, skipped = _files_below(fs, path.rstrip("/"), job.format)
            if found and skipped:
                say(f"nmspeller: {_skipped(given, skipped)}")
        elif fs.exists(path):
            _check_regular_file(fs, path)
            found = [(path, posixpath.basename(path))]
        else:
            raise InputError(
                _("{input} does not exist; give a file, a folder, a pattern or an fsspec address.").format(
                    input=given
                )
            )
        if not found:
            raise InputError(
                _("{input} contains no file to correct; supported are {formats}.").format(
                    input=given, formats=", ".join(FORMATS)
                )
            )
        sources += [_source(fs.unstrip_protocol(path), name, job) for path, name in found]
    _check_unique_names(sources)
    return sources


def _files_below(fs: Any, root: str, format: str | None) -> tuple[list[tuple[str, str]], list[str]]:
    """The files of a folder with their names in it, and the names of those that have another format."""
    is_local = isinstance(fs, LocalFileSystem)
    found, skipped = [], []
    for path in sorted(_local_files(root) if is_local else fs.find(root)):
        name = path[len(root) + 1 :]
        if any(part.startswith(".") for part in name.split("/")):
            continue
        if not format and _suffixes(name)[0] not in FORMATS:
            skipped.append(name)
            continue
        if is_local:
            _check_regular_file(fs, path)
        found.append((path, name))
    return found, skipped


def _skipped(folder: str, names: list[str]) -> str:
    suffixes = sorted({_suffixes(name)[0] or posixpath.basename(name) for name in names})
    return ngettext(
        "{count:,} file in {folder} has another format and is skipped ({suffixes}).",
        "{count:,} files in {folder} have other formats and are skipped ({suffixes}).",
        len(names),
    ).format(count=len(names), folder=printable(folder), suffixes=printable(", ".join(suffixes)))


def _local_files(root: str) -> Iterator[str]:
    """All files below a folder; fsspec would silently skip unreadable subfolders."""

    def fail(error: OSError) -> NoReturn:
        raise error

    for folder, _folders, names in os.walk(root, onerror=fail):
        for name in names:
            yield LocalFileSystem._strip_protocol(os.path.join(folder, name))


def _check_regular_file(fs: Any, path: str) -> None:
    """Raise InputError for pipes and devices, which can be read at most once and may block."""
    if not fs.isfile(path):
        raise InputError(
            _(
                "{file} is a pipe, a device or a link to nothing; a job reads its input more than once, "
                "so give it files."
            ).format(file=printable(path))
        )


def _suffixes(name: str) -> tuple[str, str]:
    """The suffixes of a name that indicate its format and its compression."""
    stem, last = posixpath.splitext(name.lower())
    if last in _COMPRESSION:
        return posixpath.splitext(stem)[1], last
    return last, ""


def _source(address: str, name: str, job: BatchJob) -> Source:
    suffix, compression = _suffixes(name)
    format = job.format or FORMATS.get(suffix)
    if format is None and is_prose_file(name):
        raise InputError(
            _(
                "{name} has markup, which `nmspeller check --fix` does not change; "
                "give --format text to correct it line by line, markup included."
            ).format(name=name)
        )
    if format is None:
        raise InputError(
            _(
                "the suffix of {name} does not indicate its format; give --format text, jsonl, csv or "
                "parquet."
            ).format(name=name)
        )
    if format == "parquet" and compression:
        raise InputError(
            _("{name} is a compressed Parquet file; unpack it, Parquet is compressed inside.").format(
                name=name
            )
        )
    if format == "text" and job.write is not Write.CORRECTED:
        # Plain text has no place for edits, so they are written as one JSON object per line.
        name = name[: len(name) - len(compression)] + ".jsonl" + compression
    return Source(address, name, format, compression)


def _check_unique_names(sources: list[Source]) -> None:
    seen: dict[str, str] = {}
    for source in sources:
        if source.name in seen:
            raise InputError(
                _("{first} and {file} would both be written to {name}; correct them in two jobs.").format(
                    first=seen[source.name], file=source.shown, name=source.name
                )
            )
        seen[source.name] = source.shown
