"""What the rules find, beside the edits of the model: their fixes as edits, the rest as hints."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.correction import Edit, Hint, Reason, clear_of
from nmspeller.text.protect import Span

if TYPE_CHECKING:
    from nmspeller.runtime.rules import Rule, RuleMatch

Chosen = bool | Iterable[str]
"""True for the rules that are on by default, False for none, or the ids of some."""


def chosen_rules(chosen: Chosen) -> tuple["Rule", ...]:
    """The rules that a user asks for.

    Raises:
        InputError: there is no rule of that id.
    """
    if chosen is False:
        return ()
    # Loaded late: the rules' word list takes a moment, and most spellers do without.
    from nmspeller.runtime.rules import RULES, default_rules

    if chosen is True:
        return default_rules()
    unknown = [name for name in chosen if name not in RULES]
    if unknown:
        raise InputError(
            _("there is no rule {name!r}; choose among {names}.").format(
                name=unknown[0], names=", ".join(RULES)
            )
        )
    return tuple(RULES[name] for name in chosen)


def find_in_document(
    texts: Sequence[str], protected: Sequence[Sequence[Span]], rules: Iterable["Rule"]
) -> list[list["RuleMatch"]]:
    """What the rules find in each of the texts that together are one document, in order.

    A name may be spelt in two ways in two paragraphs, and a quotation may end in another paragraph than it
    began in: so the rules read the whole.
    """
    from nmspeller.runtime.rules import find

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


def matches_between(matches: Sequence["RuleMatch"], start: int, stop: int) -> Sequence["RuleMatch"]:
    """Those that begin there; the matches are in order."""
    first, last = (bisect_left(matches, place, key=lambda match: match.offset) for place in (start, stop))
    return matches[first:last]


def with_matches(
    edits: Sequence[Edit], matches: Sequence["RuleMatch"]
) -> tuple[list[Edit], tuple[Hint, ...]]:
    """The edits and the rules' fixes that touch none of them, in order; and the matches that fix nothing."""
    fixes = [
        Edit(
            offset=match.offset,
            length=match.length,
            source=match.source,
            target=match.target,
            probability=1.0,
            alternatives=(),
            reason=Reason.RULE,
            rule=match.rule,
        )
        for match in clear_of(edits, matches)
        if match.target is not None
    ]
    both = sorted([*edits, *fixes], key=lambda edit: (edit.offset, edit.length))
    hints = (
        Hint(match.offset, match.length, match.source, match.rule)
        for match in matches
        if match.target is None
    )
    return both, tuple(clear_of(both, hints))
