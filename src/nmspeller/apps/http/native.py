"""`/v1`: the speller's own protocol."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints
from starlette.responses import Response, StreamingResponse

from nmspeller.apps.http import errors
from nmspeller.apps.http.access import require_key
from nmspeller.apps.http.answers import Json, line
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.service import Service
from nmspeller.apps.http.text_checks import CheckOptions
from nmspeller.apps.http.waiting import ClientGone
from nmspeller.messages import _
from nmspeller.runtime.analysis import CheckedPart
from nmspeller.runtime.correction import Correction
from nmspeller.runtime.findings import Edit, Hint, Reason
from nmspeller.runtime.policy import Level
from nmspeller.runtime.rules import RULES, Group
from nmspeller.runtime.why import why

STREAM = "application/x-ndjson"

Word = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Target = Annotated[str, StringConstraints(max_length=64)]
_RULES_AND_GROUPS = (*(group.value for group in Group), *RULES)


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
        None, description="`careful` changes least, `thorough` finds most; by default, the server's setting."
    )
    words: list[Word] = Field(
        [], max_length=2_000, description="Names and terms that must not be changed, in this request only."
    )
    replacements: dict[Word, Target] = Field(
        {},
        max_length=2_000,
        description="Texts that are always replaced, in this request only: what is wrong, and what is right.",
    )
    rules: StrictBool | list[Literal[_RULES_AND_GROUPS]] | None = Field(  # type: ignore[valid-type]
        None,
        description="Rules in addition to the model: a list of ids and groups (`GET /v1/rules`), `true` for "
        "all precise ones, `false` for none; by default, the server's setting.",
    )
    model: StrictBool = Field(
        True,
        description="`false` applies only the rules and replacements, which is fast.",
    )
    explain: StrictBool = Field(
        False, description="Explain each edit and hint in a sentence, in the language of `Accept-Language`."
    )
    stream: StrictBool = Field(
        False,
        description="Answer in parts, one JSON object per line; so does `Accept: application/x-ndjson`.",
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
    rule: str | None = Field(description="The id of the rule, where `reason` is `rule`.")
    label: str | None = Field(None, description="The reason in a word or two, where `explain` was set.")
    why: str | None = Field(None, description="One sentence, where `explain` was set.")


class HintAnswer(BaseModel):
    """`length` characters at `offset` may be wrong; only a person can say. They are clear of the edits."""

    offset: int = Field(description="In code points, from 0.")
    length: int = Field(description="In code points.")
    source: str = Field(description="The text that is doubtful.")
    rule: str = Field(description="The id of the rule.")
    note: str | None = Field(description="What the rule found here, in the language of `Accept-Language`.")
    label: str | None = Field(None, description="The reason in a word or two, where `explain` was set.")
    why: str | None = Field(None, description="One sentence, where `explain` was set.")


class CheckedText(BaseModel):
    """A checked text: the edits in order, none overlapping, and the text with all of them applied."""

    text: str
    edits: list[EditAnswer]
    hints: list[HintAnswer]


class CheckAnswer(BaseModel):
    """`results[i]` belongs to the i-th text."""

    results: list[CheckedText]


class RuleAnswer(BaseModel):
    """A rule, in the language of `Accept-Language`."""

    id: str
    name: str
    explanation: str
    on_by_default: bool
    is_precise: bool
    group: str
    example: list[str | None] = Field(
        description="A text that it finds something in, and what it makes of it."
    )


class RulesAnswer(BaseModel):
    """Every rule that there is."""

    rules: list[RuleAnswer]


class ErrorAnswer(BaseModel):
    """One sentence that says what to do."""

    error: str


ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorAnswer, "description": description}
    for status, description in {
        400: "The request cannot be read",
        401: "The API key is missing or wrong",
        403: "A page of another site asks, or another host name was asked",
        408: "The body did not arrive in time",
        413: "The text or the body is too long",
        422: "Something in the request is wrong",
        429: "The request would wait too long; try again after Retry-After seconds",
        503: "The time was over, the engine failed, or there are too many requests; see Retry-After",
    }.items()
}

_ERRORS_OF_A_QUESTION: dict[int | str, dict[str, object]] = {
    status: ERRORS[status] for status in (400, 401, 403, 408, 413, 503)
}

router = APIRouter(prefix="/v1", tags=["native"], dependencies=[Depends(require_key)])


@router.post(
    "/check",
    summary="Check texts",
    response_model=CheckAnswer,
    responses={
        200: {
            "description": "The edits; streamed, one object a line: `text` (which one), `start` and `stop` "
            "of the part, its `edits` and `hints` with offsets into the whole text, and at the end `done`.",
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
        raise errors.too_many_texts(service.settings.max_texts)
    options = wanted(asked, service)
    if wants_stream(asked, request):
        return await _stream(service.check_in_parts(request, texts, options), texts, asked.explain)
    corrections = await service.check(request, texts, options)

    def answer() -> Response:
        return Json({"results": [_checked_text(correction, asked.explain) for correction in corrections]})

    size = sum(map(len, texts)) + len(texts)
    return await service.threads.unless_short(client_of(request.scope), size, answer)


@router.get(
    "/rules", summary="The rules that there are", response_model=RulesAnswer, responses=_ERRORS_OF_A_QUESTION
)
async def list_rules() -> Response:
    """Each rule's id, for `rules` of a check, its name and what it means."""
    described = [
        {
            "id": rule.id,
            "name": _(rule.name),
            "explanation": _(rule.explanation),
            "on_by_default": rule.on_by_default,
            "is_precise": rule.is_precise,
            "group": rule.group.value,
            "example": [rule.example.wrong, rule.example.right],
        }
        for rule in RULES.values()
    ]
    return Json({"rules": described})


