"""What a rule is, and what it says of a text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from nmspeller.text.protect import Span


class RuleMatch(NamedTuple):
    """What a rule found: `source`, at code points `offset` to `offset + length` of the text, is doubtful.

    `target` is what belongs there: "" deletes, and a length of 0 inserts. Where it is None the match is a
    hint for a person's eye, never a fix.
    """

    offset: int
    length: int
    source: str
    target: str | None
    rule: str

    @property
    def stop(self) -> int:
        """Where the stretch ends."""
        return self.offset + self.length


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
    def on_by_default(self) -> bool:
        """Whether at least 98 of 100 matches in correct text were mistakes after all."""

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        """What the rule finds, in order, disjoint, and clear of the protected spans.

        It depends on the text and the spans alone, in time that grows linearly with both. Spans may overlap
        and come in any order.
        """


def replace(rule: Rule, text: str, start: int, stop: int, target: str | None) -> RuleMatch:
    """The match of `text[start:stop]`."""
    return RuleMatch(start, stop - start, text[start:stop], target, rule.id)
