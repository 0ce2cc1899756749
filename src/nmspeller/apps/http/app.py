"""The application: routes and limits around one engine."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from nmspeller import __version__
from nmspeller.apps.http import errors, files, logs, native, operations, page, words
from nmspeller.apps.http.access import KeyCheck
from nmspeller.apps.http.answers import error_response
from nmspeller.apps.http.body_limit import BodyLimit
from nmspeller.apps.http.connections import MOST_CONNECTIONS, Connections
from nmspeller.apps.http.description import describe
from nmspeller.apps.http.errors import ApiError
from nmspeller.apps.http.languagetool import routes as languagetool
from nmspeller.apps.http.middleware import Failures, HeadAsGet, Spoken
from nmspeller.apps.http.observed import Observed
from nmspeller.apps.http.origins import ADD_ON, OriginCheck
from nmspeller.apps.http.request_limit import RequestLimit
from nmspeller.apps.http.service import Service
from nmspeller.apps.http.settings import Settings
from nmspeller.apps.http.waiting import ClientGone
from nmspeller.apps.http.workers import unblock_sighup
from nmspeller.runtime.checker import Checker

_DESCRIPTION = """\
A Chinese spell checker that understands context.

`POST /v1/check` is the speller's own protocol; its offsets count code points. `/v2/check` speaks
LanguageTool's, whose offsets count UTF-16 units, so that every LanguageTool client works: give it this
server's address.

An error is a status and one sentence. 429 and 503 come with `Retry-After`: try again after that many seconds.
"""

_PROXIES = "FORWARDED_ALLOW_IPS"  # by uvicorn: the addresses whose `X-Forwarded-For` is believed
_ROUTERS = (native.router, words.router, files.router, languagetool.router, operations.router, page.router)


def create_app(settings: Settings, load_checker: Callable[[], Checker]) -> FastAPI:
    """A server of the engine that `load_checker` makes; it is called once now and again to reload words."""
    service = Service(settings, load_checker)
    connections = Connections(settings.time_limit)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        await service.warm_up()
        loop = asyncio.get_running_loop()
        sweeping = asyncio.ensure_future(connections.sweep_for_ever())
        # Signals can only be handled in a process's main thread, and there is no SIGHUP on Windows.
        with suppress(ValueError, RuntimeError, AttributeError):
            loop.add_signal_handler(signal.SIGHUP, service.reloading.ask)
            unblock_sighup()
        logs.event("started", version=__version__, model=service.checker.model_hash)
        yield
        sweeping.cancel()
        await asyncio.to_thread(service.stop)

    middleware = [
        Middleware(HeadAsGet),
        Middleware(Observed, service=service, connections=connections),
        Middleware(ProxyHeadersMiddleware, trusted_hosts=os.environ.get(_PROXIES, "127.0.0.1")),
        Middleware(Spoken),
        Middleware(OriginCheck, settings=settings),
        Middleware(
            CORSMiddleware,
            allow_origins=list(settings.allow_origins),
            allow_origin_regex=ADD_ON.pattern,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After", files.LEFT_OUT],
        ),
        Middleware(Failures),
        Middleware(KeyCheck, settings=settings),
        Middleware(BodyLimit, limit=settings.largest_body, seconds=settings.time_limit),
        Middleware(RequestLimit, service=service, limit=MOST_CONNECTIONS),
    ]
    app = FastAPI(
        title="nmspeller",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        middleware=middleware,
        docs_url=None,  # the stock pages load scripts from elsewhere; ours is in apps/web
        redoc_url=None,
        redirect_slashes=False,  # the framework would take the address to redirect to from `Host`
    )
    app.state.service = service
    app.state.connections = connections
    for router in _ROUTERS:
        app.include_router(router)
    _answer_failures(app)
    describe(app, has_key=settings.api_key is not None)
    return app


def _methods(path: str) -> list[str]:
    """The methods that a path takes."""
    routes = [route for router in _ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    methods = {method for route in routes if route.path == path for method in route.methods or ()}
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


def _answer_failures(app: FastAPI) -> None:
    """Every foreseen error is answered with a status and one sentence."""

    @app.exception_handler(ApiError)
    async def api_error(request: Request, error: ApiError) -> Response:
        return error_response(request.scope, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return error_response(request.scope, errors.not_json())
        return error_response(request.scope, errors.invalid(error.errors()))

    @app.exception_handler(HTTPException)
    async def not_served(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        if error.status_code == 405:
            # The framework names the methods of the first route alone, where a path has one for each.
            headers["Allow"] = ", ".join(_methods(request.url.path)) or headers.get("Allow", "")
        return error_response(request.scope, errors.not_served(error.status_code, headers))

    @app.exception_handler(ClientGone)
    async def gone(request: Request, _: ClientGone) -> Response:
        return Response(status_code=499)
