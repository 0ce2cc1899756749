"""What is found as LanguageTool's rules. Clients keep their ids in settings: these never change."""

from dataclasses import dataclass

from nmspeller.apps.http.errors import ApiError
from nmspeller.messages import _
from nmspeller.runtime.findings import DESCRIPTIONS, Edit, Hint, Reason
from nmspeller.runtime.rules import RULES, Category
from nmspeller.runtime.rules.categories import TYPOS


@dataclass(frozen=True)
class LanguageToolRule:
    """What clients show of a rule and of its matches; the texts are translated when they are shown."""

    id: str
    description: str
    category: Category = TYPOS
    on_by_default: bool = True

    def described(self) -> dict[str, object]:
        """The rule as it stands in a match."""
        return {
            "id": self.id,
            "description": _(self.description),
            "issueType": self.category.issue_type,
            "category": {"id": self.category.id, "name": _(self.category.name)},
            "isPremium": False,
        }


_BY_REASON: dict[Reason, LanguageToolRule] = {
    reason: LanguageToolRule(f"NMSPELLER_{reason.name}", description)
    for reason, description in DESCRIPTIONS.items()
    if reason is not Reason.RULE
}
_BY_RULE = {
    rule.id: LanguageToolRule(f"NMSPELLER_{rule.id.upper()}", rule.name, rule.category, rule.on_by_default)
    for rule in RULES.values()
}
LISTED = (*_BY_REASON.values(), *_BY_RULE.values())
"""All that a match can be of."""


def rule_of(found: Edit | Hint) -> LanguageToolRule:
    """The rule by which something was found."""
    if found.rule is not None:
        return _BY_RULE[found.rule]
    assert isinstance(found, Edit)
    return _BY_REASON[found.reason]


@dataclass(frozen=True)
class Selection:
    """Which rules a request wants."""

    enabled_rules: frozenset[str] = frozenset()
    disabled_rules: frozenset[str] = frozenset()
    enabled_categories: frozenset[str] = frozenset()
    disabled_categories: frozenset[str] = frozenset()
    enabled_only: bool = False

    def __post_init__(self) -> None:
        if not self.enabled_only:
            return
        if self.disabled_rules or self.disabled_categories:
            raise ApiError(400, _("You cannot specify disabled rules or categories using enabledOnly=true."))
        if not (self.enabled_rules or self.enabled_categories):
            raise ApiError(
                400, _("You must specify enabled rules or categories when using enabledOnly=true.")
            )

    def wants(self, rule: LanguageToolRule) -> bool:
        """Whether matches of a rule are to be reported, decided as LanguageTool does.

        Its own name outweighs its category's, and to enable outweighs to disable. A category does not enable
        those of its rules that are off by default.
        """
        if rule.id in self.enabled_rules:
            return True
        if rule.id in self.disabled_rules or not rule.on_by_default:
            return False
        if rule.category.id in self.enabled_categories:
            return True
        return not self.enabled_only and rule.category.id not in self.disabled_categories

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules beside the model that the request wants."""
        return tuple(name for name, rule in _BY_RULE.items() if self.wants(rule))

    @property
    def reasons(self) -> frozenset[Reason]:
        """The reasons of the model's edits that the request wants."""
        return frozenset(reason for reason, rule in _BY_REASON.items() if self.wants(rule))
