"""The formats: how to find the text in a row, and how to write the row with the corrected text.

In byte formats only the text itself is replaced; every other byte stays the same.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from nmspeller.runtime.correction import Correction


class BadRow(Exception):
    """A row that cannot be processed; the message is the reason."""


class Parsed(NamedTuple):
    """A row's text, None if it has none, and how to write the row once the text is checked.

    `write` takes None for a row without a text.
    """

    text: str | None
    write: Callable[[Correction | None], bytes]


def edits_as_json(correction: Correction | None) -> list[dict[str, Any]]:
    """The edits as plain values; offsets are code points of the original text."""
    if correction is None:
        return []
    return [
        {
            "offset": edit.offset,
            "length": edit.length,
            "source": edit.source,
            "target": edit.target,
            "probability": round(edit.probability, 4),
            "confidence": round(edit.confidence, 4),
            "alternatives": list(edit.alternatives),
            "reason": edit.reason.value,
        }
        for edit in correction.edits
    ]


def decode(raw: bytes) -> str:
    """The row as text."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRow(f"byte {error.start + 1} of the row is not UTF-8") from error


def split_line_end(row: str) -> tuple[str, str]:
    """The row and its line end, which is one of `\\n`, `\\r\\n` and nothing."""
    body = row.removesuffix("\n")
    if body != row:
        body = body.removesuffix("\r")
    return body, row[len(body) :]
