"""The text that benchmarks/rules.py measures on: what the rules were built with, and what not."""

from bisect import bisect
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, groupby
from pathlib import Path

from nmspeller.lab.data.corpus import BLOCK_LINES, corpus_files, is_held_out, read_lines

# Characters of the corpus's first part; what comes before was read while the first rules were written.
SEEN = 10_000_000, 32_000_000
# Characters of the unseen text that were read before the rules were mended.
FIRST_READING = 62_000_000
ENOUGH = 200
CORRECTED = "cscd_ns", "ecspell", "edits", "wang271k"


def seen(data: Path) -> Iterator[str]:
    """22 million characters of the first part, the held-out lines of all, and sentences of the pairs."""
    files = corpus_files(data / "corpus")
    lines = list(read_lines(files[0]))
    starts = list(accumulate(map(len, lines)))
    first, last = (bisect(starts, place) for place in SEEN)
    yield from _blocks((number, lines[number]) for number in range(first, last))
    for path in files:
        yield from _blocks(
            (number, line)
            for number, line in enumerate(read_lines(path))
            if is_held_out(number) and not (path == files[0] and first <= number < last)
        )
    for path in sorted((data / "pairs").glob("*.clean.txt")):
        yield from read_lines(path)


def unseen(data: Path) -> Iterator[tuple[int, str]]:
    """The rest of the corpus without held-out lines, each document with the characters up to its end."""
    first, *others = corpus_files(data / "corpus")
    texts = chain(_blocks(_end_of(first)), *(_blocks(_not_held_out(path)) for path in others))
    place = 0
    for text in texts:
        place += len(text)
        yield place, text


def sentences(data: Path) -> Iterator[str]:
    """The sentences that annotators corrected, before and after, of the sets that no rule was built with."""
    files = sorted(path for name in CORRECTED for path in (data / name).glob("*.t*"))
    lines = (line for path in files for line in read_lines(path))
    yield from dict.fromkeys(side for line in lines for side in line.split("\t")[:2])


def _not_held_out(part: Path) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(read_lines(part)) if not is_held_out(number))


def _end_of(part: Path) -> Iterator[tuple[int, str]]:
    place = 0
    for number, line in enumerate(read_lines(part)):
        place += len(line)
        if place > SEEN[1] and not is_held_out(number):
            yield number, line


def _blocks(numbered: Iterable[tuple[int, str]]) -> Iterator[str]:
    for _, block in groupby(numbered, lambda each: each[0] // BLOCK_LINES):
        yield "\n".join(line for _, line in block)
