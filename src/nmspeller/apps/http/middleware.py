"""How any request is answered: HEAD as GET, in the reader's language, and a failure with a sentence."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmspeller.apps.http import errors, logs
from nmspeller.apps.http.answers import error_response
from nmspeller.messages import language_of_header, speaking


class HeadAsGet:
    """Answers HEAD as GET without the body; the length that GET would have is announced."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_no_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, send_no_body)


class Spoken:
    """Answers each request in the language of its `Accept-Language`; in English where it names none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        accepted = Headers(scope=scope).get("accept-language", "")
        with speaking(language_of_header(accepted) or "en"):
            await self._app(scope, receive, send)


class Failures:
    """Answers an unforeseen exception with a sentence.

    The framework would do it outside of all other middleware, so that the answer would be counted as that of
    a client that went away, and could not be read by pages of other origins.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noting_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        except Exception as failure:
            if begun:
                raise  # closing the connection shows that the answer is incomplete
            logs.failure("request failed", failure)
            await error_response(scope, errors.server_failed())(scope, receive, send)
