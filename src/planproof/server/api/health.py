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
    summary="Get Prometheus metrics.",
    response_class=PlainTextResponse,
    responses=describe_errors(()),
)
async def get_metrics(services: ServicesDep) -> Response:
    """Return all metrics of this server in the Prometheus text format."""
    return Response(services.metrics.render(), media_type=CONTENT_TYPE_LATEST)


_WITHOUT_KEY: dict[str, Json] = {"security": []}


@router.get(
    "/healthz",
    summary="Check liveness.",
    responses=describe_responses("healthz", Health, "The process is alive.", ()),
    openapi_extra=_WITHOUT_KEY,
)
async def healthz() -> Response:
    """Respond with `ok` as long as the process is alive."""
    return make_json_response({"status": "ok"})


@router.get(
    "/readyz",
    summary="Check readiness.",
    responses=describe_responses("readyz", Health, "The server can accept cases.", (503,)),
    openapi_extra=_WITHOUT_KEY,
)
async def readyz(services: ServicesDep) -> Response:
    """Respond with 503 if the store can't be read or written, or the server is shutting down."""
    if services.closing.is_set():
        raise ServerBusy("the server is shutting down.")
    await asyncio.to_thread(services.store.list_runs, 1)
    await services.ingestion.trace_judge.check_store()
    return make_json_response({"status": "ok"})
