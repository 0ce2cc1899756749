"""Code points and UTF-16 units, in which LanguageTool's protocol and SARIF count an emoji as two."""

from itertools import accumulate


class Utf16:
    """Converts code point offsets of a text to UTF-16 offsets."""

    def __init__(self, text: str) -> None:
        # A text without astral characters, which is nearly every text, needs no table.
        self._table = None
        if text and max(text) > "\uffff":
            self._table = list(accumulate((1 + (character > "\uffff") for character in text), initial=0))

    def unit(self, point: int) -> int:
        """The unit where code point number `point` begins; the text's length gives its length in units."""
        return point if self._table is None else self._table[point]


def length(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)
