"""The rules' fixes as edits, beside those of the model."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.correction import Edit, Reason
from nmspeller.text.protect import Span

if TYPE_CHECKING:
    from nmspeller.runtime.rules import Rule


def chosen_rules(chosen: bool | Iterable[str]) -> tuple["Rule", ...]:
    """The rules that a user asks for: those that are on by default, or those of some ids.

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


def with_rules(
    text: str, protected: Sequence[Span], edits: Sequence[Edit], rules: Sequence["Rule"]
) -> list[Edit]:
    """The edits of a text and those of the rules that touch none of them, in order; hints are left out."""
    from nmspeller.runtime.rules import find

    taken = [(edit.offset, edit.offset + edit.length) for edit in edits]
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
        for match in find(text, protected, rules)
        if match.target is not None
        and not any(start <= match.stop and match.offset <= stop for start, stop in taken)
    ]
    return sorted([*edits, *fixes], key=lambda edit: (edit.offset, edit.length))
