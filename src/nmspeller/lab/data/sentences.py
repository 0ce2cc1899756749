"""Sentences in text files: one a line, or pairs, of which the source is taken."""

from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.lab.data.pairs import BadLine, decode, read_lines


def read_sentences(path: Path) -> list[str]:
    """The text before the first tab of every line, stripped; empty lines are left out.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has no text.
    """
    sentences = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            sentence = decode(line).partition("\t")[0].strip()
        except ValueError as error:
            raise InputError(f"{BadLine(str(path), number, str(error))}.") from None
        if sentence:
            sentences.append(sentence)
    if not sentences:
        raise InputError(f"{path} has no text; give sentences, one a line, or pairs.")
    return sentences
