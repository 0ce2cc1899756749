"""What identifies a finding when the text around it has changed."""

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from nmspeller.apps.documents.markup import BREAK
from nmspeller.runtime.correction import apply_edits
from nmspeller.runtime.findings import Edit
from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

_CONTEXT = 12  # characters on each side, less at the end of the sentence or the line
_REACH = 2 * _CONTEXT  # characters to take them from, some of which may be white space
_END = lazy_pattern("[。！？!?…\n\r]")
_WRAPPED = lazy_pattern(rf"(?<=[{HANZI}，、；：])[ \t]*{BREAK}[ \t]*(?=[{HANZI}])")


class Fingerprint(NamedTuple):
    """Replace `source` by `target` in a context, of which only a hash is kept.

    The `target` of a hint is its rule. `corrected` is the hash of the context with the findings in it
    corrected, empty if there are none.
    """

    source: str
    target: str
    context: str
    corrected: str = ""

    @property
    def keys(self) -> set[tuple[str, str, str]]:
        """Two fingerprints with one of these in common are of the same finding."""
        return {
            (self.source, self.target, context) for context in (self.context, self.corrected or self.context)
        }


class Known:
    """Fingerprints that findings are compared with."""

    def __init__(self, marks: Iterable[Fingerprint]) -> None:
        self._with_key: defaultdict[tuple[str, str, str], list[Fingerprint]] = defaultdict(list)
        for mark in marks:
            for key in mark.keys:
                self._with_key[key].append(mark)

    def same(self, mark: Fingerprint) -> Iterator[Fingerprint]:
        """Those of the same finding, the one that is equal first."""
        found = {one for key in mark.keys for one in self._with_key.get(key, ())}
        return iter(sorted(found, key=lambda one: (one != mark, one)))


def fingerprint(text: str, start: int, stop: int, target: str, edits: Sequence[Edit]) -> Fingerprint:
    """Of the finding that replaces text[start:stop]; `edits` are all edits of the text, in order.

    The context as it is stays the same when other rules or words bring more findings or fewer, the corrected
    one when a finding nearby is corrected. Neither has white space, which changes when the text is wrapped.
    """
    first, last = max(start - _REACH, 0), min(stop + _REACH, len(text))
    context = _hash(text[first:start], text[stop:last])
    corrected = _hash(_corrected(text, first, start, edits), _corrected(text, stop, last, edits))
    return Fingerprint(text[start:stop], target, context, "" if corrected == context else corrected)


def _hash(before: str, after: str) -> str:
    # A hanzi stands for the finding, so that a line break beside it is one of a wrapped sentence as well.
    before = _END.split(_WRAPPED.sub("", f"{before}〇"))[-1][:-1]
    after = _END.split(_WRAPPED.sub("", f"〇{after}"))[0][1:]
    context = f"{''.join(before.split())[-_CONTEXT:]}|{''.join(after.split())[:_CONTEXT]}"
    return hashlib.sha256(context.encode()).hexdigest()[:12]


def _corrected(text: str, start: int, stop: int, edits: Sequence[Edit]) -> str:
    first = bisect_left(edits, start, key=lambda edit: edit.offset)
    last = bisect_left(edits, stop, key=lambda edit: edit.offset)
    inside = [
        replace(edit, offset=edit.offset - start)
        for edit in edits[first:last]
        if edit.offset + edit.length <= stop
    ]
    return apply_edits(text[start:stop], inside)
