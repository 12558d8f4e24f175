"""Two runs side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from planproof.reports.run_json import comparison_json
from planproof.runs.run_names import base_run, named_run
from planproof.server.api.lookup import looked_up
from planproof.server.api.route_docs import READS, answers
from planproof.server.api.schemas import ComparedRuns
from planproof.server.services import ServicesDep

router = APIRouter(prefix="/v1", tags=["runs"])


@router.get(
    "/compare",
    summary="What changed from one run to another.",
    responses=answers("compare_runs", ComparedRuns, "Two runs, and what changed.", READS),
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

    def compared() -> str:
        later = named_run(store, new)
        earlier = base_run(store, base, later)
        return comparison_json(earlier, later, services.records.comparison(earlier, later))

    text = await looked_up("base or new", compared)
    return Response(text.encode("ascii"), media_type="application/json")
