"""One line for each event: JSON, or text in a terminal; no texts of requests without `--log-text`."""

import json
import logging
import sys
import traceback
from datetime import datetime, timezone
from typing import Any

from nmspeller.errors import InputError
from nmspeller.messages import _, language_of_environment, speaking

log = logging.getLogger("nmspeller.serve")


class _Lines(logging.Formatter):
    def __init__(self, with_text: bool) -> None:
        super().__init__()
        self._with_text = with_text

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": record.process,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if not self._with_text:
            fields.pop("text", None)
        if record.exc_info and record.exc_info[1] is not None:
            fields["failure"] = self._describe(record.exc_info[1])
        if sys.stderr.isatty():
            return _for_a_person(fields)
        return json.dumps(fields, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()

    def _describe(self, failure: BaseException) -> str:
        """Where it failed. An exception's message may quote the text, so it is left out as the text is."""
        if self._with_text:
            return "".join(traceback.format_exception(failure))
        return places(failure)


def _for_a_person(fields: dict[str, Any]) -> str:
    """The same in short: `12:00:00 request method=POST path=/v1/check status=200`."""
    at, name = fields.pop("time")[11:19], fields.pop("event")
    more = [f"{key}={value}" for key, value in fields.items() if key not in ("level", "process")]
    return " ".join([at, name, *more])


def places(failure: BaseException) -> str:
    """Where it failed, and its type."""
    frames = traceback.extract_tb(failure.__traceback__)
    found = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return " > ".join([*found, type(failure).__name__])


def start_logging(with_text: bool) -> None:
    """Send this server's and uvicorn's events to stderr; requests are logged by us, without their query."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(with_text))
    for name in ("nmspeller.serve", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.setLevel(logging.INFO)
        logger.propagate = name == "uvicorn.error"
    logging.getLogger("uvicorn.access").disabled = True


def say_where(addresses: list[str]) -> None:
    """Log where the server listens; someone at a terminal is told what to do there."""
    event("listening", addresses=addresses)
    if sys.stderr.isatty():
        with speaking(language_of_environment()):
            sentence = _("Open {address}/ in a browser; Ctrl+C stops the server.").format(
                address=addresses[0]
            )
            print(sentence, file=sys.stderr)


def event(name: str, **fields: Any) -> None:
    """Log that something happened."""
    log.info(name, extra={"fields": fields})


def input_error(name: str, error: InputError) -> None:
    """Log what the operator should fix; the messages of input errors name files and never quote a text."""
    log.error(name, extra={"fields": {"reason": str(error)}})


def failure(name: str, reason: BaseException) -> None:
    """Log that something failed, and where."""
    log.error(name, exc_info=reason)
