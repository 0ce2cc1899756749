"""What a request may be refused for, and how it is told: a status and one sentence."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ApiError(Exception):
    """An answer other than yes."""

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


def body_too_slow() -> ApiError:
    """The request took too long to arrive."""
    return ApiError(408, "The request body did not arrive in time.")


def queue_full(retry_after: int) -> ApiError:
    """The server has enough to do."""
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
