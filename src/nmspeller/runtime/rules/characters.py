"""Sets of characters for the patterns of rules, written as they stand between square brackets."""

OPENING = "“‘「『（《〈【〔［"
CLOSING = "”’」』）》〉】〕］"
# Blanks within a line; the ideographic space is not among them, for it is set on purpose.
BLANK = " \u00a0"
