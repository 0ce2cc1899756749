"""The settings of a server; a request cannot change them."""

import ipaddress
import json
import os
from dataclasses import asdict, dataclass
from threading import TIMEOUT_MAX

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.rule_matches import DEFAULT_RULES
from nmspeller.text.patterns import lazy_pattern

_ENVIRONMENT = "NMSPELLER_SERVE_SETTINGS"
_ORIGIN = lazy_pattern(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")

_HOST = lazy_pattern(r"[a-z0-9._-]+|[0-9a-f:.]+")
_KEY = lazy_pattern(r"[!-~]+")


def _parse_origin(given: str) -> str:
    """A web origin as browsers send it, in lower case and without a slash at the end; * for all."""
    origin = given.lower().removesuffix("/")
    if origin != "*" and not _ORIGIN.fullmatch(origin):
        raise InputError(
            _("--allow-origin must be * or like https://example.org:8443, not {given!r}.").format(given=given)
        )
    return origin


def _parse_host(given: str) -> str:
    """A host name as browsers send it, without the port."""
    host = given.lower()
    if not _HOST.fullmatch(host):
        raise InputError(
            _("--allow-host must be a host name like spell.example.org, not {given!r}.").format(given=given)
        )
    return host


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Lengths are in code points, which is also what the engine counts as tokens; times are in seconds.

    Where `max_text_length` and `max_body_bytes` are not given, a server that serves nobody but its own
    machine takes whole books with their pictures; see `longest_text` and `largest_body`.
    """

    host: str = "127.0.0.1"
    port: int = 8081
    workers: int = 1
    threads: int | None = None
    model: str | None = None
    level: str = "balanced"
    words: tuple[str, ...] = ()
    prefilter: bool = False
    rules: bool | tuple[str, ...] = DEFAULT_RULES
    api_key: str | None = None
    insecure: bool = False
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    max_text_length: int | None = None
    max_body_bytes: int | None = None
    max_texts: int = 1_000
    batch_tokens: int = 2_048
    queue_tokens: int = 131_072
    longest_wait: float = 2.0
    time_limit: float = 60.0
    log_text: bool = False

    def __post_init__(self) -> None:
        for name in ("workers", "max_text_length", "max_body_bytes", "batch_tokens", "queue_tokens"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise InputError(_("{option} must be at least 1.").format(option=_option(name)))
        for name in ("time_limit", "longest_wait"):
            if not 0 < getattr(self, name) <= TIMEOUT_MAX:
                raise InputError(
                    _("{option} must be a number of seconds above 0.").format(option=_option(name))
                )
        object.__setattr__(self, "allow_origins", tuple(map(_parse_origin, self.allow_origins)))
        object.__setattr__(self, "allow_hosts", tuple(map(_parse_host, self.allow_hosts)))
        if self.api_key is not None and not _KEY.fullmatch(self.api_key):
            raise InputError(
                _(
                    "The API key may contain only visible ASCII characters, no blank and no line break; "
                    "`openssl rand -hex 24` prints one."
                )
            )
        if not (self.is_loopback or self.api_key or self.insecure):
            raise InputError(
                _(
                    "Everyone who can reach {host} could use this server: give --api-key, "
                    "or --insecure if you intend that."
                ).format(host=self.host)
            )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def longest_text(self) -> int:
        """How many characters a request may have."""
        return self.max_text_length or (1_000_000 if self._is_for_this_machine else 100_000)

    @property
    def largest_body(self) -> int:
        """How many bytes a request may have: on this machine, a document of 64 MB and the edits in it."""
        return self.max_body_bytes or (70_000_000 if self._is_for_this_machine else 2_000_000)

    @property
    def _is_for_this_machine(self) -> bool:
        """Whether nobody else asks, not even through a proxy with a host name of its own."""
        return self.is_loopback and not self.allow_hosts

    def to_environment(self) -> None:
        """Pass the settings to worker processes, which are spawned."""
        os.environ[_ENVIRONMENT] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> "Settings":
        """The settings that the parent process passed."""
        values = json.loads(os.environ[_ENVIRONMENT])
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **lists})
