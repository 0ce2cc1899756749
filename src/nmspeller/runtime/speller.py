"""Speller: text in, edits out."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nmspeller.runtime.correction import Correction, Edit, Reason, apply_edits
from nmspeller.runtime.engine import Engine

SHIPPED = Path(__file__).parents[1] / "shipped"
_LIMIT = 190


class Speller:
    """INTERIM."""

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        level: str = "balanced",
        words: Iterable[str] | Path | None = None,
        replacements: Mapping[str, str] | Path | None = None,
        threads: int | None = None,
    ) -> None:
        from nmspeller.runtime._interim import Vocabulary, file_hash

        folder = Path(model or SHIPPED)
        self.vocabulary: Any = Vocabulary.from_file(folder / "vocab.txt")
        v = self.vocabulary
        self._engine = Engine(folder / "model.onnx", cls=v.cls, sep=v.sep, pad=v.pad, threads=threads)
        self._hanzi = v.is_hanzi()
        self.model_hash = file_hash(folder / "model.onnx")
        self._words = tuple(words) if words is not None and not isinstance(words, Path) else ()

    def check(self, text: str, *, level: str | None = None, words: Iterable[str] | None = None) -> Correction:
        return self.check_many([text], level=level, words=words)[0]

    def correct(self, text: str) -> str:
        return self.check(text).text

    def check_many(
        self, texts: Iterable[str], *, level: str | None = None, words: Iterable[str] | None = None
    ) -> list[Correction]:
        return [self._check(text, [*self._words, *(words or ())]) for text in texts]

    def _check(self, text: str, words: list[str]) -> Correction:
        from nmspeller.runtime._interim import WordMatcher, protected_spans, simplify, split

        if not text:
            return Correction("", "", ())
        simple = simplify(text)
        ids = self.vocabulary.encode(simple.text)
        windows = split(text, _LIMIT)
        allowed = self._hanzi[ids]
        for span in protected_spans(text, WordMatcher(words) if words else None):
            allowed[span.start : span.stop] = False
        starts = np.array([w.start for w in windows])
        stops = np.array([w.stop for w in windows])
        keep_starts = np.array([w.keep_start for w in windows])
        keep_stops = np.array([w.keep_stop for w in windows])
        edits = []
        for s in self._engine.scores(ids, starts, stops):
            top = s.best[:, :, 0]
            mask = (
                (s.where >= keep_starts[s.windows][:, None])
                & (s.where < keep_stops[s.windows][:, None])
                & allowed[s.where]
                & (top != ids[s.where])
                & self._hanzi[top]
                & (s.probabilities[:, :, 0] > 0.7)
            )
            for row, column in zip(*np.nonzero(mask), strict=True):
                at = int(s.where[row, column])
                characters = [self.vocabulary.tokens[i] for i in s.best[row, column] if i != ids[at]]
                targets = [simple.back(at, c) for c in characters if len(c) == 1]
                edits.append(
                    Edit(at, 1, text[at], targets[0], float(s.probabilities[row, column, 0]),
                         tuple(targets[1:]), Reason.CONTEXT)
                )
        edits.sort(key=lambda edit: edit.offset)
        return Correction(text, apply_edits(text, edits), tuple(edits))
