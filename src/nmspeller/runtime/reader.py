"""An opened model folder: reads texts and says what it would replace in them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.runtime.device import Device, glance_files, open_engine, weight_files
from nmspeller.runtime.dictionary import Replacements
from nmspeller.runtime.engine import Floats, Ids
from nmspeller.runtime.explain import is_explained
from nmspeller.runtime.findings import Finder, Findings
from nmspeller.runtime.glance import Doubts, Glance
from nmspeller.runtime.passage import Passage, Prepared, prepare
from nmspeller.runtime.policy import Policy, Thresholds
from nmspeller.text.protect import WordMatcher
from nmspeller.text.script import Script
from nmspeller.text.vocabulary import Vocabulary

SHIPPED = Path(__file__).parents[1] / "shipped"
"""The model that comes with the package."""


class Reader:
    """The files of a model folder, loaded: the model itself, `vocab.txt` and `policy.json`; if `quick`, its
    glance and that one's doubts too.

    Attributes:
        policy: what `policy.json` says, and what the doubts add to it.
        vocabulary: what `vocab.txt` says.

    Raises:
        InputError: a file is missing, damaged or of another model.
    """

    def __init__(
        self, folder: Path, *, threads: int | None = None, device: Device = Device.CPU, quick: bool = False
    ) -> None:
        weight_files(folder, device)
        self.policy = Policy.read(folder / "policy.json")
        self.vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        engine = open_engine(folder, self.vocabulary, device, threads=threads)
        if self.policy.window > engine.longest:
            raise InputError(
                f"{folder}/policy.json asks for windows of more than {engine.longest} characters."
            )
        self._glance = self._open_glance(*glance_files(folder, device), threads) if quick else None
        self._finder = Finder(engine, self.vocabulary.is_hanzi(), self.explains, self._glance)

    def _open_glance(self, path: Path, doubts: Path, threads: int | None) -> Glance:
        glance = Glance(path, self.vocabulary, threads=threads)
        if self.policy.window > glance.longest:
            raise InputError(
                f"{path} reads no more than {glance.longest} characters at once, and policy.json beside it "
                f"asks for windows of {self.policy.window}; write it again with `{glance.command}`."
            )
        least = Doubts.read(doubts).levels
        levels = {
            level: replace(thresholds, glance=least[level])
            for level, thresholds in self.policy.levels.items()
        }
        self.policy = replace(self.policy, levels=levels)
        return glance

    def read(
        self,
        texts: Iterable[str],
        thresholds: Thresholds,
        passes: int,
        matchers: Sequence[WordMatcher] = (),
        replacements: Replacements | None = None,
        around: Script = Script.NEUTRAL,
    ) -> Iterator[tuple[Passage, Findings]]:
        """The texts, in order and a few at a time, each time with what was found in them.

        around: the script of the document that they are parts of.
        """
        for passage in self._passages(texts, matchers, replacements or Replacements({}), around):
            found = self._finder.find(passage.ids, passage.allowed, passage.windows, thresholds, passes)
            yield passage, found

    def glance_over(self, texts: Iterable[str]) -> Iterator[tuple[Passage, Floats]]:
        """The same, each time with how doubtful the glance finds the passage's windows: (windows,)."""
        assert self._glance is not None, "only a quick reader has a glance"
        for passage in self._passages(texts, (), Replacements({}), Script.NEUTRAL):
            allowed = passage.allowed & self._finder.replaceable[passage.ids]
            yield passage, self._glance.suspicion(passage.ids, allowed, passage.windows)

    def _passages(
        self,
        texts: Iterable[str],
        matchers: Sequence[WordMatcher],
        replacements: Replacements,
        around: Script,
    ) -> Iterator[Passage]:
        # So many characters at a time that memory does not grow with the number of texts.
        enough = self._finder.engine.passage
        prepared: list[Prepared] = []
        size = 0
        for text in texts:
            if not isinstance(text, str):
                raise InputError(f"a text must be a string, not {type(text).__name__}.")
            prepared.append(prepare(text, matchers, replacements, self.policy.window, around))
            size += len(text)
            if size >= enough:
                yield Passage(prepared, self.vocabulary)
                prepared, size = [], 0
        if prepared:
            yield Passage(prepared, self.vocabulary)

    def explains(self, originals: Ids, targets: Ids) -> NDArray[np.bool_]:
        """Whether ear or eye explains each of the pairs, (pairs,) each."""
        tokens = self.vocabulary.tokens
        pairs = zip(originals.tolist(), targets.tolist(), strict=True)
        return np.array([is_explained(tokens[original], tokens[target]) for original, target in pairs], bool)
