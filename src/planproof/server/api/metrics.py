"""The figures that Prometheus collects."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from planproof.server.services import ServicesDep

router = APIRouter(tags=["health"])


@router.get("/metrics", summary="Figures, as Prometheus collects them.")
async def figures(services: ServicesDep) -> Response:
    """All figures of this server."""
    return Response(services.metrics.written(), media_type=CONTENT_TYPE_LATEST)
