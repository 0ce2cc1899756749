"""What identifies a finding when the text around it has changed."""

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
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
    """Replace `source` by `target` in a context, of which only a hash is kept."""

    source: str
    target: str
    context: str


def fingerprint(text: str, start: int, stop: int, target: str, edits: Sequence[Edit]) -> Fingerprint:
    """Of the finding that replaces text[start:stop]; `edits` are all edits of the text, in order.

    The context is the corrected one, without white space, so that correcting a finding nearby, or wrapping
    the text again, makes no difference.
    """
    before = _corrected(text, max(start - _REACH, 0), start, edits)
    after = _corrected(text, stop, min(stop + _REACH, len(text)), edits)
    # A hanzi stands for the finding, so that a line break beside it is one of a wrapped sentence as well.
    before = _END.split(_WRAPPED.sub("", f"{before}〇"))[-1][:-1]
    after = _END.split(_WRAPPED.sub("", f"〇{after}"))[0][1:]
    context = f"{''.join(before.split())[-_CONTEXT:]}|{''.join(after.split())[:_CONTEXT]}"
    return Fingerprint(text[start:stop], target, hashlib.sha256(context.encode()).hexdigest()[:12])


def _corrected(text: str, start: int, stop: int, edits: Sequence[Edit]) -> str:
    first = bisect_left(edits, start, key=lambda edit: edit.offset)
    last = bisect_left(edits, stop, key=lambda edit: edit.offset)
    inside = [
        replace(edit, offset=edit.offset - start)
        for edit in edits[first:last]
        if edit.offset + edit.length <= stop
    ]
    return apply_edits(text[start:stop], inside)
