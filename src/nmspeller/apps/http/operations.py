"""For those who run the server: health, readiness, figures."""

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from nmspeller.apps.http.access import require_key
from nmspeller.apps.http.connections import MOST_CONNECTIONS
from nmspeller.apps.http.native import ERRORS
from nmspeller.apps.http.service import Service
from nmspeller.messages import _

router = APIRouter(tags=["operations"])

_NEARLY = 0.9

_FAILS: dict[int | str, dict[str, object]] = {503: {"description": "One sentence that says why not"}}


@router.get("/healthz", summary="Does the engine work?", response_class=PlainTextResponse, responses=_FAILS)
async def healthz(request: Request) -> Response:
    """Fails when the engine does: its thread has died, it hangs, or it cannot check a short sentence."""
    service: Service = request.app.state.service
    if await service.healthy():
        return PlainTextResponse("OK")
    return PlainTextResponse(_("The engine does not answer; restart the server."), 503)


@router.get("/readyz", summary="Should it get requests?", response_class=PlainTextResponse, responses=_FAILS)
async def readyz(request: Request) -> Response:
    """Fails while the server stops and while it could not take a request, or hardly."""
    service: Service = request.app.state.service
    if service.stopping:
        return PlainTextResponse(_("The server is stopping."), 503)
    most_tokens, most_requests = _NEARLY * service.settings.queue_tokens, _NEARLY * MOST_CONNECTIONS
    if service.queue.waiting_tokens > most_tokens or service.in_hand.total() > most_requests:
        return PlainTextResponse(_("The queue is full."), 503)
    return await healthz(request)


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=PlainTextResponse,
    dependencies=[Depends(require_key)],
    responses={
        401: {"description": ERRORS[401]["description"], "content": {"application/json": {}}},
    },
)
async def metrics(request: Request) -> Response:
    """Requests, seconds, characters, edits by reason, batches, queue; never a text."""
    service: Service = request.app.state.service
    service.metrics.waiting.set(service.queue.waiting_tokens)
    return Response(service.metrics.page(), media_type=CONTENT_TYPE_LATEST)
