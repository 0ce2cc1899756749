"""What a check finds: edits with their reasons, and hints, which only a person can decide on."""

from dataclasses import dataclass
from enum import Enum

from nmspeller.messages import N_, _


class Reason(str, Enum):
    """Why an edit is proposed: `value` identifies it for programs, `label` is for people."""

    SAME_SOUND = "same_sound"
    SIMILAR_SOUND = "similar_sound"
    SIMILAR_SHAPE = "similar_shape"
    DE = "de"
    MISSING = "missing"
    EXTRA = "extra"
    SWAPPED = "swapped"
    CONTEXT = "context"
    USER_LIST = "user_list"
    RULE = "rule"

    # Python's versions differ in what a mixed enumeration is in an f-string.
    __str__ = str.__str__

    @property
    def label(self) -> str:
        """A word or two, in the present language."""
        return _(_LABELS[self])

    @property
    def description(self) -> str:
        """A sentence, in the present language."""
        return _(DESCRIPTIONS[self])


_LABELS = {
    Reason.SAME_SOUND: N_("same sound"),
    Reason.SIMILAR_SOUND: N_("similar sound"),
    Reason.SIMILAR_SHAPE: N_("similar shape"),
    Reason.DE: N_("的地得"),
    Reason.MISSING: N_("missing character"),
    Reason.EXTRA: N_("extra character"),
    Reason.SWAPPED: N_("swapped characters"),
    Reason.CONTEXT: N_("context"),
    Reason.USER_LIST: N_("your list"),
    Reason.RULE: N_("rule"),
}
DESCRIPTIONS = {
    Reason.SAME_SOUND: N_("A character of the same sound fits the sentence better."),
    Reason.SIMILAR_SOUND: N_("A character of a similar sound fits the sentence better."),
    Reason.SIMILAR_SHAPE: N_("A character of a similar shape fits the sentence better."),
    Reason.DE: N_("Another one of 的, 地 and 得 is correct here."),
    Reason.MISSING: N_("A character seems to be missing here."),
    Reason.EXTRA: N_("A character seems to be superfluous here."),
    Reason.SWAPPED: N_("Two characters seem to be in the wrong order."),
    Reason.CONTEXT: N_("Another character fits the sentence better."),
    Reason.USER_LIST: N_("A list of replacements has another text for this one."),
    Reason.RULE: N_("A rule applies here."),
}


@dataclass(frozen=True)
class Edit:
    """Replace `source`, at code points `offset` to `offset + length` of the checked text, by `target`.

    An empty `source` inserts, an empty `target` deletes. `probability` is the model's probability of the
    target. `confidence`, from 0 to 1, is what the levels test, so it is what to filter edits by; where an
    edit was accepted only after others in its sentence were applied, both are those of that later reading.
    An edit of several characters has the lowest values of its characters; an edit by a rule or by the user's
    list has 1.0. `rule` is the id of the rule behind an edit with the reason "rule", see
    `nmspeller.runtime.rules`.
    """

    offset: int
    length: int
    source: str
    target: str
    probability: float
    alternatives: tuple[str, ...]
    reason: Reason
    confidence: float = 1.0
    rule: str | None = None

    @property
    def stop(self) -> int:
        """Where the edit ends in the checked text."""
        return self.offset + self.length


@dataclass(frozen=True)
class Hint:
    """`source`, at code points `offset` to `offset + length`, may be wrong; only a person can say.

    `rule` is the id of the rule that found it; `note`, if there is one, says what it found here.
    """

    offset: int
    length: int
    source: str
    rule: str
    note: str | None = None

    @property
    def stop(self) -> int:
        """Where the doubtful text ends."""
        return self.offset + self.length

    @property
    def explanation(self) -> str:
        """What is doubtful, in the present language."""
        from nmspeller.runtime.rules import RULES  # loaded late: most texts have no hint

        return self.note or _(RULES[self.rule].explanation)
