"""Numbers with their nouns."""


def counted(number: int, noun: str) -> str:
    """The number with its noun, e.g. "1 file" and "1,200 files"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
