"""Start, run and shut down the HTTP server."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

import planproof
from planproof.errors import InvalidConfiguration, InvalidInput
from planproof.runs.store.open_store import open_sql_store
from planproof.server.api import health, result_routes, run_routes, verdict_routes
from planproof.server.connection_limits import make_connection_class
from planproof.server.guard.access import AccessControl
from planproof.server.guard.api_keys import Keys
from planproof.server.guard.body_limits import BodyLimits
from planproof.server.guard.request_log import RequestLogger, SecurityHeaders
from planproof.server.http_problems import add_error_handlers
from planproof.server.ingestion import otlp_routes
from planproof.server.observability import Metrics, configure_logging, log_event
from planproof.server.pages.page_routes import add_pages
from planproof.server.server_settings import ServerSettings
from planproof.server.services import open_services

_BACKLOG = 2048
_KEEP_ALIVE_SECONDS = 30
"""Seconds a connection may be idle: exporters send every few seconds."""


def serve(settings: ServerSettings, announce: Callable[[str], None]) -> None:
    """Serve until a signal stops it. `announce` is called with the address once it is ready."""
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
    log_event("server stopped")


class _UvicornServer(uvicorn.Server):
    """Report when the server is ready, and exit without raising the signal again."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._on_ready = on_ready
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and call `on_ready`."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down after the running requests; a second Ctrl-C exits at once."""
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        if self.started and self._loop is not None:
            # End event streams now, or the shutdown would wait for their clients.
            self._loop.call_soon_threadsafe(self._app.state.services.closing.set)


def _check_settings(settings: ServerSettings) -> None:
    """Raise an error for invalid settings before anything is started."""
    store = open_sql_store(settings.store)
    try:
        if settings.requires_keys and not Keys(store.database).list_all():
            raise InvalidConfiguration(
                "API keys are required, but none exist.",
                where=store.url,
                advice="Create one: planproof keys add NAME --role write.",
            )
    finally:
        store.close()


def _open_listener(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens on the host and port; opened before anything is started."""
    try:
        addresses = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, socket_type, protocol, _, address = addresses[0]
        # Pass the protocol, or asyncio does not set TCP_NODELAY: 40 ms per small response.
        listener = socket.socket(family, socket_type, protocol)
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
            f"can't listen on this address: {error.strerror}.",
            where=f"{settings.host}:{settings.port}",
            advice="The port may be in use: choose another with --port; 0 picks a free one.",
        ) from error


def _format_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_app(settings: ServerSettings) -> FastAPI:
    """Return the server with these settings as an ASGI application."""
    server_metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        async with open_services(settings, server_metrics) as services:
            app.state.services = services
            yield

    app = FastAPI(
        title="planproof",
        description="Proves, or refutes, that an AI agent did what its plan said.",
        version=planproof.__version__,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
        # These pages would load scripts from other sites.
        docs_url=None,
        redoc_url=None,
    )
    if settings.requires_keys:
        app.openapi = partial(_add_key_security, app.openapi)
    add_error_handlers(app)
    app.include_router(health.router)
    for part in (verdict_routes, run_routes, result_routes, otlp_routes):
        app.include_router(part.router)
    add_pages(app)
    # The last one added is the outermost.
    app.add_middleware(AccessControl, settings)
    app.add_middleware(BodyLimits, settings.limits)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLogger, server_metrics)
    return app


def _add_key_security(build_openapi: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the OpenAPI document with the bearer key as a required security scheme."""
    description = build_openapi()
    schemes = description["components"].setdefault("securitySchemes", {})
    schemes["key"] = {"type": "http", "scheme": "bearer"}
    description["security"] = [{"key": []}]
    return description
