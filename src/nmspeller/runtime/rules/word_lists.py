"""Lists of words with the word to be written instead, one word and its wrong forms a line."""

from pathlib import Path


def read(name: str) -> dict[str, str]:
    """The right word by each wrong form of a shipped list; a line that starts with # is a comment."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {wrong: right for right, *wrongs in rows for wrong in wrongs}
