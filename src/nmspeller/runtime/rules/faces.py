"""The Simplified face of a text, which several rules read one after another."""

from functools import lru_cache

from nmspeller.text.script import Simplified, simplify


@lru_cache(maxsize=1)
def simplified(text: str) -> Simplified:
    """The text with its Traditional sentences simplified; that of the last text is kept."""
    return simplify(text)
