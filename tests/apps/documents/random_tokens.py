"""What random documents are made of: tokens of prose with errors, of text that is no prose, of XML.

A token is what is written of a character or of markup, before and after correction. Errors in prose differ
between the two; errors in code, fields, attributes and the like do not.
"""

import random
from html import unescape
from itertools import pairwise
from xml.sax.saxutils import escape

from nmspeller.runtime.checker import Checker

ERRORS = {"错误": "正确", "漏": "漏掉", "多多": "多"}

_CHARACTERS = "我们今天去公园玩得很高兴，。！？：；“”（）、一二三abcXYZ0189"
_RARE = "𠮷😀é\u200bが\u3000"
_SIGNS = ("&amp;", "&lt;", "&gt;", "&quot;", '"', "&#39;", "\n", "\r\n", "\r", "\t", " ", "&#13;", "&#32;")


class _NoModel:
    """Reads without finding anything."""

    model_hash = "errors"
    window = 30
    batch_characters = 1 << 15

    def read(self, parts, level):
        return [() for part in parts]


class ErrorChecker(Checker):
    """Finds the errors in every text, and nothing else."""

    def __init__(self):
        super().__init__(_NoModel(), replacements=ERRORS)


class Token(str):
    """What is written of something, and after correction."""

    after: str

    def __new__(cls, before, after=None):
        token = super().__new__(cls, before)
        token.after = before if after is None else after
        return token


def render(tokens, corrected):
    return "".join(token.after if corrected else token for token in map(_token, tokens))


def _token(one):
    return one if isinstance(one, Token) else Token(one)


class Draw:
    """Draws tokens from one source of random numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def prose(self, written=str, corrected=str, rare=""):
        """Tokens of a sentence.

        `written` says how one character is written, `corrected` how what takes its place is.
        """
        tokens = [Token(written("今")), Token(written("天"))]
        for _ in range(self.random.randint(1, 12)):
            if self.random.random() < 0.25:
                wrong = self.random.choice(list(ERRORS))
                right = ERRORS[wrong]
                for at, character in enumerate(wrong):
                    share = right[at:] if at == len(wrong) - 1 else right[at]
                    tokens.append(Token(written(character), "".join(map(corrected, share))))
            # Something stands between two errors, so that it is clear where each begins.
            alphabet = rare if rare and self.random.random() < 0.1 else _CHARACTERS
            tokens.append(Token(written(self.random.choice(alphabet))))
        return [*tokens, Token(written("。"))]

    def rare_prose(self):
        """A sentence in which characters occur that few programs expect."""
        return self.prose(rare=_RARE)

    def literal(self):
        """Text with errors that is not prose."""
        return "x" + self.random.choice(list(ERRORS)) + self.random.choice("abc我")

    def some(self, *makers):
        """What some of these make, in random order."""
        return [token for _ in range(self.random.randint(1, 5)) for token in self.random.choice(makers)()]

    def either(self, *choices):
        return self.random.choice(choices)

    # XML.

    def xml_prose(self, comments=True):
        """A sentence as XML may have it.

        Any character may be a reference, blanks of all kinds may occur, some of it may be in CDATA sections,
        and there may be comments and processing instructions between any two characters.
        """
        tokens = self.prose(self._xml, escape, _RARE)
        for _ in range(self.random.randint(0, 2)):
            at = self.random.choice([0, 1, len(tokens)])  # not inside an error
            tokens.insert(at, Token(self.random.choice(_SIGNS)))
        if self.random.random() < 0.3:
            tokens = self._with_cdata(tokens)
        while comments and self.random.random() < 0.2:
            at = self.random.choice(_outside_cdata(tokens))
            tokens.insert(at, self.either(f"<!-- {self.literal()} -->", f"<?a {self.literal()}?>"))
        return tokens

    def _xml(self, character):
        way = self.random.random()
        if way < 0.1:
            return f"&#{ord(character)};"
        return f"&#x{ord(character):X};" if way < 0.2 else character

    def _with_cdata(self, tokens):
        """One or two sections; nothing in them is a reference."""
        cuts = sorted(self.random.choices(range(len(tokens) + 1), k=self.random.choice([2, 4])))
        pieces, end = [], 0
        for start, stop in list(pairwise(cuts))[::2]:
            inside = [Token(unescape(token), unescape(token.after)) for token in tokens[start:stop]]
            pieces += (*tokens[end:start], "<![CDATA[", *inside, "]]>")
            end = stop
        return [*pieces, *tokens[end:]]

    def runs(self, *elements):
        """A sentence in elements, given by their starts and ends; cut anywhere, also inside an error."""
        tokens = self.xml_prose()
        places = _outside_cdata(tokens)[1:-1]
        cuts = sorted(self.random.sample(places, min(len(places), self.random.randint(0, 3))))
        for first, last in pairwise([0, *cuts, len(tokens)]):
            start, end = self.random.choice(elements)
            yield from (start, *tokens[first:last], end)


def _outside_cdata(tokens):
    """The places before, between and after tokens that are in no CDATA section."""
    places, is_inside = [], False
    for at, token in enumerate(tokens):
        places += [] if is_inside else [at]
        is_inside = token == "<![CDATA[" or (is_inside and token != "]]>")
    return [*places, len(tokens)]
