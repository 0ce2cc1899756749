"""What is done to uploaded documents, in `DocumentProcesses`: reading them and writing edits."""

import io
import json
import signal
import sys
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from nmspeller.apps.documents.authors import WordsOfOthers, words_of_others
from nmspeller.apps.documents.document import Document, from_bytes
from nmspeller.apps.documents.docx import DocxDocument
from nmspeller.apps.documents.office import OfficeDocument
from nmspeller.apps.documents.prose import Passage, ProseSpan
from nmspeller.apps.http import errors
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.logs import places
from nmspeller.apps.http.memory import return_freed_memory
from nmspeller.apps.http.processes import DONE, FAILED, REFUSED, read_frame, write_frame
from nmspeller.errors import InputError
from nmspeller.messages import _, speaking
from nmspeller.runtime.findings import Edit, Reason

_MOST_BYTES_A_CHARACTER = 4
_LARGEST_MEMORY = 2 * 2**30


class PlacedPassage(NamedTuple):
    """The text from `start` to `stop` stands apart: in which region, and where exactly, in words."""

    start: int
    stop: int
    region: str
    label: str


class ReadDocument(NamedTuple):
    """What a check needs of a document, where its reader finds what is not running text, and whose it is."""

    text: str
    tracks_changes: bool
    passages: Sequence[Passage]
    places: Sequence[PlacedPassage]
    of_others: WordsOfOthers

    @classmethod
    def from_json(cls, content: bytes) -> "ReadDocument":
        text, tracks_changes, passages, places, of_others = json.loads(content)
        return cls(
            text,
            tracks_changes,
            [_passage(text, *passage) for passage in passages],
            [PlacedPassage(*place) for place in places],
            WordsOfOthers(*of_others),
        )


class CorrectedDocument(NamedTuple):
    """A file, and the numbers, from 1, of the edits that it does not have, as they cannot be tracked."""

    content: bytes
    left_out: Sequence[int]

    def to_bytes(self) -> bytes:
        return json.dumps(self.left_out).encode() + b"\n" + self.content

    @classmethod
    def from_bytes(cls, answer: bytes) -> "CorrectedDocument":
        left_out, _newline, content = answer.partition(b"\n")
        return cls(content, json.loads(left_out))


def main() -> None:
    """Answer one document after the other, until the server is gone."""
    # The server decides when to end: those who stop it may send a signal to all of its processes.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _limit_memory()
    with suppress(EOFError, BrokenPipeError):
        while True:
            asked, raw = json.loads(read_frame(sys.stdin.buffer)), read_frame(sys.stdin.buffer)
            _end_after(asked.pop("seconds"))
            answer = _answer(raw, **asked)
            _end_after(0)
            write_frame(sys.stdout.buffer, answer)
            del raw, answer
            return_freed_memory()


def _end_after(seconds: float) -> None:
    """End this process then, also if the server that would do it has been killed; 0 is never."""
    with suppress(AttributeError, OSError):  # not on Windows, nor after some hundred years
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(raw: bytes, *, language: str, edits: list[dict[str, Any]] | None = None, **asked: Any) -> bytes:
    with speaking(language):
        try:
            return DONE + (_read(raw, **asked) if edits is None else _corrected(raw, edits, **asked))
        except ApiError as error:
            return REFUSED + json.dumps([error.status, error.sentence]).encode()
        except MemoryError:
            sys.exit()  # the server takes this for an answer
        except Exception as failure:
            return FAILED + places(failure).encode()


def _read(raw: bytes, **asked: Any) -> bytes:
    document = _open(raw, **asked)
    passages = [(passage.spans, passage.seams) for passage in document.passages]
    places = list(_places(document)) if isinstance(document, OfficeDocument) else []
    tracks_changes, of_others = isinstance(document, DocxDocument), words_of_others(document)
    return json.dumps((document.text, tracks_changes, passages, places, of_others)).encode()


def _places(document: OfficeDocument) -> Iterator[PlacedPassage]:
    """Where the passages outside the running text are, in order."""
    for passage in document.passages:
        start, stop = passage.spans[0].start, passage.spans[-1].stop
        place = document.place_of(start)
        if place.region.steps:
            yield PlacedPassage(start, stop, place.region.label, place.label)


