"""The results of a run: its cases at a glance, and its verdicts in full."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from planproof.core.content import Json
from planproof.core.verdict import Outcome, Verdict, values
from planproof.runs.run_records import Result
from planproof.runs.store.queries import Order, Wanted, count_of, results_of
from planproof.runs.summary import Glance
from planproof.server.api.lookup import CasePath, FirstQuery, RunDep, looked_up
from planproof.server.api.route_docs import READS, answers
from planproof.server.api.schemas import CaseOfRun, CasesPage, VerdictsPage
from planproof.server.json_responses import json_answer
from planproof.server.services import Services, ServicesDep

router = APIRouter(prefix="/v1/runs/{run}", tags=["results"])


def _wanted(
    *,
    outcome: Annotated[list[Outcome] | None, Query(description="Only these outcomes.")] = None,
    level: Annotated[
        list[float] | None, Query(description="Only scores of these levels, as 0.25.")
    ] = None,
    words: Annotated[
        str, Query(max_length=200, description="Words in the id or in the reason.")
    ] = "",
    order: Annotated[Order, Query(description="What they are put in order by.")] = Order.POSITION,
    descending: Annotated[bool, Query(description="The other way round.")] = False,
) -> Wanted:
    return Wanted(
        levels=frozenset(level or ()),
        outcomes=frozenset(outcome or ()),
        words=words,
        order=order,
        descending=descending,
    )


_WantedDep = Annotated[Wanted, Depends(_wanted)]


@router.get(
    "/cases",
    summary="The cases of a run at a glance.",
    responses=answers("list_cases", CasesPage, "Some cases.", READS),
)
async def list_cases(
    services: ServicesDep,
    run: RunDep,
    wanted: _WantedDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=500, description="How many, at the most.")] = 50,
) -> Response:
    """List cases of a run, each in a line."""
    found, total = await _page(services, run.id, wanted, first, most)
    cases = [values(Glance.at(result)) for result in found]
    return json_answer({"cases": cases, "total": total})


@router.get(
    "/cases/{case:path}",
    summary="A case of a run as it was given.",
    responses=answers("show_case", CaseOfRun, "The case.", READS),
)
async def show_case(services: ServicesDep, run: RunDep, case: CasePath) -> Response:
    """Show task, plan and trace of a case: they can be handed in again."""

    def kept() -> dict[str, Json]:
        result = services.store.result(run.id, case)
        text = services.store.case(result.case).text if result.case else "{}"
        fields: dict[str, Json] = json.loads(text)
        return {
            "position": result.position,
            "id": result.id,
            "user_task": fields.get("user_task"),
            "agent_plan": fields.get("agent_plan"),
            "execution_trace": fields.get("execution_trace"),
            "metadata": result.verdict.metadata,
        }

    return json_answer(await looked_up("case", kept))


@router.get(
    "/verdicts",
    summary="The verdicts of a run in full.",
    responses=answers("list_verdicts", VerdictsPage, "Some verdicts.", READS),
)
async def list_verdicts(
    services: ServicesDep,
    run: RunDep,
    wanted: _WantedDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=100, description="How many, at the most.")] = 20,
) -> Response:
    """List verdicts of a run with everything that they rest on."""
    found, total = await _page(services, run.id, wanted, first, most)
    verdicts = [result.verdict.full() for result in found]
    return json_answer({"verdicts": verdicts, "total": total})


@router.get(
    "/verdicts/{case:path}",
    summary="The verdict on a case of a run.",
    responses=answers("show_verdict", Verdict, "The whole verdict.", READS),
)
async def show_verdict(services: ServicesDep, run: RunDep, case: CasePath) -> Response:
    """Show a whole verdict, as `planproof verify` takes it."""
    result = await looked_up("case", lambda: services.store.result(run.id, case))
    return json_answer(result.verdict.full())


async def _page(
    services: Services, run_id: str, wanted: Wanted, first: int, most: int
) -> tuple[list[Result], int]:
    def looked() -> tuple[list[Result], int]:
        database = services.store.database
        found = results_of(database, run_id, wanted, first=first, most=most)
        return found, count_of(database, run_id, wanted)

    return await asyncio.to_thread(looked)
