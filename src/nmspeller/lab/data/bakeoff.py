"""The file formats of the bake-offs: SIGHAN 2013, CLP 2014 and SIGHAN 2015.

- Input: `(NID=00401) text` in 2013, `(pid=A2-0011-1)<TAB>text` later.
- Answers, of a system or the truth: `id, position, character, position, character …`, or `id, 0` for a
  sentence without mistakes; positions count from 1. Sub-task 1 of 2013 gives positions without characters.
- Training: SGML, `<DOC>` with `<P>` in 2013, `<ESSAY>` with `<PASSAGE>`s later. A `<MISTAKE>` gives a
  position and the words around it, wrong and corrected.

Blanks around a passage are layout, not text. The released files contain about forty slips (broken bytes,
wrong positions, corrections of another length); a lenient read skips and lists them.
"""

import re
from collections.abc import Callable, Mapping
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
    """The content of a file by passage id, in file order, and the lines that were skipped."""

    skipped: tuple[BadLine, ...] = ()


class BakeoffTest(NamedTuple):
    """The passages of a test and the truth, by id; `pairs` is empty where the truth has positions only."""

    passages: dict[str, str]
    truth: dict[str, Answer]
    pairs: dict[str, Pair]


def read_test(path: str | Path, truth: str | Path | None = None) -> BakeoffTest:
    """Read a test input and its truth, or, without `truth`, training data in SGML, which has both.

    Bad lines, and passages without a usable answer, are skipped and logged: the released files have some.

    Raises:
        InputError: a file cannot be read, or nothing usable is left.
    """
    if truth is None:
        pairs = read_training(path, lenient=True)
        test = BakeoffTest(
            {name: pair.source for name, pair in pairs.items()},
            {name: answer(pair) for name, pair in pairs.items()},
            pairs,
        )
    else:
        passages = read_input(path, lenient=True)
        characters = _has_characters(truth)
        answers = read_answers(truth, characters=characters, lenient=True)
        pairs = pair_up(passages, answers, lenient=True) if characters else ById()
        names = [name for name in passages if name in (pairs if characters else answers)]
        test = BakeoffTest(
            {name: passages[name] for name in names}, {name: answers[name] for name in names}, pairs
        )
    if not test.passages:
        kind = "training data in SGML" if truth is None else f"test input that {truth} answers"
        hint = "; give --truth for a test input" if truth is None else ""
        raise InputError(f"{path} has no passage of {kind}{hint}.")
    return test


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
    """Read SGML training data of any of the three years: id to the passage as written and as corrected.

    A mistake that cannot be located makes its whole passage unusable, since its corrected side is unknown.

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
    """Apply answers to their passages.

    Raises:
        InputError: a passage has no answer, or a mistake beyond its end, unless `lenient`.
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
    """The changed characters of a pair, in the form of a bake-off's answer."""
    characters = enumerate(zip(pair.source, pair.target, strict=True), start=1)
    return tuple(Mistake(position, right) for position, (wrong, right) in characters if wrong != right)


def write_answers(path: str | Path, answers: Mapping[str, Answer]) -> None:
    """Write answers as the bake-offs' tools read them; without characters it is the form of sub-task 1.

    Raises:
        InputError: the format has no way to write an id or a character, or the file cannot be written.
    """
    write_lines(path, (_format_answer(name, mistakes) for name, mistakes in answers.items()))


def _read(path: str | Path, parse: Callable[[str], tuple[str, T]], lenient: bool) -> ById[T]:
    found: ById[T] = ById()
    skipped: list[BadLine] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            name, value = parse(decode(line))
            if name in found:
                raise ValueError(f"passage {name} is a duplicate")
            found[name] = value
        except ValueError as error:
            bad = BadLine(str(path), number, str(error))
            if not lenient:
                raise InputError(f"{bad}.") from None
            skipped.append(bad)
    found.skipped = tuple(skipped)
    report_skipped(skipped)
    return found


def _has_characters(truth: str | Path) -> bool:
    """Whether a truth gives corrections: no correction is ASCII, and ids and positions always are."""
    return any(not line.isascii() for line in read_lines(truth))


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
        raise ValueError(f"{field!r} is not a position; positions count from 1")
    return int(field)


def _format_answer(name: str, mistakes: Answer) -> str:
    for mistake in mistakes:
        if mistake.character.isspace() or mistake.character == ",":
            raise InputError(f"passage {name}: {mistake.character!r} cannot be written as a correction.")
    fields = [str(field) for mistake in mistakes for field in mistake if field != ""]
    return ", ".join([_id(name), *(fields or ["0"])])


def _id(name: str) -> str:
    if not re.fullmatch("[A-Za-z0-9._-]+", name):
        raise InputError(f"{name!r} is not an id; use letters, digits, dots and hyphens.")
    return name
