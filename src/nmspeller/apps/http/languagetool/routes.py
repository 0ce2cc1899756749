"""The addresses that LanguageTool's clients ask, with `/v2` and without: clients differ."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from nmspeller import __version__
from nmspeller.apps.http import errors
from nmspeller.apps.http.access import bearer_key, is_right_key
from nmspeller.apps.http.answers import Json
from nmspeller.apps.http.clients import client_of
from nmspeller.apps.http.languagetool import languages
from nmspeller.apps.http.languagetool.matches import matches, sentence_ranges
from nmspeller.apps.http.languagetool.openapi import (
    CHECK_PARAMETERS,
    CHECK_REQUEST_BODY,
    PLAIN_ERRORS,
    CheckResult,
)
from nmspeller.apps.http.languagetool.parameters import Asked, parse, read_fields
from nmspeller.apps.http.operations import healthz
from nmspeller.apps.http.service import Service
from nmspeller.apps.http.text_checks import CheckOptions
from nmspeller.messages import speaking
from nmspeller.runtime.correction import Correction

_SOFTWARE = {
    "name": "nmspeller",
    "version": __version__,
    "buildDate": "",
    "apiVersion": 1,
    "premium": False,
    "status": "",
}

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Response]])

router = APIRouter(tags=["LanguageTool"])


def _address(method: str, path: str, **described: Any) -> Callable[[Handler], Handler]:
    """Serve a path with the prefix, described in the OpenAPI document, and silently without it."""

    def register(handler: Handler) -> Handler:
        router.add_api_route(f"/v2{path}", handler, methods=[method], **described)
        router.add_api_route(path, handler, methods=[method], include_in_schema=False)
        return handler

    return register


@_address(
    "GET",
    "/check",
    summary="Check a text (LanguageTool)",
    response_model=CheckResult,
    responses=PLAIN_ERRORS,
    openapi_extra={"parameters": CHECK_PARAMETERS},
    operation_id="languagetool_check_get",
)
@_address(
    "POST",
    "/check",
    summary="Check a text (LanguageTool)",
    response_model=CheckResult,
    responses=PLAIN_ERRORS,
    openapi_extra={"requestBody": CHECK_REQUEST_BODY},
    operation_id="languagetool_check_post",
)
async def check(request: Request) -> Response:
    """LanguageTool's check: a form with `text` or `data`; offsets in the answer count UTF-16 units."""
    service: Service = request.app.state.service
    fields = await read_fields(request)
    if not is_right_key(service.settings, bearer_key(request.headers) or fields.get("apiKey")):
        raise errors.wrong_key()
    asked = parse(fields)
    plain = asked.text.plain
    correction = Correction(plain, plain, ())
    if asked.wants_spelling:
        selection = asked.selection
        options = CheckOptions(asked.level, rules=selection.rules, reasons=selection.reasons)
        [correction] = await service.check(request, [plain], options)
    answer = partial(_answer, asked, correction)
    return await service.threads.unless_short(client_of(request.scope), len(plain), answer)


def _answer(asked: Asked, correction: Correction) -> Response:
    plain = asked.text.plain
    detected = languages.detected(plain, asked.language)
    language = asked.language or detected
    with speaking("zh"):  # a match is in the language of the text
        found = matches(asked.text, correction, asked.selection)
    return Json(
        {
            "software": _SOFTWARE,
            "warnings": {"incompleteResults": False},
            "language": {
                "name": language.name,
                "code": language.code,
                "detectedLanguage": {
                    "name": detected.name,
                    "code": detected.code,
                    "confidence": languages.confidence(plain),
                    "source": "script",
                },
            },
            "matches": found,
            "sentenceRanges": sentence_ranges(asked.text),
        }
    )


@_address("GET", "/languages", summary="The languages that can be checked (LanguageTool)")
async def list_languages() -> Response:
    """Chinese, in the variants that clients name."""
    return Json(languages.listed())


@_address("GET", "/info", summary="What this server is (LanguageTool)")
async def info() -> Response:
    """Name and version."""
    return Json({"software": _SOFTWARE})


@_address(
    "GET",
    "/maxtextlength",
    summary="How long a text may be (LanguageTool)",
    response_class=PlainTextResponse,
)
async def longest_text(request: Request) -> Response:
    """A number of characters."""
    return PlainTextResponse(str(request.app.state.service.settings.longest_text))


@_address(
    "GET", "/healthcheck", summary="Does the engine work? (LanguageTool)", response_class=PlainTextResponse
)
async def healthcheck(request: Request) -> Response:
    """`OK`, or 503 with a sentence."""
    return await healthz(request)
