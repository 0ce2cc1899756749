"""`POST /v1/files`: check a document, and write the edits that its reader accepts into it.

The server keeps nothing: who wants the corrected file sends the file again, with the accepted edits.
"""

import asyncio
import json
import mimetypes
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import PureWindowsPath
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field, StrictInt, TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response, StreamingResponse

from nmspeller.apps.documents.prose import Passage
from nmspeller.apps.http import errors
from nmspeller.apps.http.access import require_key
from nmspeller.apps.http.answers import Json, line
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.native import (
    ERRORS,
    STREAM,
    CheckRequest,
    EditAnswer,
    HintAnswer,
    edit_answer,
    hint_answer,
    wanted,
    wants_stream,
)
from nmspeller.apps.http.service import Service
from nmspeller.apps.http.uploads import CorrectedDocument, ReadDocument
from nmspeller.apps.http.waiting import ClientGone
from nmspeller.messages import _
from nmspeller.runtime.analysis import CheckedPart
from nmspeller.runtime.findings import Edit, Hint, Reason

LEFT_OUT = "Nmspeller-Left-Out"
"""The header with the numbers of the accepted edits that are not in the file."""

_MOST_FIELDS = 4_000
# An archive that unpacks to more than so many times the largest body is no document that someone wrote.
_MOST_UNPACKED = 16
_BOOLEANS = {"true": True, "false": False}


class AcceptedEdit(BaseModel):
    """Replace `source`, which is at `offset` of the document's text, by `target`."""

    offset: StrictInt = Field(ge=0, description="In code points of the text that was checked.")
    length: StrictInt = Field(ge=0, description="In code points.")
    source: str = Field(description="The text that is replaced; it must be there.")
    target: str = Field(description="The replacement.")
    reason: Reason = Field(Reason.CONTEXT, description="As it was answered; tracked changes explain it.")
    rule: str | None = Field(None, description="As it was answered.")


class PlaceAnswer(BaseModel):
    """The text from `start` to `stop` is no running text, in the language of `Accept-Language`."""

    start: int = Field(description="In code points, from 0.")
    stop: int = Field(description="In code points.")
    region: str = Field(description="What stands apart there: a table, a header, a note, a slide, a sheet.")
    label: str = Field(description="Where exactly: the row and the cell, too.")


_BY_ANOTHER = Field(
    description="Whether it is in a comment or a tracked insertion of another person, "
    "which is theirs to change."
)


class FileEditAnswer(EditAnswer):
    """Replace `length` characters at `offset` of the document's text by `target`."""

    by_another: bool = _BY_ANOTHER


class FileHintAnswer(HintAnswer):
    """`length` characters at `offset` of the document's text may be wrong; only a person can say."""

    by_another: bool = _BY_ANOTHER


class CheckedFile(BaseModel):
    """A checked document."""

    source: str = Field(description="The document's text as it was read; offsets count its code points.")
    tracks_changes: bool = Field(description="Whether it can be written with tracked changes.")
    places: list[PlaceAnswer] = Field(description="Of Office documents: what is not running text, in order.")
    edits: list[FileEditAnswer]
    hints: list[FileHintAnswer]


