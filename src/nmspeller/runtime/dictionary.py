"""The user's own words, which are never edited, and fixed replacements, which are always applied.

Both are plain text files in UTF-8, reloaded when they change: one word or `wrong<TAB>right` per line.
Empty lines and lines that start with # are ignored.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from nmspeller.errors import InputError
from nmspeller.files import reason
from nmspeller.messages import _
from nmspeller.text.protect import ProtectedWords

Content = TypeVar("Content")
Item = TypeVar("Item")

Words = Iterable[str | Path] | Path
"""Words that are never changed: some words, a file of them, or several of both."""
PairsOrFiles = Mapping[str, str] | Path | Iterable[Mapping[str, str] | Path]
"""Texts that are always replaced: a mapping, a file, or several of both."""


class Replacement(NamedTuple):
    """Replace `text[start:stop]` by `target`."""

    start: int
    stop: int
    target: str


class Replacements:
    """Fixed replacements; of overlapping matches the first is applied, of equal starts the longest."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        for wrong, right in pairs.items():
            if not isinstance(wrong, str):
                raise _no_word(wrong)
            if not wrong:
                raise InputError(_("a replacement needs a text to replace; remove the empty one."))
            if not isinstance(right, str):
                raise InputError(
                    _("{wrong!r} must be replaced by a string, not by {right!r}.").format(
                        wrong=wrong, right=right
                    )
                )
        self._pairs = dict(pairs)
        self._matcher = ProtectedWords(self._pairs)

    def find(self, text: str, protected: Iterable[tuple[int, int]] = ()) -> list[Replacement]:
        """All replacements in a text, in order and disjoint; none overlaps a protected range."""
        if not self._pairs:
            return []
        is_protected = np.zeros(len(text), np.bool_)
        for start, stop in protected:
            is_protected[start:stop] = True
        protected_before = [0, *np.cumsum(is_protected).tolist()]
        longest: dict[int, int] = {}
        for start, stop in self._matcher.matches(text):
            # Matches come in the order of their stops, so of one start the longest comes last.
            if protected_before[start] == protected_before[stop]:
                longest[start] = stop
        found: list[Replacement] = []
        for start, stop in sorted(longest.items()):
            if not found or start >= found[-1].stop:
                found.append(Replacement(start, stop, self._pairs[text[start:stop]]))
        return found


class Watched(Generic[Content]):
    """The content of a file, reloaded when the file changes.

    While it is being edited, a file may be missing or incomplete: its last valid content is used then.

    Raises:
        InputError: the file cannot be read in the first place.
    """

    def __init__(self, path: Path, read: Callable[[Path], Content]) -> None:
        self._path, self._read = path, read
        self._loaded = self._stamp(), read(path)

    def current(self) -> Content:
        """The current content; checking for a change costs one call to the file system."""
        loaded = self._loaded
        try:
            stamp = self._stamp()
            if loaded[0] != stamp:
                # One assignment of a finished pair, so that other threads see the old list or the new one.
                loaded = self._loaded = (stamp, self._read(self._path))
        except InputError:
            pass
        return loaded[1]

    def _stamp(self) -> tuple[int, ...]:
        try:
            status = self._path.stat()
        except (OSError, ValueError) as error:
            raise _unreadable(self._path, error) from error
        # Programs, such as those that copy files, may set mtime, but not ctime.
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class Fixed(Generic[Content]):
    """Content that did not come from a file, with the interface of `Watched`."""

    def __init__(self, content: Content) -> None:
        self._content = content

    def current(self) -> Content:
        return self._content


def _word_matcher(words: Iterable[str]) -> ProtectedWords:
    """The words as given by a program, which may be the lines of an open file.

    Raises:
        InputError: one of them is not a string.
    """
    given = list(words)
    for word in given:
        if not isinstance(word, str):
            raise _no_word(word)
    return ProtectedWords(word.strip() for word in given)


