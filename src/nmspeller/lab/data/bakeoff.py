"""The bake-offs' own formats: SIGHAN 2013, CLP 2014 and SIGHAN 2015.

- Input: `(NID=00401) text` in 2013, `(pid=A2-0011-1)<TAB>text` later.
- Answers, of a system or the truth: `id, position, character, position, character …`, or `id, 0` for a
  sentence without mistakes; positions count from 1. Sub-task 1 of 2013 gives positions without characters.
- Training: SGML, `<DOC>` with `<P>` in 2013, `<ESSAY>` with `<PASSAGE>`s later. A `<MISTAKE>` names a
  position and the words around it, wrong and corrected.

Blanks around a passage are layout, not text. The released files hold some forty slips (broken bytes,
positions that point elsewhere, corrections of another length); a lenient read skips and lists them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import BadLine, Pair, decode, read_lines, report_skipped, write_lines
from nmspeller.lab.data.sgml import read_passages_with_mistakes

T = TypeVar("T")


class Mistake(NamedTuple):
    """A wrong character's position, from 1, and the right character; empty where only positions are known."""

    position: int
    character: str


Answer = tuple[Mistake, ...]


class ById(dict[str, T], Generic[T]):
    """What a file says of each passage, in its order, and the lines that were skipped."""

    skipped: tuple[BadLine, ...] = ()


def read_input(path: str | Path, *, lenient: bool = False) -> ById[str]:
    """Read the passages of a test: id to text.

    Raises:
        InputError: the file cannot be read; or a line is bad, unless `lenient`.
    """
    return _read(path, _parse_passage, lenient)


def read_answers(path: str | Path, *, characters: bool = True, lenient: bool = False) -> ById[Answer]:
    """Read a truth or a system's result; without `characters` it is of sub-task 1, positions alone.

    Raises:
        InputError: the file cannot be read; or a line is bad, unless `lenient`.
    """
    return _read(path, _parse_answer if characters else _parse_positions, lenient)


def read_training(path: str | Path, *, lenient: bool = False) -> ById[Pair]:
    """Read SGML training data of any of the three years: id to the passage as it was written and corrected.

    A passage with a mistake that cannot be placed is bad as a whole, since its right side is not known.

    Raises:
        InputError: the file cannot be read; or a passage or mistake is bad, unless `lenient`.
    """
    pairs: ById[Pair] = ById()
    skipped: list[BadLine] = []
    for passage in read_passages_with_mistakes(path):
        if isinstance(passage, BadLine):
            if not lenient:
                raise InputError(f"{passage}.")
            skipped.append(passage)
        else:
            pairs[passage.id] = Pair(passage.text, passage.corrected)
    pairs.skipped = tuple(skipped)
    report_skipped(skipped)
    return pairs


def pair_up(
    passages: Mapping[str, str], answers: Mapping[str, Answer], *, lenient: bool = False
) -> ById[Pair]:
    """Apply answers to the passages they speak of.

    Raises:
        InputError: a passage has no answer, or one beyond its end, unless `lenient`.
    """
    pairs: ById[Pair] = ById()
    skipped: list[BadLine] = []
    for number, (name, text) in enumerate(passages.items(), start=1):
        corrected, reason = list(text), ""
        if name not in answers:
            reason = f"passage {name} has no answer"
        for mistake in answers.get(name, ()):
            if mistake.position > len(text):
                reason = f"passage {name} has {len(text)} characters and a mistake at {mistake.position}"
            else:
                corrected[mistake.position - 1] = mistake.character
        if not reason:
            pairs[name] = Pair(text, "".join(corrected))
        elif lenient:
            skipped.append(BadLine("answers", number, reason))
        else:
            raise InputError(f"{reason}; lenient reading would skip it.")
    pairs.skipped = tuple(skipped)
    report_skipped(skipped)
    return pairs


def answer(pair: Pair) -> Answer:
    """What is changed in a pair, as a bake-off wants to hear it."""
    characters = enumerate(zip(pair.source, pair.target, strict=True), start=1)
    return tuple(Mistake(position, right) for position, (wrong, right) in characters if wrong != right)


def write_input(path: str | Path, passages: Mapping[str, str], *, label: str = "pid") -> None:
    """Write a test's input; the label is NID in 2013 and pid later.

    Raises:
        InputError: an id or a text cannot be held by the format, or the file cannot be written.
    """
    write_lines(path, (f"({label}={_id(name)})\t{_text(name, text)}" for name, text in passages.items()))


