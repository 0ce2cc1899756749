"""The pipeline of a model folder: texts in, detections out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.decoder import Decoder, Detections
from nmspeller.runtime.device import Device, open_engine, prefilter_files, weight_files
from nmspeller.runtime.dictionary import Replacements
from nmspeller.runtime.engine import Floats, Ids
from nmspeller.runtime.explain import is_explained
from nmspeller.runtime.policy import Policy, Thresholds
from nmspeller.runtime.prefilter import Prefilter, PrefilterThresholds
from nmspeller.runtime.text_batch import PreparedText, TextBatch, prepare
from nmspeller.runtime.verified import verify
from nmspeller.text.protect import WordMatcher
from nmspeller.text.script import Script
from nmspeller.text.vocabulary import Vocabulary

SHIPPED = Path(__file__).parents[1] / "shipped"
"""The model that comes with the package."""


class Pipeline:
    """A model folder, loaded: the model itself, `vocab.txt`, `policy.json` and, if asked for, the prefilter.

    Attributes:
        policy: of `policy.json`, with the prefilter's thresholds.
        vocabulary: of `vocab.txt`.

    Raises:
        InputError: a file is missing, damaged or of another model.
    """

    def __init__(
        self,
        folder: Path,
        *,
        threads: int | None = None,
        device: Device = Device.CPU,
        prefilter: bool = False,
    ) -> None:
        weights = weight_files(folder, device)
        self.policy = Policy.read(folder / "policy.json")
        verify(weights, self.policy.sha256)
        self.vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        engine = open_engine(folder, self.vocabulary, device, threads=threads)
        if self.policy.window > engine.longest:
            raise InputError(
                _("{folder}/policy.json asks for windows of more than {number} characters.").format(
                    folder=folder, number=engine.longest
                )
            )
        self._prefilter = (
            self._open_prefilter(*prefilter_files(folder, device), threads) if prefilter else None
        )
        self._decoder = Decoder(
            engine, self.vocabulary.is_hanzi(), self.vocabulary.unk, self.explains, self._prefilter
        )

    def _open_prefilter(self, path: Path, thresholds: Path, threads: int | None) -> Prefilter:
        prefilter = Prefilter(path, self.vocabulary, threads=threads)
        if self.policy.window > prefilter.longest:
            raise InputError(
                _(
                    "{path} reads at most {longest} characters at once, and policy.json beside it "
                    "asks for windows of {window}; write it again with `{command}`."
                ).format(
                    path=path,
                    longest=prefilter.longest,
                    window=self.policy.window,
                    command=prefilter.command,
                )
            )
        least = PrefilterThresholds.read(thresholds).levels
        levels = {
            level: replace(thresholds, prefilter=least[level])
            for level, thresholds in self.policy.levels.items()
        }
        self.policy = replace(self.policy, levels=levels)
        return prefilter

    def read(
        self,
        texts: Iterable[str],
        thresholds: Thresholds,
        passes: int,
        matchers: Sequence[WordMatcher] = (),
        replacements: Replacements | None = None,
        document_script: Script = Script.NEUTRAL,
    ) -> Iterator[tuple[TextBatch, Detections]]:
        """The texts, in order and in batches, each with its detections.

        document_script: the script of the document that they are parts of.
        """
        for text_batch in self._text_batches(
            texts, matchers, replacements or Replacements({}), document_script
        ):
            found = self._decoder.find(
                text_batch.ids,
                text_batch.allowed,
                text_batch.windows,
                thresholds,
                passes,
                text_batch.sentences,
            )
            yield text_batch, found

    def prefilter_scores(self, texts: Iterable[str]) -> Iterator[tuple[TextBatch, Floats]]:
        """The texts in batches, each with the error scores of its characters: (characters,)."""
        assert self._prefilter is not None, "opened without a prefilter"
        for text_batch in self._text_batches(texts, (), Replacements({}), Script.NEUTRAL):
            allowed = text_batch.allowed & self._decoder.replaceable[text_batch.ids]
            yield text_batch, self._prefilter.error_scores(text_batch.ids, allowed, text_batch.windows)

    def _text_batches(
        self,
        texts: Iterable[str],
        matchers: Sequence[WordMatcher],
        replacements: Replacements,
        document_script: Script,
    ) -> Iterator[TextBatch]:
        # Memory must not grow with the number of texts.
        enough = self._decoder.engine.characters_per_batch
        prepared: list[PreparedText] = []
        size = 0
        for text in texts:
            if not isinstance(text, str):
                raise InputError(_("a text must be a string, not {kind}.").format(kind=type(text).__name__))
            prepared.append(prepare(text, matchers, replacements, self.policy.window, document_script))
            size += len(text)
            if size >= enough:
                yield TextBatch(prepared, self.vocabulary)
                prepared, size = [], 0
        if prepared:
            yield TextBatch(prepared, self.vocabulary)

    def explains(self, originals: Ids, targets: Ids) -> NDArray[np.bool_]:
        """Whether similar sound or shape explains each of the pairs, (pairs,) each."""
        tokens = self.vocabulary.tokens
        pairs = zip(originals.tolist(), targets.tolist(), strict=True)
        return np.array([is_explained(tokens[original], tokens[target]) for original, target in pairs], bool)
