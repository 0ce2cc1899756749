"""Which rules a user asks for, and what they find in the passages of a document."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.text.protect import Span

if TYPE_CHECKING:
    from nmspeller.runtime.rules import Rule, RuleMatch

Chosen = bool | Iterable[str]
"""True for all precise rules, False for none, or the ids of some and names of groups."""
DEFAULT_RULES = ("spelling",)
"""What applies unless a user chooses: the form of marks and spaces is a matter of choice."""


def chosen_rules(chosen: Chosen) -> tuple["Rule", ...]:
    """The rules that a user asks for.

    Raises:
        InputError: there is no rule of that id, or it is no list.
    """
    if chosen is False:
        return ()
    if isinstance(chosen, str | bytes | dict) or not (chosen is True or isinstance(chosen, Iterable)):
        raise InputError(
            _("give rules as True, False or a list of their ids, not as {given!r}.").format(given=chosen)
        )
    # Loaded late: the rules' word list takes a moment, and most spellers do without.
    from nmspeller.runtime.rules import Group, select

    return select([group.value for group in Group] if chosen is True else chosen)


def named_rules(names: str) -> tuple[str, ...]:
    """The ids and groups in a list such as `idiom,typography`, which options have.

    Raises:
        InputError: there is no rule or group of that name.
    """
    listed = tuple(names.replace(",", " ").split())
    chosen_rules(listed)
    return listed


def find_in_document(
    texts: Sequence[str], protected: Sequence[Sequence[Span]], rules: Iterable["Rule"]
) -> list[list["RuleMatch"]]:
    """What the rules find in each of the texts that together are one document, in order.

    A name may be spelt in two ways in two paragraphs, and a quotation may end in another paragraph than it
    began in: so the rules read the whole.
    """
    from nmspeller.runtime.rules import find

    if len(texts) == 1:
        return [find(texts[0], protected[0], rules)]
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    spans = [
        Span(start + span.start, start + span.stop, span.kind)
        for start, of_text in zip(starts, protected, strict=False)
        for span in of_text
    ]
    matches: list[list[RuleMatch]] = [[] for text in texts]
    number = 0
    for match in find("\n".join(texts), spans, rules):
        while match.offset >= starts[number + 1]:
            number += 1
        matches[number].append(match._replace(offset=match.offset - starts[number]))
    return matches
