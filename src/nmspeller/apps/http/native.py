"""`POST /v1/check`: the speller's own protocol."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints
from starlette.responses import Response, StreamingResponse

from nmspeller.apps.http.access import require_key
from nmspeller.apps.http.answers import Json, line
from nmspeller.apps.http.batching import CheckOptions
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.service import CheckedPart, ClientGone, Service
from nmspeller.runtime.correction import Correction, Edit, Reason

STREAM = "application/x-ndjson"

Word = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Level = Literal["careful", "balanced", "thorough"]


class CheckRequest(BaseModel):
    """What to check, and how."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"text": "我今天很高心。", "level": "balanced", "words": ["高心集团"]}]
        },
    )
    text: str | list[str] = Field(description="A text, or several; each is checked on its own.")
    level: Level | None = Field(
        None, description="`careful` changes least, `thorough` finds most; without it, the server's own."
    )
    words: list[Word] = Field(
        [], max_length=2_000, description="Names and terms that must not be changed, in this request only."
    )
    stream: StrictBool = Field(
        False,
        description="Answer part by part, one JSON object a line; so does `Accept: application/x-ndjson`.",
    )


class EditAnswer(BaseModel):
    """Replace `length` characters at `offset` of the text that was sent by `target`."""

    offset: int = Field(description="In code points, from 0.")
    length: int = Field(description="In code points.")
    source: str = Field(description="The text that is replaced.")
    target: str = Field(description="The replacement.")
    probability: float = Field(ge=0, le=1, description="The model's probability of `target`.")
    confidence: float = Field(ge=0, le=1, description="What the levels test; filter edits by this.")
    alternatives: list[str] = Field(description="Other possibilities, the likeliest first.")
    reason: Literal[tuple(reason.value for reason in Reason)]  # type: ignore[valid-type]


class CheckedText(BaseModel):
    """A checked text: the edits in order, none overlapping, and the text with all of them applied."""

    text: str
    edits: list[EditAnswer]


class CheckAnswer(BaseModel):
    """`results[i]` belongs to the i-th text."""

    results: list[CheckedText]


class ErrorAnswer(BaseModel):
    """One sentence that says what to do."""

    error: str


ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorAnswer, "description": description}
    for status, description in {
        400: "The request cannot be read",
        401: "The API key is missing or wrong",
        408: "The body did not arrive in time",
        413: "The text or the body is too long",
        422: "Something in the request is wrong",
        429: "The request would wait too long; try again after Retry-After seconds",
        503: "The time was over, the engine failed, or there are too many requests; see Retry-After",
    }.items()
}

router = APIRouter(prefix="/v1", tags=["native"], dependencies=[Depends(require_key)])


@router.post(
    "/check",
    summary="Check texts",
    response_model=CheckAnswer,
    responses={
        200: {
            "description": "The edits; streamed, one object a line: `text` (which one), `start` and `stop` "
            "of the part, its `edits` with offsets into the whole text, and at the end `done`.",
            "content": {STREAM: {"schema": {"type": "string"}}},
        },
        **ERRORS,
    },
)
async def check(asked: CheckRequest, request: Request) -> Response:
    """Find spelling errors in Chinese text. Offsets count code points of the text as it was sent.

    A long document is best streamed: its paragraphs are checked, and answered, one after the other.
    """
    service: Service = request.app.state.service
    texts = [asked.text] if isinstance(asked.text, str) else asked.text
    if len(texts) > service.settings.max_texts:
        raise ApiError(413, f"This server takes at most {service.settings.max_texts} texts in one request.")
    options = CheckOptions(asked.level, tuple(asked.words))
    if asked.stream or STREAM in request.headers.get("accept", ""):
        return await _stream(service, request, texts, options)
    corrections = await service.check(request, texts, options)
    return Json({"results": [_checked_text(correction) for correction in corrections]})


async def _stream(service: Service, request: Request, texts: list[str], options: CheckOptions) -> Response:
    parts = service.check_in_parts(request, texts, options)
    # An error before the first part decides the status; after it the status has been sent.
    first = await anext(parts, None)

    async def lines() -> AsyncIterator[bytes]:
        edits = 0
        try:
            if first is not None:
                yield _part_line(first)
                edits += len(first.edits)
            async for part in parts:
                yield _part_line(part)
                edits += len(part.edits)
        except ApiError as error:
            yield line({"error": error.sentence}) + b"\n"
        except ClientGone:
            pass
        else:
            yield line({"done": True, "edits": edits}) + b"\n"

    return StreamingResponse(lines(), media_type=STREAM)


def _part_line(part: CheckedPart) -> bytes:
    answer = {
        "text": part.number,
        "start": part.start,
        "stop": part.stop,
        "edits": [edit_answer(edit) for edit in part.edits],
    }
    return line(answer) + b"\n"


def _checked_text(correction: Correction) -> dict[str, object]:
    return {"text": correction.text, "edits": [edit_answer(edit) for edit in correction.edits]}


def edit_answer(edit: Edit) -> dict[str, object]:
    return {
        "offset": edit.offset,
        "length": edit.length,
        "source": edit.source,
        "target": edit.target,
        "probability": round(float(edit.probability), 4),
        "confidence": round(float(edit.confidence), 4),
        "alternatives": list(edit.alternatives),
        "reason": edit.reason.value,
    }
