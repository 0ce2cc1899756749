"""A speller that needs no model: it knows a few errors by heart, and can be made slow or to fail."""

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Edit, Reason

ERRORS = {
    "己": ("已", Reason.SIMILAR_SHAPE),
    "在": ("再", Reason.SAME_SOUND),
    "的": ("得", Reason.DE),
}


class StandIn:
    """Corrects every character of ERRORS outside the user's words.

    Where $STAND_IN_FOLDER is set, a worker leaves a file there that is named by its process whenever it is
    given a batch, so that a test knows whom to kill; a text takes as many seconds as the file `seconds` says.
    """

    model_hash = "stand-in"
    window = 126

    def __init__(
        self,
        model=None,
        *,
        level="balanced",
        words=None,
        replacements=None,
        threads=None,
        device="cpu",
        prefilter=False,
        rules=(),
    ) -> None:
        if model is not None:
            self.model_hash = f"stand-in {model}"
        self._words = tuple(words or ())
        self._folder = Path(os.environ["STAND_IN_FOLDER"]) if "STAND_IN_FOLDER" in os.environ else None
        self._seconds = 0.0

    def check(self, text: str) -> Correction:
        if "爆" in text:
            raise ValueError("this text cannot be checked")
        if "亡" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self._seconds)
        kept = {
            at
            for word in self._words
            for start in range(len(text))
            if text.startswith(word, start)
            for at in range(start, start + len(word))
        }
        edits = tuple(
            Edit(
                at, 1, character, ERRORS[character][0], 0.98765432, ("以",), ERRORS[character][1], 0.87654321
            )
            for at, character in enumerate(text)
            if character in ERRORS and at not in kept
        )
        return Correction(text, apply_edits(text, edits), edits)

    def check_many(self, texts: Iterable[str]) -> list[Correction]:
        if self._folder:
            self._seconds = float((self._folder / "seconds").read_text())
            (self._folder / str(os.getpid())).touch()
        return [self.check(text) for text in texts]
