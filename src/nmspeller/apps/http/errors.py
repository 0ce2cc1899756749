"""The errors of the API: a status and one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nmspeller.messages import N_, _

_SECONDS_UNTIL_FEWER_REQUESTS = 5


@dataclass
class ApiError(Exception):
    """A request that cannot be answered: the status, and one sentence that says what to do."""

    status: int
    sentence: str
    headers: dict[str, str] = field(default_factory=dict)

    def and_close(self) -> "ApiError":
        """The same for a request whose body has not been read, so that its connection cannot go on."""
        return ApiError(self.status, self.sentence, {**self.headers, "Connection": "close"})


def too_long(length: int, limit: int) -> ApiError:
    """The text is longer than this server takes."""
    return ApiError(
        413,
        _("The text has {length} characters; this server takes at most {limit}. Send it in parts.").format(
            length=length, limit=limit
        ),
    )


def too_many_texts(limit: int) -> ApiError:
    """There are more texts than this server takes."""
    return ApiError(413, _("This server takes at most {limit} texts in one request.").format(limit=limit))


def body_too_large(limit: int) -> ApiError:
    """The request is larger than this server takes."""
    return ApiError(
        413,
        _("The request body is larger than {limit} bytes. Send the text in parts.").format(limit=limit),
    )


def not_json() -> ApiError:
    """The body is of another kind."""
    return ApiError(422, _("Send JSON, with `Content-Type: application/json`."))


def two_lengths() -> ApiError:
    """A proxy may see another end of the body, and take the rest for a request of its own."""
    return ApiError(400, _("Send either Content-Length or Transfer-Encoding, not both."))


def compressed() -> ApiError:
    """The body has a content coding."""
    return ApiError(400, _("The request body is compressed; send it without Content-Encoding."))


def body_too_slow() -> ApiError:
    """The request took too long to arrive."""
    return ApiError(408, _("The request body did not arrive in time."))


def too_many_requests() -> ApiError:
    """The server has as many requests in hand as it can have, of all or of one client."""
    return ApiError(
        503,
        _("The server has too many requests in progress. Try again in {seconds} s.").format(
            seconds=_SECONDS_UNTIL_FEWER_REQUESTS
        ),
        {"Retry-After": str(_SECONDS_UNTIL_FEWER_REQUESTS)},
    )


def wrong_host() -> ApiError:
    """The request was sent to a name that may be anyone's."""
    return ApiError(403, _("This server does not answer to this host name; --allow-host can add it."))


def wrong_origin() -> ApiError:
    """The request was sent by a page of another site."""
    return ApiError(
        403, _("Pages of other sites may not use this server; --allow-origin can allow the site.")
    )


def queue_full(retry_after: int) -> ApiError:
    """The request would wait too long."""
    return ApiError(
        429,
        _("The server is busy. Try again in {seconds} s.").format(seconds=retry_after),
        {"Retry-After": str(retry_after)},
    )


def out_of_time(limit: float) -> ApiError:
    """The answer was not there in time."""
    return ApiError(
        503,
        _("The check was not finished within {limit:g} s. Send less text, or try again later.").format(
            limit=limit
        ),
        {"Retry-After": "5"},
    )


def engine_failed(sentence: str) -> ApiError:
    """The engine cannot answer."""
    return ApiError(503, _("{sentence} Try again later.").format(sentence=_(sentence)), {"Retry-After": "5"})


def document_failed() -> ApiError:
    """The process that read a document has ended without an answer."""
    return ApiError(422, _("This document takes too much memory. Send its text instead."))


def server_failed() -> ApiError:
    """A bug."""
    return ApiError(500, _("Internal server error; see the server log."))


def wrong_key() -> ApiError:
    """No key, or not the right one."""
    return ApiError(
        401,
        _("This server needs its API key: send it as `Authorization: Bearer KEY`."),
        {"WWW-Authenticate": "Bearer"},
    )


_NOT_SERVED = {
    400: N_("The request body is not valid JSON."),  # in FastAPI's own routes, which all take JSON
    404: N_("Not found."),
    405: N_("This URL does not support that method."),
}


def not_served(status: int, headers: dict[str, str]) -> ApiError:
    """There is no such address, or it does not take the method."""
    return ApiError(status, _(_NOT_SERVED.get(status, N_("The request cannot be read."))), headers)


# What Pydantic says of a body, for the catalogue.
_MISTAKES = (
    N_("Extra inputs are not permitted"),
    N_("Field required"),
    N_("String should have at least 1 character"),
    N_("String should have at most 64 characters"),
)
_KINDS = {
    "bool_type": N_("true or false"),
    "dict_type": N_("an object"),
    "list_type": N_("a list"),
    "model_attributes_type": N_("an object"),
    "string_type": N_("a string"),
}
# Where a field may be of several types, Pydantic adds the type to the place.
_TYPES = ("str", "bool", "list", "constrained-str")


def invalid(mistakes: Sequence[Any]) -> ApiError:
    """The first thing that is wrong with a JSON body, in one sentence without the user's own text."""
    if mistakes[0]["type"] == "json_invalid":
        return ApiError(400, _("The request body is not valid JSON."))
    # A field of several types has a mistake for each: that of the type that was meant is in a deeper place.
    where = _where(mistakes[0])
    same_field = [one for one in mistakes if _where(one)[:1] == where[:1]]
    first = max(same_field, key=lambda one: len(_where(one)))
    where = _where(first)
    if first["type"] in ("literal_error", "enum"):
        choices = first["ctx"]["expected"].replace(" or ", ", ")
        what = _("Input should be one of {choices}").format(choices=choices)
    elif first["type"] in _KINDS:
        kinds = [_KINDS[one["type"]] for one in same_field if _where(one) == where and one["type"] in _KINDS]
        what = _("Input should be {kinds}").format(kinds=_(", or ").join(map(_, kinds)))
    elif first["type"] == "too_long":
        what = _("Input should have at most {limit} items").format(limit=first["ctx"]["max_length"])
    else:
        what = _(str(first["msg"]).removeprefix("Value error, ").rstrip("."))
    if where:
        return ApiError(422, _("{where}: {what}.").format(where=".".join(where), what=what))
    return ApiError(422, _("{what}.").format(what=what))


def _where(mistake: Any) -> list[str]:
    """The place of a mistake in the body: a field, and what is inside it."""
    places = [str(part) for part in mistake["loc"] if part != "body"]
    if places[:1] == ["replacements"]:
        return places[:1]  # inside it are the user's own texts
    return [place for place in places if place.partition("[")[0] not in _TYPES]
