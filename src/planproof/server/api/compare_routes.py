"""Two runs side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from planproof.reports.run_json import comparison_to_json
from planproof.runs.run_names import find_base_run, find_run_by_name
from planproof.server.api.lookup import find_or_404
from planproof.server.api.route_docs import READ_ERRORS, describe_responses
from planproof.server.api.schemas import RunComparison
from planproof.server.services import ServicesDep

router = APIRouter(prefix="/v1", tags=["runs"])


@router.get(
    "/compare",
    summary="What changed from one run to another.",
    responses=describe_responses(
        "compare_runs", RunComparison, "Two runs, and what changed.", READ_ERRORS
    ),
)
async def compare_runs(
    services: ServicesDep,
    base: Annotated[
        str,
        Query(
            description="A run as in `/v1/runs/{run}`, or `previous`: the last over the same data.",
            examples=["previous"],
        ),
    ],
    new: Annotated[
        str, Query(description="A run as in `/v1/runs/{run}`.", examples=["latest"])
    ] = "latest",
) -> Response:
    """Pair the cases of two runs, and say what became better, what worse, and if it is chance."""
    store = services.store

    def render_comparison() -> str:
        later = find_run_by_name(store, new)
        earlier = find_base_run(store, base, later)
        return comparison_to_json(earlier, later, services.queries.get_comparison(earlier, later))

    text = await find_or_404("base or new", render_comparison)
    return Response(text.encode("ascii"), media_type="application/json")
