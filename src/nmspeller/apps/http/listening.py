"""The server's listening sockets, opened before the model is loaded."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from nmspeller.apps.http.settings import Settings
from nmspeller.errors import InputError
from nmspeller.messages import _


@contextmanager
def listen(settings: Settings) -> Iterator[list[socket.socket]]:
    """Sockets that listen on every address of the host; connections are answered once the server is ready.

    Raises:
        InputError: the address is in use, or is not one of this machine.
    """
    with ExitStack() as opened:
        try:
            found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
            # The hosts file may list an address twice.
            listeners = [opened.enter_context(_listener(*address)) for address in dict.fromkeys(found)]
        except (OSError, UnicodeError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                raise InputError(
                    _("Port {port} on {host} is already in use; choose another with --port.").format(
                        host=settings.host, port=settings.port
                    )
                ) from None
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                _("The server cannot listen on {host}, port {port}: {reason}.").format(
                    host=settings.host, port=settings.port, reason=reason
                )
            ) from None
        yield listeners


def addresses(listeners: list[socket.socket]) -> list[str]:
    """The URLs of the server."""
    names = [listener.getsockname() for listener in listeners]
    return [f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}" for host, port, *_ in names]


def _listener(
    family: int, kind: int, protocol: int, _name: str, address: tuple[str | int, ...]
) -> socket.socket:
    listener = socket.socket(family, kind, protocol)
    try:
        # A port that was in use a moment ago is free; on Windows this would let other programs bind it too.
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Without this an IPv6 socket would bind the IPv4 address of the port as well.
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        # Another program may still bind the port until this one listens.
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener
