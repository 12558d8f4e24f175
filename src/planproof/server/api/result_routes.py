"""Routes for the results of a run: its cases in brief, and its verdicts in full."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from planproof.core.content import Json
from planproof.core.verdict import Outcome, Verdict, to_json_values
from planproof.runs.run_records import Result
from planproof.runs.store.queries import ResultFilter, ResultOrder, count_results, query_results
from planproof.runs.summary import CaseSummary
from planproof.server.api.run_routes import CasePath, FirstQuery, RunDep, find_or_404
from planproof.server.api.schemas import (
    READ_ERRORS,
    CasesPage,
    RunCase,
    VerdictsPage,
    describe_responses,
)
from planproof.server.http_problems import make_json_response
from planproof.server.services import Services, ServicesDep

router = APIRouter(prefix="/v1/runs/{run}", tags=["results"])


async def _parse_result_filter(
    *,
    outcome: Annotated[list[Outcome] | None, Query(description="Only these outcomes.")] = None,
    level: Annotated[
        list[float] | None, Query(description="Only these score levels, such as 0.25.")
    ] = None,
    words: Annotated[
        str, Query(max_length=200, description="Only cases with these words in their id or reason.")
    ] = "",
    order: Annotated[
        ResultOrder, Query(description="The field to sort by.")
    ] = ResultOrder.POSITION,
    descending: Annotated[bool, Query(description="Sort in descending order.")] = False,
) -> ResultFilter:
    return ResultFilter(
        levels=frozenset(level or ()),
        outcomes=frozenset(outcome or ()),
        words=words,
        order=order,
        descending=descending,
    )


_ResultFilterDep = Annotated[ResultFilter, Depends(_parse_result_filter)]


@router.get(
    "/cases",
    summary="List the cases of a run.",
    responses=describe_responses("list_cases", CasesPage, "A page of cases.", READ_ERRORS),
)
async def list_cases(
    services: ServicesDep,
    run: RunDep,
    result_filter: _ResultFilterDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=500, description="Maximum number of results.")] = 50,
) -> Response:
    """List cases of a run with a short summary of each."""
    results, total = await _load_page(services, run.id, result_filter, first, most)
    cases = [to_json_values(CaseSummary.from_result(result)) for result in results]
    return make_json_response({"cases": cases, "total": total})


@router.get(
    "/cases/{case:path}",
    summary="Get a case of a run.",
    responses=describe_responses("show_case", RunCase, "The case.", READ_ERRORS),
)
async def show_case(services: ServicesDep, run: RunDep, case: CasePath) -> Response:
    """Return task, plan and trace of a case, as they can be submitted again."""

    def load_case() -> dict[str, Json]:
        result = services.store.get_result(run.id, case)
        text = services.store.get_case(result.case).text if result.case else "{}"
        fields: dict[str, Json] = json.loads(text)
        return {
            "position": result.position,
            "id": result.id,
            "user_task": fields.get("user_task"),
            "agent_plan": fields.get("agent_plan"),
            "execution_trace": fields.get("execution_trace"),
            "metadata": result.verdict.metadata,
        }

    return make_json_response(await find_or_404("case", load_case))


@router.get(
    "/verdicts",
    summary="List the full verdicts of a run.",
    responses=describe_responses("list_verdicts", VerdictsPage, "A page of verdicts.", READ_ERRORS),
)
async def list_verdicts(
    services: ServicesDep,
    run: RunDep,
    result_filter: _ResultFilterDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=100, description="Maximum number of results.")] = 20,
) -> Response:
    """List verdicts of a run with all findings and evidence."""
    results, total = await _load_page(services, run.id, result_filter, first, most)
    verdicts = [result.verdict.full() for result in results]
    return make_json_response({"verdicts": verdicts, "total": total})


@router.get(
    "/verdicts/{case:path}",
    summary="Get the verdict on a case of a run.",
    responses=describe_responses("show_verdict", Verdict, "The full verdict.", READ_ERRORS),
)
async def show_verdict(services: ServicesDep, run: RunDep, case: CasePath) -> Response:
    """Return a full verdict, which `planproof verify` accepts."""
    result = await find_or_404("case", lambda: services.store.get_result(run.id, case))
    return make_json_response(result.verdict.full())


async def _load_page(
    services: Services, run_id: str, result_filter: ResultFilter, first: int, most: int
) -> tuple[list[Result], int]:
    def query_page() -> tuple[list[Result], int]:
        database = services.store.database
        results = query_results(database, run_id, result_filter, offset=first, limit=most)
        return results, count_results(database, run_id, result_filter)

    return await asyncio.to_thread(query_page)
