"""An opened model folder: reads texts and says what it would replace in them."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.runtime.device import Device, glance_file, open_engine, weight_files
from nmspeller.runtime.dictionary import Replacements
from nmspeller.runtime.engine import Floats, Ids
from nmspeller.runtime.explain import is_explained
from nmspeller.runtime.findings import Finder, Findings
from nmspeller.runtime.glance import FILE as GLANCE
from nmspeller.runtime.glance import Glance
from nmspeller.runtime.passage import Passage, Prepared, prepare
from nmspeller.runtime.policy import Policy, Thresholds
from nmspeller.text.protect import WordMatcher
from nmspeller.text.script import Script
from nmspeller.text.vocabulary import Vocabulary

SHIPPED = Path(__file__).parents[1] / "shipped"
"""The model that comes with the package."""


class Reader:
    """The files of a model folder, loaded: the model itself, `vocab.txt`, `policy.json` and its glance.

    Attributes:
        policy: what `policy.json` says.
        vocabulary: what `vocab.txt` says.
        glance: what tells which windows to read; None where the folder has none or its use saves no time.

    Raises:
        InputError: a file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path, *, threads: int | None = None, device: Device = Device.CPU) -> None:
        weight_files(folder, device)
        self._folder = folder
        self.policy = Policy.read(folder / "policy.json")
        self.vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        engine = open_engine(folder, self.vocabulary, device, threads=threads)
        if self.policy.window > engine.longest:
            raise InputError(
                f"{folder}/policy.json asks for windows of more than {engine.longest} characters."
            )
        glance = glance_file(folder, device)
        self.glance = Glance(glance, self.vocabulary, threads=threads) if glance else None
        if self.glance and self.policy.window > self.glance.longest:
            raise InputError(
                f"{folder}/policy.json asks for windows of more than {self.glance.longest} characters, "
                f"and {glance} reads no more; write it again with `{self.glance.command}`."
            )
        self._finder = Finder(engine, self.vocabulary.is_hanzi(), self.explains, self.glance)

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
        """The same, each time with how doubtful the glance finds the passage's windows: (windows,).

        Raises:
            InputError: there is no glance.
        """
        if self.glance is None:
            raise InputError(f"{self._folder} holds no {GLANCE}; write it with `{Glance.command}`.")
        for passage in self._passages(texts, (), Replacements({}), Script.NEUTRAL):
            allowed = passage.allowed & self._finder.replaceable[passage.ids]
            yield passage, self.glance.suspicion(passage.ids, allowed, passage.windows)

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
