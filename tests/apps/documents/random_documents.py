"""Random documents in every format, each with the bytes that it must have when its errors are corrected.

A document is made of tokens: what is written of a character or of markup, before and after correction. Errors
in prose differ between the two; errors in code, fields, attributes and the like do not.
"""

import io
import random
import zipfile
from xml.sax.saxutils import escape

from word_files import OFFICE, TYPE, W

from nmspeller.runtime.checker import Checker

ERRORS = {"错误": "正确", "漏": "漏掉", "多多": "多"}
FORMATS = {
    "text": "txt",
    "markdown": "md",
    "html": "html",
    "srt": "srt",
    "latex": "tex",
    "rst": "rst",
    "code": "py",
    "docx": "docx",
    "odt": "odt",
    "odp": "odp",
    "pptx": "pptx",
}
"""The formats, with a suffix for each."""

_CHARACTERS = "我们今天去公园玩得很高兴，。！？：；“”（）、一二三abcXYZ0189"
_RARE = "𠮷😀é\u200bが\u3000"
_SIGNS = ("&amp;", "&lt;", "&gt;", "&quot;", '"', "&#39;", "\n", "\r\n", "\r", "\t", " ", "&#13;", "&#32;")
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


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


class Writer:
    """Draws documents from one source of random numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def document(self, format):
        """The bytes of a document before and after correction."""
        if format in ("docx", "odt", "odp", "pptx"):
            return getattr(self, f"_{format}")()
        tokens = getattr(self, f"_{format}")()
        line_end = self.random.choice(["\n", "\n", "\r\n"])
        codec, mark = self.random.choice(
            [("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("gb18030", b"")]
        )
        texts = (render(tokens, corrected).replace("\n", line_end) for corrected in (False, True))
        return tuple(mark + text.encode(codec) for text in texts)

    def prose(self, written=str, rare=_RARE):
        """Tokens of a sentence; `written` says how one character is written."""
        tokens = [Token(written("今")), Token(written("天"))]
        for _ in range(self.random.randint(1, 12)):
            if self.random.random() < 0.25:
                wrong = self.random.choice(list(ERRORS))
                right = ERRORS[wrong]
                for at, character in enumerate(wrong):
                    share = right[at:] if at == len(wrong) - 1 else right[at]
                    tokens.append(Token(written(character), escape(share) if written is not str else share))
            # Something stands between two errors, so that it is clear where each begins.
            alphabet = rare if rare and self.random.random() < 0.1 else _CHARACTERS
            tokens.append(Token(written(self.random.choice(alphabet))))
        return [*tokens, Token(written("。"))]

    def literal(self):
        """Text with errors that is not prose."""
        return "x" + self.random.choice(list(ERRORS)) + self.random.choice("abc我")

    def some(self, *makers):
        """What some of these make, in random order."""
        return [token for _ in range(self.random.randint(1, 5)) for token in self.random.choice(makers)()]

    # Text formats.

    def _text(self):
        return self.some(lambda: [*self.prose(), "\n"], lambda: [*self.prose(), "\n\n"], lambda: ["  \t\n"])

    def _markdown(self):
        return self.some(
            lambda: [*self.prose(rare=""), "\n\n"],
            lambda: [*"# ", *self.prose(rare=""), "\n\n"],
            lambda: [
                "- ",
                *self.prose(rare=""),
                " **",
                *self.prose(rare=""),
                "** `",
                self.literal(),
                "`\n\n",
            ],
            lambda: ["[", *self.prose(rare=""), f"](http://a.b/{self.literal()})\n\n"],
            lambda: [f"```\n{self.literal()}\n```\n\n"],
        )

    def _html(self):
        body = self.some(
            lambda: ["<p>", *self.prose(self._reference, rare=""), "</p>\n"],
            lambda: [
                "<p>",
                *self.prose(rare=""),
                "<b class='",
                self.literal(),
                "'>",
                *self.prose(rare=""),
                "</b></p>",
            ],
            lambda: [f"<script>{self.literal()}</script><!-- {self.literal()} -->"],
            lambda: [f"<pre><code>{self.literal()}</code></pre>\n"],
        )
        return ["<!doctype html>\n<html><body>", *body, "</body></html>"]

    def _reference(self, character):
        """HTML's named and numeric references, but not of what an edit is about."""
        if character in "，。！" and self.random.random() < 0.2:
            return f"&#{ord(character)};"
        return character

    def _srt(self):
        blocks = []
        for number in range(1, self.random.randint(2, 5)):
            blocks += [
                f"{number}\n00:00:0{number},000 --> 00:00:0{number},900\n",
                *self.prose(rare=""),
                "\n\n",
            ]
        return blocks

    def _latex(self):
        body = self.some(
            lambda: [*self.prose(rare=""), "\n\n"],
            lambda: ["\\section{", *self.prose(rare=""), "}\n", f"\\label{{{self.literal()}}}\n\n"],
            lambda: ["\\textbf{", *self.prose(rare=""), "} $x$ ", *self.prose(rare=""), "\n\n"],
            lambda: [f"\\begin{{verbatim}}\n{self.literal()}\n\\end{{verbatim}}\n\n"],
        )
        return ["\\documentclass{article}\n\\begin{document}\n", *body, "\\end{document}\n"]

    def _rst(self):
        return self.some(
            lambda: [*self.prose(rare=""), "\n\n"],
            lambda: [*self.prose(rare=""), f" ``{self.literal()}`` ", *self.prose(rare=""), "\n\n"],
            lambda: [f".. code-block:: python\n\n   {self.literal()}\n\n"],
        )

    def _code(self):
        return self.some(
            lambda: ["# ", *self.prose(rare=""), "\n"],
            lambda: [f"{self.literal()} = 1  # ", *self.prose(rare=""), "\n"],
            lambda: [f"def {self.literal()}(): pass\n\n"],
        )

    # Office formats.

    def xml_prose(self):
        """A sentence in which any character may be a reference, and blanks of all kinds may occur."""
        tokens = self.prose(self._xml)
        for _ in range(self.random.randint(0, 2)):
            at = self.random.choice([0, 1, len(tokens)])  # not inside an error
            tokens.insert(at, Token(self.random.choice(_SIGNS)))
        return tokens

    def _xml(self, character):
        way = self.random.random()
        if way < 0.1:
            return f"&#{ord(character)};"
        return f"&#x{ord(character):X};" if way < 0.2 else character

    def runs(self, start, end):
        """A sentence, cut into runs anywhere, also inside an error."""
        tokens = self.xml_prose()
        cuts = sorted(self.random.sample(range(1, len(tokens)), self.random.randint(0, 3)))
        for first, last in zip([0, *cuts], [*cuts, len(tokens)], strict=True):
            yield from (start, *tokens[first:last], end)

    def packed(self, members, edited):
        """The archive before and after; members are tokens, of which those named in `edited` may differ."""
        kinds = {name: self.random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]) for name in members}
        both = []
        for corrected in (False, True):
            output = io.BytesIO()
            with zipfile.ZipFile(output, "w") as archive:
                for name, tokens in members.items():
                    content = render(tokens, corrected and name in edited).encode()
                    archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), content, kinds[name])
                archive.comment = b"a comment"
            both.append(output.getvalue())
        return tuple(both)

    def _docx(self):
        def paragraph():
            return ["<w:p>", *self.runs('<w:r><w:t xml:space="preserve">', "</w:t></w:r>"), "</w:p>"]

        body = self.some(
            paragraph,
            lambda: ["<w:p><!-- ", self.literal(), " --><w:pPr w:val='", self.literal(), "'/></w:p>\r\n"],
            lambda: ["<w:p><w:r><w:instrText>", self.literal(), "</w:instrText></w:r></w:p>"],
            lambda: ["<w:p><w:del><w:r><w:delText>", self.literal(), "</w:delText></w:r></w:del></w:p>"],
            lambda: ["<w:p><w:r><w:t>", *self.xml_prose(), "</w:t><w:tab/></w:r></w:p>"],
        )
        types = "http://schemas.openxmlformats.org/package/2006/content-types"
        members = {
            "[Content_Types].xml": [
                f'<Types xmlns="{types}"><Override PartName="/word/document.xml" ContentType="{TYPE}'
                '.document.main+xml"/></Types>'
            ],
            "_rels/.rels": [relationships(("rId1", "officeDocument", "word/document.xml"))],
            "docProps/core.xml": [f"<a>{self.literal()}</a>"],
            "word/document.xml": [f'<w:document xmlns:w="{W}"><w:body>', *body, "</w:body></w:document>"],
            "word/footnotes.xml": [f'<w:footnotes xmlns:w="{W}">', *paragraph(), "</w:footnotes>"],
            "word/_rels/document.xml.rels": [relationships(("rId1", "footnotes", "footnotes.xml"))],
            "word/media/image1.png": [self.literal() * 50],
        }
        return self.packed(members, {"word/document.xml", "word/footnotes.xml"})

    def _odf(self, kind):
        content = self.some(
            lambda: ["<t:p>", *self.runs("<t:span>", "</t:span>"), "</t:p>"],
            lambda: ["<t:p>", *self.xml_prose(), "<t:s/><t:tab/>", *self.xml_prose(), "</t:p>"],
            lambda: ["<t:p><t:date>", self.literal(), "</t:date><!-- ", self.literal(), " --></t:p>\n"],
            lambda: ["<t:tracked-changes><t:p>", self.literal(), "</t:p></t:tracked-changes>"],
        )
        spaces = f'xmlns:t="{_ODF}:text:1.0" xmlns:o="{_ODF}:office:1.0"'
        members = {
            "mimetype": [f"application/vnd.oasis.opendocument.{kind}"],
            "content.xml": [
                f"<?xml version='1.0'?>\n<o:document-content {spaces}>",
                *content,
                "</o:document-content>",
            ],
            "styles.xml": [
                f"<o:document-styles {spaces}>",
                "<t:p>",
                *self.xml_prose(),
                "</t:p></o:document-styles>",
            ],
            "meta.xml": [self.literal()],
            "META-INF/manifest.xml": ["<manifest/>"],
        }
        return self.packed(members, {"content.xml"} | ({"styles.xml"} if kind == "text" else set()))

    def _odt(self):
        return self._odf("text")

    def _odp(self):
        return self._odf("presentation")

    def _pptx(self):
        drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
        numbers = range(1, self.random.randint(2, 4))
        members = {
            "[Content_Types].xml": ["<Types/>"],
            "_rels/.rels": [relationships(("rId1", "officeDocument", "ppt/presentation.xml"))],
            "ppt/presentation.xml": [
                f'<p:presentation xmlns:p="p" xmlns:r="{OFFICE}">',
                *(f'<p:sldId id="{number}" r:id="s{number}"/>' for number in numbers),
                "</p:presentation>",
            ],
            "ppt/_rels/presentation.xml.rels": [
                relationships(*((f"s{number}", "slide", f"slides/slide{number}.xml") for number in numbers))
            ],
            "docProps/app.xml": [self.literal()],
        }
        slides = {}
        for number in numbers:
            content = self.some(
                lambda: ["<a:p>", *self.runs("<a:r><a:t>", "</a:t></a:r>"), "</a:p>"],
                lambda: ["<a:p><a:fld><a:t>", self.literal(), "</a:t></a:fld></a:p>\n"],
            )
            slides[f"ppt/slides/slide{number}.xml"] = [
                f'<p:sld xmlns:p="p" xmlns:a="{drawing}">',
                *content,
                "</p:sld>",
            ]
        return self.packed({**members, **slides}, slides.keys())


def relationships(*targets):
    found = "".join(
        f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>' for id, kind, target in targets
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{found}</Relationships>'
