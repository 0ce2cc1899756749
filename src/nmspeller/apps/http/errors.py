"""The errors of the API: a status and one sentence."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ApiError(Exception):
    """A request that cannot be answered: the status, and one sentence that says what to do."""

    status: int
    sentence: str
    headers: dict[str, str] = field(default_factory=dict)


def too_long(length: int, limit: int) -> ApiError:
    """The text is longer than this server takes."""
    return ApiError(
        413, f"The text has {length} characters; this server takes at most {limit}. Send it in parts."
    )


def body_too_large(limit: int) -> ApiError:
    """The request is larger than this server takes."""
    return ApiError(413, f"The request body is larger than {limit} bytes. Send the text in parts.")


def not_json() -> ApiError:
    """The body is of another kind."""
    return ApiError(422, "Send JSON, with `Content-Type: application/json`.")


def two_lengths() -> ApiError:
    """A proxy may see another end of the body, and take the rest for a request of its own."""
    return ApiError(
        400, "Send either Content-Length or Transfer-Encoding, not both.", {"Connection": "close"}
    )


def body_too_slow() -> ApiError:
    """The request took too long to arrive."""
    return ApiError(408, "The request body did not arrive in time.")


def too_many_requests(retry_after: int) -> ApiError:
    """The server has as many requests in hand as it can have."""
    return ApiError(
        503,
        f"The server has too many requests in hand. Try again in {retry_after} s.",
        {"Retry-After": str(retry_after)},
    )


def queue_full(retry_after: int) -> ApiError:
    """The request would wait too long."""
    return ApiError(
        429,
        f"The server is busy. Try again in {retry_after} s.",
        {"Retry-After": str(retry_after)},
    )


def out_of_time(limit: float) -> ApiError:
    """The answer was not there in time."""
    return ApiError(
        503,
        f"The check was not finished within {limit:g} s. Send less text, or try again later.",
        {"Retry-After": "5"},
    )


def engine_failed(sentence: str) -> ApiError:
    """The engine cannot answer."""
    return ApiError(503, f"{sentence} Try again later.", {"Retry-After": "5"})


def server_failed() -> ApiError:
    """A bug."""
    return ApiError(500, "Something failed in the server, and was logged.")


def wrong_key() -> ApiError:
    """No key, or not the right one."""
    return ApiError(
        401,
        "This server needs its API key: send it as `Authorization: Bearer KEY`.",
        {"WWW-Authenticate": "Bearer"},
    )


def describe_validation(errors: list[Any]) -> str:
    """The first thing that is wrong with a JSON body, in one sentence without the user's own text."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return "The request body is not valid JSON."
    where = ".".join(str(part) for part in first["loc"] if part != "body" and not str(part).startswith("str"))
    what = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{where}: {what}." if where else f"{what}."
