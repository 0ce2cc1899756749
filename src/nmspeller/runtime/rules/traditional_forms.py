"""Characters that regions write in different forms: 裏 is 裡 in Taiwan, 裡 is 裏 in Hong Kong."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import CONSISTENCY
from nmspeller.runtime.rules.closed import Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.protect import Span
from nmspeller.text.script import Script, detect

_WRITTEN = N_("In the script of this text it is written {form}.")


class _RegionalForms(Rule):
    """Hints at the forms of other regions in a Traditional text. `forms` has the region's own for each."""

    category = CONSISTENCY
    group = Group.SPELLING
    # Which region a text is written for is the writer's choice, so no group selects these.
    is_precise = False
    forms: Mapping[str, str]

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        if detect(text) is not Script.TRADITIONAL:
            return
        closed = Closed(protected)
        for found in re.finditer(f"[{''.join(self.forms)}]", text):
            if not closed.overlaps(*found.span()):
                note = Note(_WRITTEN, (("form", self.forms[found[0]]),))
                yield replace(self, text, *found.span(), None, note)


class TaiwanForms(_RegionalForms):
    """The forms that the standard of Taiwan prescribes."""

    id = "taiwan_forms"
    name = N_("Not the form of Taiwan")
    explanation = N_("Taiwan writes this Traditional character in another form.")
    example = Example("他們在教室裏讀書。", None)
    forms = MappingProxyType(dict(zip("裏衆羣綫麪啓僞爲峯牀", "裡眾群線麵啟偽為峰床", strict=True)))


class HongKongForms(_RegionalForms):
    """The forms that schools in Hong Kong teach."""

    id = "hong_kong_forms"
    name = N_("Not the form of Hong Kong")
    explanation = N_("Hong Kong writes this Traditional character in another form.")
    example = Example("他們在教室裡讀書。", None)
    forms = MappingProxyType(dict(zip("裡衆羣臺綫啓僞爲峯", "裏眾群台線啟偽為峰", strict=True)))
