"""Code and mathematics in Markdown and LaTeX, found in time that grows linearly with the text."""

import re
from collections.abc import Iterator

from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

FENCE = lazy_pattern(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
BACKTICKS = lazy_pattern("`+")
BLANK_LINE = lazy_pattern(r"\n[ \t\r]*\n")
MATH_DELIMITER = lazy_pattern(r"\\[()\[\]]|\\.|\$\$?|\n[ \t\r]*\n", re.DOTALL)
MATH_CLOSER = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
LATEX_COMMAND = lazy_pattern(r"\\[A-Za-z]")
HAS_HANZI = lazy_pattern(f"[{HANZI}]")

Range = tuple[int, int]


def fences(text: str) -> list[Range]:
    """Fenced blocks, both fences included.

    A fence that is never closed is not a fence: ~~~ is also used as decoration.
    """
    if "```" not in text and "~~~" not in text:
        return []
    marks = list(FENCE.finditer(text))
    # The longest fence after each mark that could close a block: without one, no search is needed.
    longest_closer = [{"`": 0, "~": 0}]
    for mark in reversed(marks):
        longest = dict(longest_closer[-1])
        if not mark[2].strip():
            longest[mark[1][0]] = max(longest[mark[1][0]], len(mark[1]))
        longest_closer.append(longest)
    longest_closer.reverse()

    found: list[Range] = []
    number = 0
    while number < len(marks):
        opener = marks[number]
        sign, length = opener[1][0], len(opener[1])
        number += 1
        is_inline_code = sign == "`" and "`" in opener[2]
        if is_inline_code or longest_closer[number][sign] < length:
            continue
        while marks[number][1][0] != sign or len(marks[number][1]) < length or marks[number][2].strip():
            number += 1
        found.append((opener.start(), marks[number].end()))
        number += 1
    return found


def code_spans(text: str) -> list[Range]:
    """Code between two equally long runs of backticks inside one paragraph, the backticks included."""
    if "`" not in text:
        return []
    runs = list(BACKTICKS.finditer(text))
    next_alike: list[int | None] = [None] * len(runs)
    latest: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = len(runs[number][0])
        next_alike[number] = latest.get(length)
        latest[length] = number

    paragraph_ends = [match.start() for match in BLANK_LINE.finditer(text)]
    found: list[Range] = []
    number = paragraph = 0
    while number < len(runs):
        while paragraph < len(paragraph_ends) and paragraph_ends[paragraph] < runs[number].start():
            paragraph += 1
        paragraph_end = paragraph_ends[paragraph] if paragraph < len(paragraph_ends) else len(text)
        closer = next_alike[number]
        if closer is not None and runs[closer].start() < paragraph_end:
            found.append((runs[number].start(), runs[closer].end()))
            number = closer
        number += 1
    return found


def math(text: str) -> list[Range]:
    r"""LaTeX mathematics: $…$, $$…$$, \(…\) and \[…\] inside one paragraph, the delimiters included."""
    if "$" not in text and "\\" not in text:
        return []
    return list(_math(text))


def _math(text: str) -> Iterator[Range]:
    opener: re.Match[str] | None = None
    for mark in MATH_DELIMITER.finditer(text):
        sign = mark[0]
        if sign[0] == "\n":
            opener = None
        elif opener is not None and sign == MATH_CLOSER[opener[0]]:
            if sign != "$" or _is_inline_math(
                text[opener.end() : mark.start()], text[mark.end() : mark.end() + 1]
            ):
                yield opener.start(), mark.end()
                opener = None
            else:
                opener = mark
        elif sign in MATH_CLOSER and (opener is None or opener[0] == "$"):
            opener = mark


def _is_inline_math(content: str, following: str) -> bool:
    """Distinguish $x$ from prices: "从$5涨到$10" has prose between the signs and a number after them."""
    if not content or content[0].isspace() or content[-1].isspace() or following.isdigit():
        return False
    return not HAS_HANZI.search(content) or LATEX_COMMAND.search(content) is not None
