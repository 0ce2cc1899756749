"""Parts prepared for the engine: many parts as one flat array of ids, with what may change."""

from collections.abc import Sequence

import numpy as np

from nmspeller.runtime.decoder import Positions, Windows
from nmspeller.runtime.reading import Part
from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.surnames import given_names
from nmspeller.text.vocabulary import Vocabulary


class PartBatch:
    """Several parts, concatenated.

    `ids` (characters,); `allowed` (characters,), whether a character may change; `in_names` (characters,),
    whether it may be of a given name; `offsets` (parts + 1,), the start of each part; `windows`, one for each
    part that is not empty.
    """

    def __init__(self, parts: Sequence[Part], vocabulary: Vocabulary) -> None:
        self.parts = parts
        whole = "".join(part.text for part in parts)
        self.ids = vocabulary.encode(whole)
        lengths = [len(part.text) for part in parts]
        self.offsets: Positions = np.concatenate(([0], np.cumsum(lengths, dtype=np.intp)))
        self.allowed = np.ones(len(self.ids), np.bool_)
        for place in np.flatnonzero(self.ids == vocabulary.unk):
            self.allowed[place] = is_hanzi(whole[place])
        self.in_names = np.zeros(len(self.ids), np.bool_)
        for offset, part in zip(self.offsets.tolist(), parts, strict=False):
            for start, stop in part.locked:
                self.allowed[offset + start : offset + stop] = False
            for start, stop in given_names(part.text):
                self.in_names[offset + start : offset + stop] = True
        kept = np.array([part[1:3] for part in parts], np.intp).reshape(-1, 2) + self.offsets[:-1, None]
        windows = Windows(self.offsets[:-1], self.offsets[1:], *kept.T)
        self.windows = windows.subset(windows.starts < windows.stops)
