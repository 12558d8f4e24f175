"""Routes for liveness, readiness and Prometheus metrics."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from planproof.core.content import Json
from planproof.server.api.schemas import Health, describe_errors, describe_responses
from planproof.server.http_problems import ServerBusy, make_json_response
from planproof.server.services import ServicesDep

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    summary="Figures, as Prometheus collects them.",
    response_class=PlainTextResponse,
    responses=describe_errors(()),
)
async def figures(services: ServicesDep) -> Response:
    """All figures of this server."""
    return Response(services.metrics.render(), media_type=CONTENT_TYPE_LATEST)


_WITHOUT_KEY: dict[str, Json] = {"security": []}


@router.get(
    "/healthz",
    summary="The process lives.",
    responses=describe_responses("healthz", Health, "It does.", ()),
    openapi_extra=_WITHOUT_KEY,
)
async def healthz() -> Response:
    """It answers."""
    return make_json_response({"status": "ok"})


@router.get(
    "/readyz",
    summary="The store can be reached, and cases can be handed in.",
    responses=describe_responses("readyz", Health, "They can.", (503,)),
    openapi_extra=_WITHOUT_KEY,
)
async def readyz(services: ServicesDep) -> Response:
    """It can work; 503 where it can't, or is about to end."""
    if services.closing.is_set():
        raise ServerBusy("the server is about to end.")
    await asyncio.to_thread(services.store.list_runs, 1)
    return make_json_response({"status": "ok"})
