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


def _parse_result_filter(
    *,
    outcome: Annotated[list[Outcome] | None, Query(description="Only these outcomes.")] = None,
    level: Annotated[
        list[float] | None, Query(description="Only scores of these levels, as 0.25.")
    ] = None,
    words: Annotated[
        str, Query(max_length=200, description="Words in the id or in the reason.")
    ] = "",
    order: Annotated[
        ResultOrder, Query(description="What they are put in order by.")
    ] = ResultOrder.POSITION,
    descending: Annotated[bool, Query(description="The other way round.")] = False,
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
    summary="The cases of a run at a glance.",
    responses=describe_responses("list_cases", CasesPage, "Some cases.", READ_ERRORS),
)
async def list_cases(
    services: ServicesDep,
    run: RunDep,
    result_filter: _ResultFilterDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=500, description="How many, at the most.")] = 50,
) -> Response:
    """List cases of a run, each in a line."""
    results, total = await _load_page(services, run.id, result_filter, first, most)
    cases = [to_json_values(CaseSummary.from_result(result)) for result in results]
    return make_json_response({"cases": cases, "total": total})


@router.get(
    "/cases/{case:path}",
    summary="A case of a run as it was given.",
    responses=describe_responses("show_case", RunCase, "The case.", READ_ERRORS),
)
async def show_case(services: ServicesDep, run: RunDep, case: CasePath) -> Response:
    """Show task, plan and trace of a case: they can be handed in again."""

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
    summary="The verdicts of a run in full.",
    responses=describe_responses("list_verdicts", VerdictsPage, "Some verdicts.", READ_ERRORS),
)
async def list_verdicts(
    services: ServicesDep,
    run: RunDep,
    result_filter: _ResultFilterDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=100, description="How many, at the most.")] = 20,
) -> Response:
    """List verdicts of a run with everything that they rest on."""
    results, total = await _load_page(services, run.id, result_filter, first, most)
    verdicts = [result.verdict.full() for result in results]
    return make_json_response({"verdicts": verdicts, "total": total})


@router.get(
    "/verdicts/{case:path}",
    summary="The verdict on a case of a run.",
    responses=describe_responses("show_verdict", Verdict, "The whole verdict.", READ_ERRORS),
)
async def show_verdict(services: ServicesDep, run: RunDep, case: CasePath) -> Response:
    """Show a whole verdict, as `planproof verify` takes it."""
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