def write_answers(path: str | Path, answers: Mapping[str, Answer]) -> None:
    """Write a truth or a result; mistakes without characters give sub-task 1's form.

    Raises:
        InputError: an id or a character cannot be held by the format, or the file cannot be written.
    """
    write_lines(path, (_format_answer(name, mistakes) for name, mistakes in answers.items()))


def write_training(path: str | Path, pairs: Mapping[str, Pair]) -> None:
    """Write SGML training data in the form of 2014 and 2015, one essay a passage, one mistake a character.

    Raises:
        InputError: an id or a text cannot be held by the format, or the file cannot be written.
    """
    write_lines(path, (line for name, pair in pairs.items() for line in _format_essay(name, pair)))


def _read(path: str | Path, parse: Callable[[str], tuple[str, T]], lenient: bool) -> ById[T]:
    found: ById[T] = ById()
    skipped: list[BadLine] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            name, value = parse(decode(line))
            if name in found:
                raise ValueError(f"passage {name} was there before")
            found[name] = value
        except ValueError as wrong:
            bad = BadLine(str(path), number, str(wrong))
            if not lenient:
                raise InputError(f"{bad}.") from None
            skipped.append(bad)
    found.skipped = tuple(skipped)
    report_skipped(skipped)
    return found


def _parse_passage(line: str) -> tuple[str, str]:
    match = re.fullmatch(r"\s*\((?:NID|pid)=([^\s,()]+)\)\s*(\S.*)", line.rstrip(), re.DOTALL)
    if not match:
        raise ValueError("(NID=…) or (pid=…) and a text are expected")
    return match[1], match[2]


def _parse_answer(line: str) -> tuple[str, Answer]:
    name, fields = _fields(line)
    if fields == ["0"]:
        return name, ()
    if not fields or len(fields) % 2 or any(len(character) != 1 for character in fields[1::2]):
        raise ValueError("position, character, … or 0 are expected after the id")
    return name, tuple(Mistake(_position(p), c) for p, c in zip(fields[::2], fields[1::2], strict=True))


def _parse_positions(line: str) -> tuple[str, Answer]:
    name, fields = _fields(line)
    if fields == ["0"]:
        return name, ()
    if not fields:
        raise ValueError("positions or 0 are expected after the id")
    return name, tuple(Mistake(_position(field), "") for field in fields)


def _fields(line: str) -> tuple[str, list[str]]:
    name, *fields = (field.strip() for field in line.split(","))
    if not name:
        raise ValueError("the id is missing")
    return name, fields


def _position(field: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", field):
        raise ValueError(f"{field!r} is no position; positions count from 1")
    return int(field)


def _format_answer(name: str, mistakes: Answer) -> str:
    for mistake in mistakes:
        if mistake.character.isspace() or mistake.character == ",":
            raise InputError(f"passage {name}: {mistake.character!r} cannot be written as a correction.")
    fields = [str(field) for mistake in mistakes for field in mistake if field != ""]
    return ", ".join([_id(name), *(fields or ["0"])])


def _format_essay(name: str, pair: Pair) -> Iterator[str]:
    yield '<ESSAY title="">'
    yield "<TEXT>"
    yield f'<PASSAGE id="{_id(name)}">{escape(_text(name, pair.source), quote=False)}</PASSAGE>'
    yield "</TEXT>"
    for position, character in answer(pair):
        yield f'<MISTAKE id="{name}" location="{position}">'
        yield f"<WRONG>{escape(pair.source[position - 1], quote=False)}</WRONG>"
        yield f"<CORRECTION>{escape(_text(name, character), quote=False)}</CORRECTION>"
        yield "</MISTAKE>"
    yield "</ESSAY>"


def _id(name: str) -> str:
    if not re.fullmatch("[A-Za-z0-9._-]+", name):
        raise InputError(f"{name!r} is no id; use letters, digits, dots and hyphens.")
    return name


def _text(name: str, text: str) -> str:
    if not text or text != text.strip() or any(mark in text for mark in "\r\n\0"):
        raise InputError(f"passage {name}: text with blanks around it or line ends in it cannot be written.")
    return text
