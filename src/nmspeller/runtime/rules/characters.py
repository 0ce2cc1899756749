"""Sets of characters for the patterns of rules, as they stand between square brackets; quoted words."""

OPENING = "“‘「『（《〈【〔［"
CLOSING = "”’」』）》〉】〕］"
# Blanks within a line; the ideographic space is not among them, for it is set on purpose.
BLANK = " \u00a0"


def is_quoted(text: str, start: int, stop: int) -> bool:
    """Whether the stretch alone stands in quotation marks or brackets: who quotes a word speaks about it."""
    before, after = text[max(0, start - 1) : start], text[stop : stop + 1]
    return bool(before and after) and before in OPENING + "\"'" and after in CLOSING + "\"'"
