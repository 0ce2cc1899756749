"""Plain text: a row is a line."""

from nmspeller.apps.batch.formats import Parsed, decode, edits_as_json, split_line_end
from nmspeller.apps.batch.formats.jsonl import dump
from nmspeller.apps.batch.job import Write
from nmspeller.runtime.correction import Correction

_BOM = "\ufeff"


class TextFormat:
    """Lines stay lines; with edits, each becomes the object that `nmspeller check -o json` prints."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def parse(self, raw: bytes) -> Parsed:
        """The line without its end, and without a byte order mark."""
        body, end = split_line_end(decode(raw))
        text = body.removeprefix(_BOM)
        mark = body[: len(body) - len(text)]

        def write(correction: Correction | None) -> bytes:
            corrected = text if correction is None else correction.text
            if self._write is Write.CORRECTED:
                return f"{mark}{corrected}{end}".encode()
            shown = {"text": text, "corrected": corrected, "edits": edits_as_json(correction)}
            if self._write is Write.EDITS:
                del shown["corrected"]
            return f"{dump(shown)}\n".encode()

        return Parsed(text or None, write)