def _corrected(raw: bytes, edits: list[dict[str, Any]], *, track: bool, **asked: Any) -> bytes:
    document = _open(raw, **asked)
    if document.is_signed:
        raise ApiError(
            422,
            _(
                "{name} has a digital signature, which a correction would make invalid; "
                "remove the signature and send the document again."
            ).format(name=document.name),
        )
    accepted = [
        Edit(**{**edit, "reason": Reason(edit["reason"])}, probability=1.0, alternatives=()) for edit in edits
    ]
    try:
        content = document.with_edits(list(_in_the_prose_of(document, accepted)), track=track)
    except InputError as error:
        raise ApiError(422, str(error)) from None
    left = document.untracked(accepted) if track and isinstance(document, DocxDocument) else []
    return CorrectedDocument(content, [accepted.index(edit) + 1 for edit in left]).to_bytes()


def _open(raw: bytes, *, name: str, most_characters: int, most_unpacked: int) -> Document:
    """The document, in one of the formats that can be read and within the server's limits."""
    if (
        not _is_small_archive(raw, name, most_unpacked)
        and len(raw) > _MOST_BYTES_A_CHARACTER * most_characters
    ):
        raise errors.too_long(len(raw) // _MOST_BYTES_A_CHARACTER, most_characters)
    try:
        document = from_bytes(name, raw)
    except InputError as error:
        raise ApiError(422, str(error)) from None
    if len(document.text) > most_characters:
        raise errors.too_long(len(document.text), most_characters)
    return document


def _is_small_archive(raw: bytes, name: str, limit: int) -> bool:
    """Whether it is an archive; one that unpacks to too much is an error."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OverflowError):
        return False
    if size > limit:
        raise ApiError(
            413,
            _("{file} unpacks to {size} bytes; this server takes at most {limit}.").format(
                file=name, size=size, limit=limit
            ),
        )
    return True


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (_LARGEST_MEMORY, _LARGEST_MEMORY))


def _passage(text: str, spans: list[list[int]], seams: list[int]) -> Passage:
    prose_spans = tuple(ProseSpan(start, stop) for start, stop in spans)
    return Passage("".join(text[start:stop] for start, stop in prose_spans), prose_spans, tuple(seams))


def _in_the_prose_of(document: Document, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits, each of which must lie in the prose of the document and find its source there."""
    spans = sorted(span for passage in document.passages for span in passage.spans)
    starts = [span.start for span in spans]
    end = 0
    for number, edit in enumerate(edits, start=1):
        stop = edit.offset + edit.length
        if edit.offset < end:
            raise _wrong_edit(number, _("it is not after the one before it"))
        first, last = (
            bisect_right(starts, edit.offset) - 1,
            bisect_left(starts, max(stop, edit.offset + 1)) - 1,
        )
        is_outside = first < 0 or edit.offset + (edit.length > 0) > spans[first].stop
        if is_outside or stop > spans[last].stop:
            raise _wrong_edit(number, _("it is not in the prose of the document"))
        if document.text[edit.offset : stop] != edit.source:
            raise _wrong_edit(number, _("the document has another text there"))
        for before, after in pairwise(spans[first : last + 1]):
            if _is_more_than_markup(document.text[before.stop : after.start]):
                raise _wrong_edit(number, _("it is not in the prose of the document"))
        end = stop
        yield from _around_markup(edit, spans[first : last + 1])


def _is_more_than_markup(text: str) -> bool:
    return "\n" in text or any(map(str.isalnum, text))


def _around_markup(edit: Edit, spans: Sequence[ProseSpan]) -> Iterator[Edit]:
    """The edit in each of the spans that it covers; if lengths differ, the first one takes the target."""
    stop = edit.offset + edit.length
    places = [(max(edit.offset, span.start), min(stop, span.stop)) for span in spans]
    same_length = sum(stop - start for start, stop in places) == len(edit.target)
    target = edit.target
    for start, stop in places:
        own = target[: stop - start] if same_length else target
        target = target[len(own) :]
        source = edit.source[start - edit.offset : stop - edit.offset]
        yield replace(edit, offset=start, length=stop - start, source=source, target=own)


def _wrong_edit(number: int, problem: str) -> ApiError:
    return ApiError(
        422,
        _("Edit {number} cannot be applied: {problem}. Check the file again.").format(
            number=number, problem=problem
        ),
    )