def _form(required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    """A multipart form with a file for the OpenAPI document."""
    file = {
        "type": "string",
        "format": "binary",
        "description": "The document; its name tells the format: .docx, .odt, .pptx, .md, .txt and others.",
    }
    schema = {
        "type": "object",
        "required": ["file", *required],
        "properties": {"file": file, **properties},
    }
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


_CHECK_FIELDS = {
    name: described
    for name, described in CheckRequest.model_json_schema()["properties"].items()
    if name != "text"
}
_CORRECT_FIELDS: dict[str, Any] = {
    "edits": {
        "type": "string",
        "contentMediaType": "application/json",
        "description": "A JSON list of the accepted edits: `offset`, `length`, `source`, `target`, and "
        "`reason` and `rule` as they were answered.",
    },
    "track": {
        "type": "boolean",
        "default": False,
        "description": "Write the edits as tracked changes, which Word documents can have, but not in "
        "comments.",
    },
}

router = APIRouter(prefix="/v1", tags=["native"], dependencies=[Depends(require_key)])


@router.post(
    "/files",
    summary="Check a document",
    response_model=CheckedFile,
    responses={
        200: {
            "description": "The text and the edits; streamed, one object a line: first `source`, "
            "`tracks_changes` and `places`, then `start`, `stop`, `edits` and `hints` of each part, at the "
            "end `done`.",
            "content": {STREAM: {"schema": {"type": "string"}}},
        },
        **ERRORS,
    },
    openapi_extra=_form([], _CHECK_FIELDS),
)
async def check_file(request: Request) -> Response:
    """Find spelling errors in the prose of a document: Office formats, Markdown, LaTeX, HTML, subtitles …

    Other fields are those of `/v1/check`; `words` and the ids of `rules` are repeated for each, and
    `replacements` is a JSON object.
    """
    service: Service = request.app.state.service
    form = await _read_form(request)
    asked = _asked(form)
    _name, content = await _in_process(request, form)
    document = ReadDocument.from_json(content)
    texts = [passage.text for passage in document.passages]
    options = wanted(asked, service, one_document=True)
    if wants_stream(asked, request):
        return await _stream(document, service.check_in_parts(request, texts, options), asked.explain)
    corrections = await service.check(request, texts, options)

    def answer() -> Response:
        return Json(
            {
                **_described(document),
                "edits": [
                    edit
                    for passage, correction in zip(document.passages, corrections, strict=True)
                    for edit in _edits(document, passage, correction.edits, asked.explain)
                ],
                "hints": [
                    hint
                    for passage, correction in zip(document.passages, corrections, strict=True)
                    for hint in _hints(document, passage, correction.hints, asked.explain)
                ],
            }
        )

    return await asyncio.to_thread(answer)


@router.post(
    "/files/corrected",
    summary="Correct a document",
    response_class=Response,
    responses={
        200: {
            "description": "The file; nothing but the accepted edits differs.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            "headers": {
                LEFT_OUT: {
                    "schema": {"type": "string"},
                    "description": "The numbers, from 1, of the edits that are not in the file because they "
                    "are in comments, where changes cannot be tracked; without `track` they are.",
                }
            },
        },
        **ERRORS,
    },
    openapi_extra=_form(["edits"], _CORRECT_FIELDS),
)
async def correct_file(request: Request) -> Response:
    """Write the accepted edits, exactly these, into the document that was checked."""
    form = await _read_form(request)
    accepted = _accepted(form)
    track = _boolean("track", form.get("track", "false"))

    name, answer = await _in_process(request, form, edits=accepted, track=track)
    document = CorrectedDocument.from_bytes(answer)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    # Not the declared charset of a text: the file has the encoding that it had.
    headers = {"Content-Type": kind, "Content-Disposition": disposition}
    if document.left_out:
        headers[LEFT_OUT] = ", ".join(map(str, document.left_out))
    return Response(document.content, headers=headers)


class _InMemory(MultiPartParser):
    """Never writes a large file to the disk; the body, which is limited, is in memory anyway."""

    spool_max_size = sys.maxsize


async def _read_form(request: Request) -> FormData:
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ApiError(422, _("Send the file as `multipart/form-data`, in the field `file`."))
    largest = request.app.state.service.settings.largest_body
    parser = _InMemory(
        request.headers, request.stream(), max_files=1, max_fields=_MOST_FIELDS, max_part_size=largest
    )
    try:
        return await parser.parse()
    except (MultiPartException, HTTPException, KeyError, ValueError):
        raise ApiError(400, _("The multipart form cannot be read.")) from None


def _asked(form: FormData) -> CheckRequest:
    """The fields of a form as those of a request for a text."""
    values: dict[str, object] = {"text": ""}
    for name, value in form.multi_items():
        if name == "file":
            continue
        # `rules` is true, false, or repeated for each id.
        if name == "words" or (name == "rules" and value not in _BOOLEANS):
            values[name] = form.getlist(name)
        elif name == "replacements":
            values[name] = _from_json(name, value)
        else:
            values[name] = _BOOLEANS.get(str(value), value)
    try:
        return CheckRequest.model_validate(values)
    except ValidationError as error:
        raise errors.invalid(list(error.errors())) from None


