"""Plain training text: one paragraph a line, read from compressed parts, stored as character ids."""

import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError

LINE_END = 0  # the id of [PAD], which no character has, closes every paragraph

# The corpora are shuffled in blocks of 30 lines; every 50th block is held out as a whole, so that held-out
# text shares no article with training text.
BLOCK_LINES = 30
HELD_OUT_EVERY = 50


def read_lines(path: Path) -> Iterator[str]:
    """The paragraphs of a text file, compressed with xz or plain, without line ends and byte-order mark."""
    opener: Callable[..., object] = lzma.open if path.suffix == ".xz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as lines:  # type: ignore[attr-defined]
            for line in lines:
                yield line.rstrip("\r\n")
    except (OSError, lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {path}: {error}; give a UTF-8 text file, plain or compressed with xz."
        ) from error


def corpus_files(place: Path) -> list[Path]:
    """The text files of a corpus: itself, or every *.txt and *.txt.xz of a folder in order of name."""
    files = [place] if place.is_file() else sorted([*place.glob("*.txt"), *place.glob("*.txt.xz")])
    if not files:
        raise InputError(f"no text in {place}; give a folder of *.txt or *.txt.xz files, or one such file.")
    return files


def is_held_out(line_number: int) -> bool:
    """Whether a line, counted from 0 within its file, is held out from training."""
    return (line_number // BLOCK_LINES) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1


def encode_lines(
    lines: Iterator[str], encode: Callable[[str], NDArray[np.int32]], chunk: int = 20_000
) -> NDArray[np.uint16]:
    """All lines as one array of ids, (characters + lines,), each line closed by LINE_END."""
    parts: list[NDArray[np.uint16]] = []
    pending: list[str] = []

    def flush() -> None:
        # One encode call for many lines: "\0" is no vocabulary character, so its places are known from the
        # lengths.
        lengths = np.fromiter((len(line) for line in pending), dtype=np.int64, count=len(pending))
        ids = encode("\0".join([*pending, ""])).astype(np.uint16)
        ids[np.cumsum(lengths + 1) - 1] = LINE_END
        parts.append(ids)
        pending.clear()

    for line in lines:
        if line:
            pending.append(line)
        if len(pending) >= chunk:
            flush()
    if pending:
        flush()
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint16)
