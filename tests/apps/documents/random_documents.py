"""Random documents in every format, each with the bytes that it must have when its errors are corrected."""

import io
import zipfile

from random_packages import PACKAGES
from random_texts import TEXTS
from random_tokens import Draw, render

_SUFFIXES = {
    "text": "txt",
    "markdown": "md",
    "latex": "tex",
    "asciidoc": "adoc",
    "typst": "typ",
    "code": "py",
}
FORMATS = {
    format: "COMMIT_EDITMSG" if format == "git-commit" else f"a.{_SUFFIXES.get(format, format)}"
    for format in (*TEXTS, *PACKAGES)
}
"""The formats, with the name of a file for each."""


def document(format, seed):
    """The bytes of a document before and after correction."""
    draw = Draw(seed)
    return (
        _packed(draw, *PACKAGES[format](draw)) if format in PACKAGES else _encoded(draw, TEXTS[format](draw))
    )


def _encoded(draw, tokens):
    line_end = draw.either("\n", "\n", "\r\n")
    codec, mark = draw.either(
        ("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("gb18030", b"")
    )
    texts = (render(tokens, corrected).replace("\n", line_end) for corrected in (False, True))
    return tuple(mark + text.encode(codec) for text in texts)


def _packed(draw, members, edited):
    """The archive before and after; of the members, those named in `edited` may differ."""
    kinds = {name: draw.either(zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for name in members}
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
