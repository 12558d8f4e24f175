"""A server from its start to its end."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from planproof.errors import InvalidConfiguration, InvalidInput
from planproof.runs.store.open_store import open_sql_store
from planproof.server.application import make_app
from planproof.server.connection_limits import make_connection_class
from planproof.server.guard.api_keys import Keys
from planproof.server.json_logs import configure_logging, log_event
from planproof.server.server_settings import ServerSettings

_BACKLOG = 2048
_KEEP_ALIVE_SECONDS = 30
"""Seconds for which a connection may rest: exporters send every few of them."""


def serve(settings: ServerSettings, announce: Callable[[str], None]) -> None:
    """Serve until somebody ends it. `announce` is told the address once it can be asked."""
    _check_settings(settings)
    app = make_app(settings)
    config = uvicorn.Config(
        app,
        http=make_connection_class(settings.limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.limits.shutdown_timeout),
    )
    configure_logging(sys.stderr)
    with _open_listener(settings) as listener:
        address = _format_address(listener)
        _UvicornServer(config, app, lambda: announce(address)).run(sockets=[listener])
    log_event("ended")


class _UvicornServer(uvicorn.Server):
    """Says when it is ready, and ends without raising again the signal that ended it."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._on_ready = on_ready
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End once what is under way is done; the second Ctrl-C ends it at once."""
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        if self.started and self._loop is not None:
            # Answers that go on for as long as somebody listens end now, or they were waited for.
            self._loop.call_soon_threadsafe(self._app.state.services.closing.set)


def _check_settings(settings: ServerSettings) -> None:
    """Say what is wrong before anything is begun."""
    store = open_sql_store(settings.store)
    try:
        if settings.requires_keys and not Keys(store.database).list_all():
            raise InvalidConfiguration(
                "keys are demanded, and there are none.",
                where=store.url,
                advice="Make one: planproof keys add NAME --role write.",
            )
    finally:
        store.close()


def _open_listener(settings: ServerSettings) -> socket.socket:
    """A socket on the host and port; taken before anything is started."""
    try:
        addresses = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, sort, protocol, _, address = addresses[0]
        # Named as TCP, or asyncio would not send small answers at once: 40 ms for each of them.
        listener = socket.socket(family, sort, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        return listener
    except OSError as error:
        raise InvalidInput(
            f"can't be listened on: {error.strerror}.",
            where=f"{settings.host}:{settings.port}",
            advice="Another program may have the port: name another with --port; 0 takes any.",
        ) from error


def _format_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
