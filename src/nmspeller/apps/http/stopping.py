"""A stop that loses no request: first no new connections, then the answers in hand, then the end."""

import asyncio
import signal
import socket
from typing import Any

import uvicorn
from uvicorn.supervisors import multiprocess


class GracefulServer(uvicorn.Server):
    """Accepts the connections that the system has made already before it stops listening.

    Else closing the listener would reset them.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer everyone who is connected, then stop."""
        for listener in sockets or ():
            await self._accept_pending(listener)
        await super().shutdown(sockets)

    async def _accept_pending(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # there is none
                return
            connection.setblocking(False)
            await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        protocol: Any = self.config.http_protocol_class
        made: asyncio.Protocol = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made


class Supervisor(multiprocess.Multiprocess):
    """Keeps workers alive. It closes its own copies of the listeners before the workers close theirs.

    The system accepts connections as long as any process has them open, and these would never be answered.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.should_exit.set())

    def terminate_all(self) -> None:
        for listener in self.sockets:
            listener.close()
        super().terminate_all()
