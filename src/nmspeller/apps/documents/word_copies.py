"""Text that a Word document has twice: a text box is written for today's programs, and again for old ones.

Readers see one of them, so only the first is checked. What is changed in it is changed in the copy as well.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nmspeller.apps.documents.office import joined
from nmspeller.apps.documents.word_text import WordText
from nmspeller.apps.documents.xml_events import events

_NAMESPACE = "http://schemas.openxmlformats.org/markup-compatibility/2006"
ALTERNATIVES = f"{_NAMESPACE}}}AlternateContent"
BRANCHES = (f"{_NAMESPACE}}}Choice", f"{_NAMESPACE}}}Fallback")


class Repetition(NamedTuple):
    """What was found in one branch, and the texts of an earlier one that say the same."""

    originals: Sequence[WordText]
    found: Sequence[WordText | str]


Copies = Mapping[int, Sequence[int]]
"""By the index of a span, how many characters further on its text is once more."""


def without_repetitions(
    found: Iterable[WordText | str], xml: bytes
) -> tuple[list[WordText | str], list[Repetition]]:
    """What was found in a member, and apart from it what repeats some of it word by word.

    Branches that differ are all kept: nobody knows which of them is meant.
    """
    items = list(found)
    places = [place for place, one in enumerate(items) if isinstance(one, WordText)]
    bytes_of = [one.start for one in items if isinstance(one, WordText)]
    repetitions: list[Repetition] = []
    apart: set[int] = set()
    for branches in _alternatives(xml):
        read: dict[str, list[WordText]] = {}
        for start, stop in branches:
            texts = places[bisect_left(bytes_of, start) : bisect_left(bytes_of, stop)]
            kept = [place for place in texts if place not in apart]
            if not kept:
                continue
            whole = [place for place in range(kept[0], kept[-1] + 1) if place not in apart]
            in_branch = [items[place] for place in whole]
            text, spans, _starts = joined(in_branch)
            if text in read:
                repetitions.append(Repetition(read[text], in_branch))
                apart.update(whole)
            else:
                read[text] = spans
    return [one for place, one in enumerate(items) if place not in apart], repetitions


def placed_beyond(
    text: str, spans: list[WordText], starts: list[int], repetitions: Iterable[Repetition]
) -> Copies:
    """Add the spans of the repetitions behind the end of the text, where no finding is, each set apart."""
    end = len(text) + 1
    first_spans = []
    for repetition in repetitions:
        content, own_spans, own_starts = joined(repetition.found)
        first_spans.append((repetition.originals, len(spans)))
        spans += own_spans
        starts += (end + start for start in own_starts)
        end += len(content) + 1
        for span in own_spans:
            span.run.takes_comments = False  # one comment, on the original, is enough
    index = {span: number for number, span in enumerate(spans)}
    copies: dict[int, list[int]] = defaultdict(list)
    for originals, first in first_spans:
        shift = starts[first] - starts[index[originals[0]]]
        for span in originals:
            copies[index[span]].append(shift)
    return copies


def _alternatives(xml: bytes) -> Iterator[list[tuple[int, int]]]:
    """Where the branches of each choice are in the bytes, inner choices first."""
    if b"AlternateContent" not in xml:
        return
    open_choices: list[list[tuple[int, int]]] = []
    open_branches: list[int] = []
    for event in events(xml):
        if event.name == ALTERNATIVES:
            if event.kind == "start":
                open_choices.append([])
            else:
                yield open_choices.pop()
        elif event.name in BRANCHES and open_choices:
            if event.kind == "start":
                open_branches.append(event.start)
            else:
                open_choices[-1].append((open_branches.pop(), event.stop))
