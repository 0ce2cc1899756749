"""Sets of characters for the patterns of rules, as they stand between square brackets; quoted words."""

OPENING = "“‘「『（《〈【〔［"
CLOSING = "”’」』）》〉】〕］"
# Blanks within a line; the ideographic space is not among them, for it is set on purpose.
BLANK = " \u00a0"
_LONGEST_TITLE = 60


def is_quoted(text: str, start: int, stop: int) -> bool:
    """Whether the stretch alone stands in quotation marks or brackets: who quotes a word speaks about it."""
    before, after = text[max(0, start - 1) : start], text[stop : stop + 1]
    return bool(before and after) and before in OPENING + "\"'" and after in CLOSING + "\"'"


def is_in_title(text: str, place: int) -> bool:
    """Whether a title in 《》 is open at `place`: its words are its author's."""
    opened = text.rfind("《", max(0, place - _LONGEST_TITLE), place)
    return opened >= 0 and "》" not in text[opened:place] and "》" in text[place : opened + _LONGEST_TITLE]
