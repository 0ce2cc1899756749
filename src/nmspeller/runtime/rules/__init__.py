"""What characters alone cannot say: small, transparent rules beside the model.

Each rule is one file, with a name, an explanation, an example and a switch.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.rules.address_marks import AddressMarks
from nmspeller.runtime.rules.bracket_pairs import BracketPairs
from nmspeller.runtime.rules.categories import Category
from nmspeller.runtime.rules.common_word import CommonWord
from nmspeller.runtime.rules.de_pattern import DePattern
from nmspeller.runtime.rules.doubled_character import DoubledCharacter
from nmspeller.runtime.rules.doubled_punctuation import DoubledPunctuation
from nmspeller.runtime.rules.doubled_word import DoubledWord
from nmspeller.runtime.rules.ellipsis_dash import EllipsisDash
from nmspeller.runtime.rules.half_width_punctuation import HalfWidthPunctuation
from nmspeller.runtime.rules.idiom import Idiom
from nmspeller.runtime.rules.impossible_date import ImpossibleDate
from nmspeller.runtime.rules.mixed_script import MixedScript
from nmspeller.runtime.rules.mixed_spacing import MixedSpacing
from nmspeller.runtime.rules.mixed_width import MixedWidth
from nmspeller.runtime.rules.name_variants import NameVariants
from nmspeller.runtime.rules.number_format import NumberFormat
from nmspeller.runtime.rules.range_dash import RangeDash
from nmspeller.runtime.rules.recommended_form import RecommendedForm
from nmspeller.runtime.rules.redundant_amount import RedundantAmount
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch
from nmspeller.runtime.rules.space_between_hanzi import SpaceBetweenHanzi
from nmspeller.runtime.rules.term_variants import TermVariants
from nmspeller.runtime.rules.traditional_forms import HongKongForms, TaiwanForms
from nmspeller.runtime.rules.unbalanced_marks import UnbalancedMarks
from nmspeller.runtime.rules.weekday import Weekday
from nmspeller.text.protect import Span

__all__ = [
    "READ_AS_FIXED",
    "RULES",
    "Category",
    "Example",
    "Group",
    "Note",
    "Rule",
    "RuleMatch",
    "apply_fixes",
    "find",
    "select",
]

_IN_ORDER_OF_PRECEDENCE: tuple[Rule, ...] = (
    Idiom(),
    CommonWord(),
    DoubledCharacter(),
    DoubledWord(),
    DePattern(),
    NumberFormat(),
    ImpossibleDate(),
    Weekday(),
    RedundantAmount(),
    MixedScript(),
    TaiwanForms(),
    HongKongForms(),
    TermVariants(),
    NameVariants(),
    RecommendedForm(),
    DoubledPunctuation(),
    HalfWidthPunctuation(),
    EllipsisDash(),
    AddressMarks(),
    MixedWidth(),
    SpaceBetweenHanzi(),
    MixedSpacing(),
    BracketPairs(),
    UnbalancedMarks(),
    RangeDash(),
)

RULES: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in _IN_ORDER_OF_PRECEDENCE})
"""Every rule by its id, the one that goes before others first."""


READ_AS_FIXED: tuple[Rule, ...] = tuple(
    RULES[name] for name in ("doubled_punctuation", "half_width_punctuation", "space_between_hanzi")
)
"""Certain rules that change no Chinese character: the model reads the text as they leave it."""


def select(names: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of these ids and groups, each once, in order of precedence.

    Args:
        names: ids of rules, and names of groups for those of their rules that are precise.

    Raises:
        InputError: there is no such rule or group.
    """
    chosen: set[str] = set()
    groups = {group.value: group for group in Group}
    for name in names:
        if name not in (known := [*groups, *RULES]):
            raise InputError(
                _("there is no rule {name!r}; choose among {names}.").format(
                    name=name, names=", ".join(known)
                )
            )
        if name in groups:
            chosen.update(
                rule.id for rule in RULES.values() if rule.group is groups[name] and rule.is_precise
            )
        else:
            chosen.add(name)
    return tuple(rule for rule in RULES.values() if rule.id in chosen)


def find(text: str, protected: Sequence[Span], rules: Iterable[Rule]) -> list[RuleMatch]:
    """What the rules find in a text, in order and disjoint.

    Where matches overlap, a fix goes before a hint, then the rule that comes first in `rules`, then the
    match that starts first. Two insertions at one place overlap too.
    """
    found = [match for rule in rules for match in rule.matches(text, protected)]
    found.sort(key=lambda match: match.target is None)
    taken: set[int] = set()
    kept = []
    for match in found:
        # An insertion takes the gap before a character, which is numbered between its neighbours.
        places = range(2 * match.offset + 1, 2 * match.stop, 1) if match.length else (2 * match.offset,)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(match)
    return sorted(kept)


def apply_fixes(text: str, matches: Iterable[RuleMatch]) -> str:
    """The text with every fix made; the matches are those of `find`, and hints change nothing."""
    output: list[str] = []
    end = 0
    for match in matches:
        if match.target is not None:
            output += (text[end : match.offset], match.target)
            end = match.stop
    return "".join((*output, text[end:]))
