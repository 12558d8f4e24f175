"""The figures that Prometheus collects."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from planproof.server.api.route_docs import describe_errors
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