def wanted(asked: CheckRequest, service: Service, *, one_document: bool = False) -> CheckOptions:
    """How a request wants its texts to be checked; what it leaves out is the server's choice."""
    chosen = service.settings.rules if asked.rules is None else asked.rules
    return CheckOptions(
        asked.level,
        words=tuple(asked.words),
        replacements=tuple(asked.replacements.items()),
        rules=chosen if isinstance(chosen, bool) else tuple(chosen),
        one_document=one_document,
        reasons=frozenset(Reason) if asked.model else frozenset({Reason.USER_LIST}),
    )


def wants_stream(asked: CheckRequest, request: Request) -> bool:
    """Whether to answer part by part."""
    return asked.stream or STREAM in request.headers.get("accept", "")


async def _stream(parts: AsyncIterator[CheckedPart], texts: list[str], explain: bool) -> Response:
    # An error before the first part decides the status; after it the status has been sent.
    first = await anext(parts, None)

    async def lines() -> AsyncIterator[bytes]:
        edits = 0
        try:
            part = first
            while part is not None:
                yield await asyncio.to_thread(_part_line, part, texts[part.number], explain)
                edits += len(part.edits)
                part = await anext(parts, None)
        except ApiError as error:
            yield line({"error": error.sentence}) + b"\n"
        except ClientGone:
            pass
        else:
            yield line({"done": True, "edits": edits}) + b"\n"

    return StreamingResponse(lines(), media_type=STREAM)


def _part_line(part: CheckedPart, text: str, explain: bool) -> bytes:
    answer = {
        "text": part.number,
        "start": part.start,
        "stop": part.stop,
        "edits": [edit_answer(text, edit, explain) for edit in part.edits],
        "hints": [hint_answer(hint, explain) for hint in part.hints],
    }
    return line(answer) + b"\n"


def _checked_text(correction: Correction, explain: bool) -> dict[str, object]:
    return {
        "text": correction.text,
        "edits": [edit_answer(correction.source, edit, explain) for edit in correction.edits],
        "hints": [hint_answer(hint, explain) for hint in correction.hints],
    }


def edit_answer(text: str, edit: Edit, explain: bool) -> dict[str, object]:
    """An edit of the text as it is answered."""
    return {
        "offset": edit.offset,
        "length": edit.length,
        "source": edit.source,
        "target": edit.target,
        "probability": round(float(edit.probability), 4),
        "confidence": round(float(edit.confidence), 4),
        "alternatives": list(edit.alternatives),
        "reason": edit.reason.value,
        "rule": edit.rule,
        **({"label": edit.reason.label, "why": why(text, edit)} if explain else {}),
    }


def hint_answer(hint: Hint, explain: bool) -> dict[str, object]:
    """A hint as it is answered."""
    explained = {"label": Reason.RULE.label, "why": hint.explanation} if explain else {}
    return {**asdict(hint), **explained}
