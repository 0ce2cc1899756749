"""What a Chinese character is: the CJK ideographs, their extensions and compatibility forms, and 〇."""

RANGES = (
    (0x3007, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    # The planes for ideographs, with the places where Unicode will put more.
    (0x20000, 0x3FFFD),
)
"""The first and the last code point of each range."""

HANZI = "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES)
"""To be put between the brackets of a regular expression."""


def is_hanzi(character: str) -> bool:
    """Whether a character is Chinese."""
    return any(first <= ord(character) <= last for first, last in RANGES)