def _from_json(name: str, value: object) -> object:
    try:
        return json.loads(str(value))
    except (ValueError, RecursionError):
        raise ApiError(422, _("Send `{field}` as JSON.").format(field=name)) from None


def _boolean(name: str, value: object) -> bool:
    if value not in _BOOLEANS:
        raise ApiError(422, _("{field} must be true or false.").format(field=name))
    return _BOOLEANS[str(value)]


def _accepted(form: FormData) -> list[dict[str, Any]]:
    given = _from_json("edits", form.get("edits"))
    try:
        accepted = TypeAdapter(list[AcceptedEdit]).validate_python(given)
    except ValidationError as error:
        raise errors.invalid([{**one, "loc": ("edits", *one["loc"])} for one in error.errors()]) from None
    return [edit.model_dump(mode="json") for edit in accepted]


async def _in_process(request: Request, form: FormData, **asked: Any) -> tuple[str, bytes]:
    """The name of the uploaded document, and what `uploads` answers about it."""
    service: Service = request.app.state.service
    file = form.get("file")
    name = PureWindowsPath(file.filename or "").name if isinstance(file, UploadFile) else ""
    if not isinstance(file, UploadFile) or not name:
        raise ApiError(422, _("Send the document in the field `file`, with its name."))
    limits = {
        "most_characters": service.settings.longest_text,
        "most_unpacked": _MOST_UNPACKED * service.settings.largest_body,
    }
    return name, await service.in_process(request, file.file.read(), name=name, **limits, **asked)


def _described(document: ReadDocument) -> dict[str, object]:
    return {
        "source": document.text,
        "tracks_changes": document.tracks_changes,
        "places": [place._asdict() for place in document.places],
    }


async def _stream(document: ReadDocument, parts: AsyncIterator[CheckedPart], explain: bool) -> Response:
    # An error before the first part decides the status; after it the status has been sent.
    first = await anext(parts, None)

    async def lines() -> AsyncIterator[bytes]:
        edits = 0
        yield line(_described(document)) + b"\n"
        try:
            part = first
            while part is not None:
                answer = await asyncio.to_thread(_part, document, part, explain)
                edits += len(answer["edits"])
                yield line(answer) + b"\n"
                part = await anext(parts, None)
        except ApiError as error:
            yield line({"error": error.sentence}) + b"\n"
        except ClientGone:
            pass
        else:
            yield line({"done": True, "edits": edits}) + b"\n"

    return StreamingResponse(lines(), media_type=STREAM)


def _part(document: ReadDocument, part: CheckedPart, explain: bool) -> dict[str, Any]:
    passage = document.passages[part.number]
    start, stop = passage.place(part.start, part.stop)
    return {
        "start": start,
        "stop": stop,
        "edits": [*_edits(document, passage, part.edits, explain)],
        "hints": [*_hints(document, passage, part.hints, explain)],
    }


def _edits(
    document: ReadDocument, passage: Passage, edits: Iterable[Edit], explain: bool
) -> Iterator[dict[str, object]]:
    """The edits of a passage, as edits of the document; the passage, which has no markup, explains them."""
    for edit in edits:
        explained = edit_answer(passage.text, edit, explain)
        for placed in passage.in_document([edit]):
            by_another = document.of_others.has(placed.offset, placed.length)
            yield {**explained, **edit_answer(document.text, placed, False), "by_another": by_another}


def _hints(
    document: ReadDocument, passage: Passage, hints: Iterable[Hint], explain: bool
) -> Iterator[dict[str, object]]:
    """The hints of a passage, as hints of the document."""
    for hint in passage.hints_in_document(document.text, hints):
        by_another = document.of_others.has(hint.offset, hint.length)
        yield {**hint_answer(hint, explain), "by_another": by_another}
