"""The reasons for an edit as LanguageTool's rules. Clients keep their ids in settings: these never change."""

from dataclasses import dataclass

from nmspeller.apps.http.errors import ApiError
from nmspeller.runtime.correction import Reason

CATEGORY = {"id": "TYPOS", "name": "错别字"}


@dataclass(frozen=True)
class Rule:
    """What clients show of a rule and of its matches."""

    id: str
    description: str
    because: str


RULES = {
    Reason.SAME_SOUND: Rule("NMSPELLER_SAME_SOUND", "同音字误用", "读音相同"),
    Reason.SIMILAR_SOUND: Rule("NMSPELLER_SIMILAR_SOUND", "近音字误用", "读音相近"),
    Reason.SIMILAR_SHAPE: Rule("NMSPELLER_SIMILAR_SHAPE", "形近字误用", "字形相近"),
    Reason.DE: Rule("NMSPELLER_DE", "“的、地、得”误用", "“的、地、得”用法"),
    Reason.USER_WORD: Rule("NMSPELLER_USER_WORD", "自定义词语误写", "自定义词语"),
    Reason.RULE: Rule("NMSPELLER_RULE", "规则检查", "规则"),
    Reason.CONTEXT: Rule("NMSPELLER_CONTEXT", "用字与上下文不符", "与上下文不符"),
}


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
            raise ApiError(400, "You cannot specify disabled rules or categories using enabledOnly=true.")
        if not (self.enabled_rules or self.enabled_categories):
            raise ApiError(400, "You must specify enabled rules or categories when using enabledOnly=true.")

    def wants(self, rule: Rule) -> bool:
        """Whether matches of a rule are to be reported; the rule's own name outweighs its category's."""
        if rule.id in self.disabled_rules:
            return False
        if rule.id in self.enabled_rules:
            return True
        if self.enabled_only:
            return CATEGORY["id"] in self.enabled_categories
        return CATEGORY["id"] not in self.disabled_categories
