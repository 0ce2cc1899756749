"""The SGML of the bake-offs' training sets, read with the standard library's tolerant parser."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from nmspeller.lab.data.pairs import BadLine, read_lines


class Marked(NamedTuple):
    """One `<MISTAKE>`: a position from 1 and the words that cover it, wrong and corrected."""

    line: int
    passage: str
    position: str
    wrong: str
    corrected: str


@dataclass
class MarkedPassage:
    """A passage, and its text with the mistakes applied so far."""

    line: int
    id: str
    text: str
    corrected: str = field(init=False)

    def __post_init__(self) -> None:
        self.corrected = self.text

    def correct(self, mistake: Marked) -> None:
        """Apply one correction; ValueError where its place is wrong or ambiguous."""
        start = self._place(mistake)
        stop = start + len(mistake.wrong)
        # An earlier mistake may overlap these words: only the characters that this one changes are touched.
        now = self.corrected[start:stop]
        changed = zip(now, mistake.wrong, mistake.corrected, strict=True)
        words = "".join(right if right != wrong else present for present, wrong, right in changed)
        self.corrected = self.corrected[:start] + words + self.corrected[stop:]

    def _place(self, mistake: Marked) -> int:
        wrong, corrected = mistake.wrong, mistake.corrected
        if not mistake.position.isdecimal():
            raise ValueError(f"{mistake.position!r} is not a position")
        if not wrong or len(wrong) != len(corrected):
            raise ValueError(
                f"the wrong words have {len(wrong)} characters and the corrected {len(corrected)}"
            )
        position = int(mistake.position) - 1
        covering = [
            position - offset
            for offset in range(len(wrong))
            if position >= offset and self.text.startswith(wrong, position - offset)
        ]
        # The position should be a character that changes; a few point at its neighbour within the words.
        exact = [start for start in covering if wrong[position - start] != corrected[position - start]]
        for starts in (exact, covering):
            if len(starts) == 1:
                return starts[0]
        raise ValueError(f"the wrong words were not found at position {mistake.position}")


def read_passages_with_mistakes(path: str | Path) -> Iterator[MarkedPassage | BadLine]:
    """A BadLine for each slip of a training file, then its passages in order, without those with slips.

    Raises:
        InputError: the file cannot be read.
    """
    parser = _Parser()
    # An undecodable byte becomes a lone surrogate, which marks its passage as broken.
    parser.feed("\n".join(line.decode("utf-8", "surrogateescape") for line in read_lines(path)))
    parser.close()

    passages: dict[str, MarkedPassage] = {}
    bad: dict[str, None] = {}
    slips: list[BadLine] = []

    def reject(line: int, name: str, reason: str) -> None:
        slips.append(BadLine(str(path), line, f"passage {name}: {reason}"))
        bad[name] = None

    for passage in parser.passages:
        if passage.id in passages:
            reject(passage.line, passage.id, "it is a duplicate")
        elif not passage.text:
            reject(passage.line, passage.id, "it is empty")
        elif _is_broken(passage.text):
            reject(passage.line, passage.id, "a byte is not UTF-8")
        passages.setdefault(passage.id, passage)
    for mistake in parser.mistakes:
        if mistake.passage not in passages:
            reject(mistake.line, mistake.passage, "a mistake refers to it, but it is not there")
            continue
        try:
            if _is_broken(mistake.wrong + mistake.corrected):
                raise ValueError("a byte is not UTF-8")
            passages[mistake.passage].correct(mistake)
        except ValueError as error:
            reject(mistake.line, mistake.passage, str(error))
    yield from slips
    yield from (passage for name, passage in passages.items() if name not in bad)


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


class _Parser(HTMLParser):
    """Collects passages and mistakes, with the tags of 2013 (DOC, P, wrong_position) and of later years."""

    def __init__(self) -> None:
        super().__init__()
        self.passages: list[MarkedPassage] = []
        self.mistakes: list[Marked] = []
        self._tag = ""
        self._name = ""
        self._line = 0
        self._position = "0"
        self._words: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._tag = tag
        if tag in ("doc", "passage", "mistake"):
            self._name = given.get("id") or given.get("nid") or self._name
            self._line = self.getpos()[0]
            self._words = {}
        if tag == "mistake":
            self._position = given.get("location", given.get("wrong_position", ""))

    def handle_data(self, data: str) -> None:
        self._words[self._tag] = self._words.get(self._tag, "") + data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "passage"):
            self.passages.append(MarkedPassage(self._line, self._name, self._words.get(tag, "").strip()))
        # SIGHAN 2013 marks a clean passage by a mistake at position 0.
        if tag == "mistake" and self._position != "0":
            wrong = self._words.get("wrong", "")
            corrected = self._words.get("correction", self._words.get("correct", ""))
            self.mistakes.append(Marked(self._line, self._name, self._position, wrong, corrected))
        self._tag = ""
