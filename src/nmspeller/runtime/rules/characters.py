"""Sets of characters for the patterns of rules, written as they stand between square brackets."""

from nmspeller.text.vocabulary import HANZI_RANGES

HANZI = "".join(f"{chr(first)}-{chr(last)}" for first, last in HANZI_RANGES)
OPENING = "“‘「『（《〈【〔［"
CLOSING = "”’」』）》〉】〕］"
# Blanks within a line; the ideographic space is not among them, for it is set on purpose.
BLANK = " \u00a0"
