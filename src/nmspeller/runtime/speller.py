"""Speller: text in, edits out."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nmspeller.runtime.checker import open_checker
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.device import Device
from nmspeller.runtime.dictionary import PairsOrFiles, Words
from nmspeller.runtime.policy import Level
from nmspeller.runtime.rule_matches import DEFAULT_RULES, Chosen


class Speller:
    """Finds and corrects wrongly written characters in Chinese text.

    A speller may be used from several threads, and may be pickled: the copy loads the model again from the
    same arguments.

        >>> from nmspeller import Speller
        >>> speller = Speller()
        >>> speller.correct("我门去外国可以认识很多的人。")
        '我们去外国可以认识很多的人。'

    Args:
        model: a folder written by `nmspeller lab export`, or a checkpoint with a `policy.json`, which needs
            PyTorch; the shipped model by default.
        level: how confident an edit must be: "careful", "balanced" or "thorough".
        words: words that are never edited: a list, or a file with one word per line, which is reloaded when
            it changes. A list may have such files in it, as Paths.
        replacements: texts that are always replaced: a mapping, or a file with one `wrong<TAB>right` per
            line, which is reloaded when it changes. A list may have several of both.
        threads: how many cores to use; all by default.
        device: "cpu" or "cuda". A GPU needs PyTorch and onnx, and pays off for many texts per call.
        prefilter: let a very small model score every window of two or three sentences first, so that the
            model reads only those that may contain an error. Mostly correct text takes less time; a few of
            the edits are missed.
        rules: the rules beside the model, by their ids and groups (see `nmspeller.runtime.rules.RULES`); by
            default those of the group "spelling". True adds the group "typography", False means none. The
            model reads the text as the rules leave it. Suspicious text that a rule cannot correct is in
            `Correction.hints`.

    Attributes:
        checker: the `nmspeller.runtime.checker.Checker` behind it, for programs that check part by part, to
            show results early or to place them in documents, as `nmspeller.check_file` does.

    Raises:
        InputError: the model or a file cannot be used; the message says why.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        level: Level | str = "balanced",
        words: Words | None = None,
        replacements: PairsOrFiles | None = None,
        threads: int | None = None,
        device: Device | str = "cpu",
        prefilter: bool = False,
        rules: Chosen = DEFAULT_RULES,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "model": model,
            "level": level,
            "words": _kept(words),
            "replacements": _kept(replacements),
            "threads": threads,
            "device": device,
            "prefilter": prefilter,
            "rules": _kept(rules),
        }
        self.checker = open_checker(**self._arguments)

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, arguments: dict[str, Any]) -> None:
        self.__init__(**arguments)  # type: ignore[misc]

    @property
    def model_hash(self) -> str:
        """Identifies the model and all else that decides what it changes."""
        return self.checker.model_hash

    def check(
        self,
        text: str,
        *,
        level: Level | str | None = None,
        words: Words | None = None,
        replacements: PairsOrFiles | None = None,
        rules: Chosen | None = None,
    ) -> Correction:
        """Check a text.

        Args:
            text: any text, of any length.
            level: the speller's own level by default.
            words: further words that are never edited, of the same kinds as the speller's.
            replacements: further texts that are always replaced, of the same kinds as the speller's, which
                they go before.
            rules: the speller's own rules by default.

        Raises:
            InputError: an argument or a file cannot be used; the message says why.
        """
        return self.check_many([text], level=level, words=words, replacements=replacements, rules=rules)[0]

    def check_many(
        self,
        texts: Iterable[str],
        *,
        level: Level | str | None = None,
        words: Words | None = None,
        replacements: PairsOrFiles | None = None,
        rules: Chosen | None = None,
    ) -> list[Correction]:
        """Check many texts as `check` does: the same results as one by one, and faster."""
        return self.checker.check_many(
            texts, level=level, words=words, replacements=replacements, rules=rules
        )

    def correct(self, text: str) -> str:
        """The text with every proposed edit applied."""
        return self.check(text).text


def _kept(given: Any) -> Any:
    """The argument as it is now: an iterator would be used up when the speller is pickled."""
    if isinstance(given, Mapping):
        return dict(given)
    if given is None or isinstance(given, bool | str | bytes | Path) or not isinstance(given, Iterable):
        return given
    return tuple(_kept(each) for each in given)