def word_sources(words: Words | None) -> list[Watched[ProtectedWords] | Fixed[ProtectedWords]]:
    """The user's words, from files or as given."""
    given = _several(words)
    files = [one for one in given if isinstance(one, Path)]
    return [
        Fixed(_word_matcher(one for one in given if not isinstance(one, Path))),
        *(Watched(file, lambda path: ProtectedWords(read_words(path))) for file in files),
    ]


class ReplacementSources:
    """The user's replacements, from files and as given; where two differ, the later one counts."""

    def __init__(self, pairs: PairsOrFiles | None) -> None:
        self._sources = _pair_sources(pairs)
        self._read: list[Mapping[str, str]] = []
        self._replacements = Replacements({})
        self.current()

    def current(self, further: PairsOrFiles | None = None) -> Replacements:
        """The present replacements; they are prepared anew when a file has changed.

        Args:
            further: pairs for this call alone, which go before the others.
        """
        read: list[Mapping[str, str]] = [source.current() for source in self._sources]
        if more := [pairs for source in _pair_sources(further) if (pairs := source.current())]:
            return _merged([*read, *more])
        if read != self._read:
            self._read, self._replacements = read, _merged(read)
        return self._replacements


def _pair_sources(
    pairs: PairsOrFiles | None,
) -> list[Watched[dict[str, str]] | Fixed[dict[str, str]]]:
    given = (pairs,) if isinstance(pairs, Mapping | str | bytes) else _several(pairs)
    for one in given:
        if not isinstance(one, Mapping | Path):
            raise InputError(
                _("replacements must be a mapping, or a file as a Path, not {given!r}.").format(given=one)
            )
    return [Watched(one, read_replacements) if isinstance(one, Path) else Fixed(dict(one)) for one in given]


def _merged(lists: Iterable[Mapping[str, str]]) -> Replacements:
    return Replacements({wrong: right for pairs in lists for wrong, right in pairs.items()})


def _several(given: Iterable[Item] | Path | None) -> tuple[Item | Path, ...]:
    """One file or several things as several; what is neither is one thing, which the caller refuses.

    Raises:
        InputError: it is a string or bytes.
    """
    if given is None:
        return ()
    if isinstance(given, str | bytes):
        raise InputError(_("give a file as a Path and words as a list; a plain string could mean either."))
    return tuple(given) if isinstance(given, Iterable) else (given,)


def read_words(path: Path) -> list[str]:
    """The words of a file, one per line."""
    return [line for _, line in _lines(path, margin=None)]


def read_replacements(path: Path) -> dict[str, str]:
    """The replacements of a file, one `wrong<TAB>right` per line."""
    pairs: dict[str, str] = {}
    # The right side may be empty after its tab, and an ideographic space may belong to either side.
    for number, line in _lines(path, margin=" "):
        wrong, tab, right = line.partition("\t")
        if not tab or not wrong or "\t" in right:
            raise InputError(
                _("{path}, line {number}: write the wrong text, one tab, the right text.").format(
                    path=path, number=number
                )
            )
        pairs[wrong] = right
    return pairs


def _lines(path: Path, margin: str | None) -> Iterable[tuple[int, str]]:
    """The numbered lines with content, stripped of the characters in `margin` (None: all white space)."""
    try:
        content = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            _("{path} is not UTF-8 (byte {byte}); save it as UTF-8.").format(path=path, byte=error.start)
        ) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    for number, line in enumerate(content.split("\n"), 1):
        stripped = line.strip(margin)
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def _no_word(given: object) -> InputError:
    return InputError(_("a word must be a string, not {word!r}.").format(word=given))


def _unreadable(path: Path, error: OSError | ValueError) -> InputError:
    """The error for a missing file or, as a ValueError, an impossible file name."""
    return InputError(
        _("cannot read {path} ({reason}); check the path.").format(path=path, reason=reason(error))
    )
