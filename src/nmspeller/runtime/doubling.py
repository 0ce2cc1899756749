"""Replacements that would double a character: 我门们 is 我们 with an extra 门, and not 我们们."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nmspeller.runtime.findings import Edit, Reason

if TYPE_CHECKING:
    from nmspeller.runtime.rules import Rule

RULE = "doubled_character"
"""The rule that knows which characters are never right twice."""

# How much of the text a rule reads around the place: about a sentence on either side.
_CONTEXT = 100


def without_doubling(source: str, edits: Iterable[Edit], rules: Sequence["Rule"]) -> Iterator[Edit]:
    """The edits, with a deletion for each replacement after which RULE would delete a character.

    Otherwise a second check would find what the first one made; without the rule nothing would.
    """
    rule = next((rule for rule in rules if rule.id == RULE), None)
    for edit in edits:
        beside = source[max(0, edit.offset - 1) : edit.offset] + source[edit.stop : edit.stop + 1]
        if rule and edit.length == 1 and edit.target in tuple(beside) and _doubles(source, edit, rule):
            edit = replace(edit, target="", alternatives=(), reason=Reason.EXTRA)
        yield edit


def _doubles(source: str, edit: Edit, rule: "Rule") -> bool:
    start = max(0, edit.offset - _CONTEXT)
    text = source[start : edit.offset] + edit.target + source[edit.stop : edit.stop + _CONTEXT]
    place = edit.offset - start
    return any(match.target == "" and match.offset in (place, place + 1) for match in rule.matches(text, ()))
