"""A server from its start to its end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from planproof.errors import InvalidInput
from planproof.server.app import make_app
from planproof.server.services import open_database
from planproof.server.settings import ServerSettings


def serve(settings: ServerSettings, announce: Callable[[str], None]) -> None:
    """Serve until somebody ends it. `announce` is told the address once it can be asked."""
    open_database(settings.store).close()  # what is wrong with it is told before anything is begun
    config = uvicorn.Config(
        make_app(settings),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=int(settings.limits.closing),
    )
    with _listening(settings) as listener:
        _Server(config, lambda: announce(_address(listener))).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Says when it is ready, and ends without raising again the signal that ended it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End once what is under way is done; the second Ctrl-C ends it at once."""
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _listening(settings: ServerSettings) -> socket.socket:
    """A socket on the host and port; taken before anything is started."""
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise InvalidInput(
            f"can't be listened on: {error.strerror}.",
            where=f"{settings.host}:{settings.port}",
            advice="Another program may have the port: name another with --port; 0 takes any.",
        ) from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
