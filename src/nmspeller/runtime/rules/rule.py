"""What a rule is, and what it says of a text."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from nmspeller.messages import N_, _
from nmspeller.runtime.rules.categories import Category
from nmspeller.text.protect import Span


class Note(NamedTuple):
    """What is to be said of one match; `str()` of it is in the present language.

    `message` is in the catalogue, `values` are the names and values of its fields.
    """

    message: str
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return _(self.message).format(**dict(self.values))


class RuleMatch(NamedTuple):
    """What a rule found: `source`, at code points `offset` to `offset + length` of the text, is doubtful.

    `target` is what belongs there: "" deletes, and a length of 0 inserts. Where it is None the match is a
    hint for a person's eye, never a fix. `note` says what the rule's explanation cannot: what else the text
    has, and how often.
    """

    offset: int
    length: int
    source: str
    target: str | None
    rule: str
    note: Note | None = None

    @property
    def stop(self) -> int:
        """Where the stretch ends."""
        return self.offset + self.length


class Group(str, Enum):
    """What one switch turns on and off: wrong words and numbers, or the form of marks and spaces."""

    SPELLING = N_("spelling")
    TYPOGRAPHY = N_("typography")

    @property
    def label(self) -> str:
        """The group in the present language."""
        return _(self.value)


class Example(NamedTuple):
    """A text that the rule finds something in, and what it makes of it; None where it gives a hint."""

    wrong: str
    right: str | None


class Rule(Protocol):
    """One thing that can be wrong with a text, with a name, an explanation and a switch."""

    @property
    def id(self) -> str:
        """How settings and reports call the rule; it never changes."""

    @property
    def name(self) -> str:
        """A few words, to be translated when shown, as the explanation is."""

    @property
    def explanation(self) -> str:
        """One sentence that says what is wrong and what is right."""

    @property
    def category(self) -> Category:
        """Under what clients list it."""

    @property
    def group(self) -> Group:
        """The switch that it belongs to."""

    @property
    def is_precise(self) -> bool:
        """Whether at least 98 of 100 matches in correct text were mistakes after all."""

    @property
    def example(self) -> Example:
        """For the page and the documentation."""

    @property
    def on_by_default(self) -> bool:
        """Whether the rule applies unless a user chooses rules: the form of marks is a matter of choice."""
        return self.is_precise and self.group is Group.SPELLING

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        """What the rule finds, in order, disjoint, and clear of the protected spans.

        It depends on the text and the spans alone, in time that grows linearly with both. Spans may overlap
        and come in any order. Rules about numbers read the protected numbers, too; they hint at them or
        change how they are written, never what they say.
        """


def also_written(other: str, others: int, own: int) -> Note:
    """The note of a word that the text also writes in another way, with how often each occurs."""
    return Note(
        N_("The text also has {other} ({others}×; this form {own}×)."),
        (("other", other), ("others", str(others)), ("own", str(own))),
    )


def replace(
    rule: Rule, text: str, start: int, stop: int, target: str | None, note: Note | None = None
) -> RuleMatch:
    """The match of `text[start:stop]`."""
    return RuleMatch(start, stop - start, text[start:stop], target, rule.id, note)
