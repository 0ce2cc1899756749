"""The characters that the model knows: one Unicode code point is one token, and one token is one id."""

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmspeller.errors import InputError
from nmspeller.files import reason
from nmspeller.messages import _
from nmspeller.text.hanzi import RANGES

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CODE_POINTS = 0x110000


def code_points(text: str) -> NDArray[np.uint32]:
    """The text's code points, lone surrogates among them: (len(text),)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


class Vocabulary:
    """Ids for characters.

    Only tokens of a single code point are ever matched in a text, so the special tokens and word pieces of a
    BERT vocabulary keep their ids and never occur. A character outside the vocabulary is `unk`.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = tuple(tokens)
        id_of_token = {token: index for index, token in reversed(tuple(enumerate(self.tokens)))}
        missing = [token for token in SPECIAL_TOKENS if token not in id_of_token]
        if missing:
            raise InputError(
                _("the vocabulary lacks {tokens}; use the vocab.txt of a BERT model.").format(
                    tokens=", ".join(missing)
                )
            )
        self.pad, self.unk, self.cls, self.sep, self.mask = (id_of_token[token] for token in SPECIAL_TOKENS)
        self._id_of_code_point = self._lookup_table(id_of_token)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read a `vocab.txt`: one token a line, the line's number (from 0) is its id.

        Raises:
            InputError: the file cannot be read, or lacks a special token.
        """
        try:
            content = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise InputError(
                _("cannot read the vocabulary {path} ({reason}); check the path.").format(
                    path=path, reason=reason(error)
                )
            ) from error
        except UnicodeDecodeError as error:
            raise InputError(
                _("the vocabulary {path} is not UTF-8; save it as UTF-8.").format(path=path)
            ) from error
        # str.splitlines would also split at tokens such as U+2028, and so shift every id after them.
        lines = content.removesuffix("\n").split("\n")
        try:
            return cls(line.removesuffix("\r") for line in lines)
        except InputError as error:
            raise InputError(_("{path}: {problem}").format(path=path, problem=error)) from error

    def _lookup_table(self, id_of_token: dict[str, int]) -> NDArray[np.int32]:
        table = np.full(CODE_POINTS, self.unk, dtype=np.int32)
        characters = {token: index for token, index in id_of_token.items() if len(token) == 1}
        table[code_points("".join(characters))] = list(characters.values())
        for character in filter(str.islower, characters):
            capital = character.upper()
            if len(capital) == 1 and capital not in characters and capital.lower() == character:
                table[ord(capital)] = characters[character]
        table.flags.writeable = False
        return table

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: str) -> NDArray[np.int32]:
        """One id per code point and no special tokens: (len(text),)."""
        return self._id_of_code_point[code_points(text)]

    def id(self, character: str) -> int:
        """The character's id, or `unk`; a capital letter has its lower case's id where only that exists."""
        return int(self._id_of_code_point[ord(character)]) if len(character) == 1 else self.unk

    @cached_property
    def _is_hanzi(self) -> NDArray[np.bool_]:
        characters = code_points("".join(token if len(token) == 1 else " " for token in self.tokens))
        inside = [(first <= characters) & (characters <= last) for first, last in RANGES]
        marks: NDArray[np.bool_] = np.any(inside, axis=0)
        marks.flags.writeable = False
        return marks

    def is_hanzi(self) -> NDArray[np.bool_]:
        """Whether each id is that of a Chinese character: (len(self),)."""
        return self._is_hanzi
