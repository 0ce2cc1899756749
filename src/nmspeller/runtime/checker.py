"""What the apps need of a speller, so that each of them can be tested without a model."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from nmspeller.runtime.correction import Correction
from nmspeller.runtime.rule_edits import Chosen
from nmspeller.text.script import Script

if TYPE_CHECKING:
    from nmspeller.runtime.rules import RuleMatch


class Checker(Protocol):
    """Checks texts; `nmspeller.Speller` is one."""

    @property
    def model_hash(self) -> str:
        """Identifies the model and all else that decides what is corrected."""

    @property
    def window(self) -> int:
        """How many characters the model reads at once."""

    def check_many(
        self,
        texts: Iterable[str],
        *,
        level: str | None = None,
        words: Iterable[str] | None = None,
        document_script: Script = Script.NEUTRAL,
        rules: Chosen | None = None,
    ) -> list[Correction]:
        """One correction for each text, in order; see `Speller.check_many`."""

    def rule_matches(
        self, texts: Sequence[str], *, words: Iterable[str] | None = None, rules: Chosen | None = None
    ) -> list[list["RuleMatch"]]:
        """What the rules find in each part of one document; see `Speller.rule_matches`."""
