"""The application: its routes, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI

import planproof
from planproof.server.api import (
    compare_routes,
    health,
    metrics_route,
    result_routes,
    run_routes,
    verdict_routes,
)
from planproof.server.guard.access import AccessControl
from planproof.server.guard.body_limits import BodyLimits
from planproof.server.guard.request_log import RequestLogger
from planproof.server.guard.security_headers import SecurityHeaders
from planproof.server.http_problems import add_error_handlers
from planproof.server.ingestion import otlp_routes
from planproof.server.pages.page_routes import add_pages
from planproof.server.prometheus_metrics import Metrics
from planproof.server.server_settings import ServerSettings
from planproof.server.services import open_services


def make_app(settings: ServerSettings) -> FastAPI:
    """A server with these settings, as an ASGI application."""
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
        # They would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    if settings.requires_keys:
        app.openapi = partial(_add_key_security, app.openapi)
    add_error_handlers(app)
    app.include_router(health.router)
    app.include_router(metrics_route.router)
    for part in (verdict_routes, run_routes, result_routes, compare_routes, otlp_routes):
        app.include_router(part.router)
    add_pages(app)
    # The last is the outermost.
    app.add_middleware(AccessControl, settings)
    app.add_middleware(BodyLimits, settings.limits)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLogger, server_metrics)
    return app


def _add_key_security(build_openapi: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The description of an API that answers nobody without a key."""
    description = build_openapi()
    schemes = description["components"].setdefault("securitySchemes", {})
    schemes["key"] = {"type": "http", "scheme": "bearer"}
    description["security"] = [{"key": []}]
    return description
