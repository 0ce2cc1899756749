"""Texts prepared for the engine: many texts as one flat array of ids, with windows and protection."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmspeller.runtime.correction import Edit, Reason
from nmspeller.runtime.decoder import Positions, Sentences, Windows
from nmspeller.runtime.dictionary import Replacements
from nmspeller.text.protect import Span, WordMatcher, protected_spans
from nmspeller.text.script import Script, Simplified, fold, simplify
from nmspeller.text.vocabulary import Vocabulary, code_points, is_hanzi
from nmspeller.text.windows import Window, sentences, split

# A user may replace iphone by iPhone, but nothing in code and addresses.
_REPLACEABLE_KINDS = frozenset(("latin", "number"))

_BLANKS = np.array([ord(c) for c in "\t\n\v\f\r \x85\xa0\u2028\u2029\u3000\ufeff"], np.uint32)


@dataclass(frozen=True)
class PreparedText:
    """One text: its Simplified form, its windows, its protected spans, and the user's replacements."""

    simplified: Simplified
    windows: list[Window]
    protected: list[Span]
    replacements: list[Edit]


def prepare(
    text: str,
    matchers: Sequence[WordMatcher],
    replacements: Replacements,
    window: int,
    document_script: Script = Script.NEUTRAL,
) -> PreparedText:
    """Prepare one text in windows of at most `window` characters; see `simplify` for the script."""
    simplified = simplify(text, document_script)
    protected = protected_spans(text)
    for matcher in matchers:
        protected += matcher.spans(text)
        if simplified.converted:
            # A Simplified word of the list also protects its Traditional form.
            protected += matcher.folded.spans(fold(simplified.text))
    unreplaceable = ((start, stop) for start, stop, kind in protected if kind not in _REPLACEABLE_KINDS)
    edits: list[Edit] = []
    for start, stop, target in replacements.find(text, unreplaceable):
        source = text[start:stop]
        if source == target:
            # Users exempt 登陆艇 from 登录 for 登陆 by replacing it with itself.
            protected.append(Span(start, stop, "word"))
        else:
            edits.append(Edit(start, stop - start, source, target, 1.0, (), Reason.USER_WORD))
    return PreparedText(simplified, split(simplified.text, window), protected, edits)


class TextBatch:
    """Several texts, concatenated.

    `ids` (characters,); `allowed` (characters,), whether a character may change; `offsets` (texts + 1,), the
    start of each text; `windows` and `sentences` over all of them.
    """

    def __init__(self, texts: Sequence[PreparedText], vocabulary: Vocabulary) -> None:
        self.texts = texts
        whole = "".join(text.simplified.text for text in texts)
        self.ids = vocabulary.encode(whole)
        lengths = [len(text.simplified.text) for text in texts]
        self.offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.intp)))
        self.allowed = np.ones(len(self.ids), np.bool_)
        for place in np.flatnonzero(self.ids == vocabulary.unk):
            self.allowed[place] = is_hanzi(whole[place])
        for offset, text in zip(self.offsets.tolist(), texts, strict=False):
            for start, stop, _ in text.protected:
                self.allowed[offset + start : offset + stop] = False
            for edit in text.replacements:
                self.allowed[offset + edit.offset : offset + edit.offset + edit.length] = False
        counts = [len(text.windows) for text in texts]
        bounds = np.array([window for text in texts for window in text.windows], np.intp).reshape(-1, 4)
        bounds += np.repeat(self.offsets[:-1], counts)[:, None]
        # White space around a window or a sentence is rare in training data.
        visible = np.flatnonzero(~np.isin(code_points(whole), _BLANKS))
        windows = Windows(*bounds.T)
        starts, stops, not_blank = _without_outer_blanks(windows.starts, windows.stops, visible)
        self.windows = windows.subset(not_blank)._replace(starts=starts, stops=stops)
        spans = [
            (offset + start, offset + stop)
            for offset, text in zip(self.offsets.tolist(), texts, strict=False)
            for start, stop in sentences(text.simplified.text)
        ]
        starts, stops = np.array(spans, np.intp).reshape(-1, 2).T
        starts, stops, _ = _without_outer_blanks(starts, stops, visible)
        self.sentences = Sentences(starts, stops)


def _without_outer_blanks(
    starts: Positions, stops: Positions, visible: Positions
) -> tuple[Positions, Positions, NDArray[np.bool_]]:
    """The spans without leading and trailing white space, and which of them have anything else.

    visible: (characters,), the positions of everything that is not white space.
    """
    first, last = np.searchsorted(visible, starts), np.searchsorted(visible, stops)
    not_blank = first < last
    return visible[first[not_blank]], visible[last[not_blank] - 1] + 1, not_blank
