"""Where the pages are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import RedirectResponse, Response

from planproof.core.verdict import Outcome
from planproof.errors import InvalidInput, PlanproofError
from planproof.preparation import Reading
from planproof.readers.decoding.case_files import CaseLine
from planproof.reports.html.case_page import case_data, judged_case
from planproof.reports.html.size_budget import Room
from planproof.server.http_problems import Refused
from planproof.server.pages.compare_page import compare_page
from planproof.server.pages.overview_page import Chosen, overview_page
from planproof.server.pages.page_queries import Records
from planproof.server.pages.rendering import (
    CASE,
    COMPARE,
    LIVE,
    RUN,
    RUNS,
    SHOW,
    TRY,
    WAY_TO_CASE,
    page,
    problem_for,
    problem_page,
    viewer,
)
from planproof.server.pages.run_pages import Asked, case_page, run_page
from planproof.server.pages.static_files import Assets
from planproof.server.pages.try_page import EXAMPLES, example, fields_of, pasted_case
from planproof.server.services import Services, ServicesDep

_MOST = 1_000_000_000
_PLACES = {
    "/runs/{run}/cases/{position}": CASE,
    "/runs/{run}/case": WAY_TO_CASE,
    "/runs/{run}": RUN,
    "/compare": COMPARE,
    "/try": TRY,
}


class PageRoute(APIRoute):
    """A route whose problems are told on a page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, and what catches its errors."""
        handler = super().get_route_handler()
        place = _PLACES.get(self.path, RUNS)

        async def handled(request: Request) -> Response:
            viewer.set(request.scope.get("state", {}).get("key"))
            try:
                return await handler(request)
            except RequestValidationError:
                return problem_page(Refused(404, "there is no such page."), place)
            except PlanproofError as error:
                return problem_page(error, place)

        return handled


router = APIRouter(route_class=PageRoute, include_in_schema=False)

FirstQuery = Annotated[int, Query(ge=0, le=_MOST)]
Position = Annotated[int, Path(ge=0, le=_MOST)]


def add_pages(app: FastAPI) -> None:
    """Let an application have the pages, and what they need."""
    app.include_router(router)
    app.add_exception_handler(404, _lost)
    app.mount("/assets", Assets(), name="assets")


async def _lost(request: Request, _: Exception) -> Response:
    told = Refused(404, "there is nothing of this name.", advice="See /openapi.json.")
    return problem_for(request.scope, told)


def records_of(services: ServicesDep) -> Records:
    """What the pages read."""
    return services.records


def asked_for(
    *,
    score: Annotated[list[str], Query()] = [],  # noqa: B006 - FastAPI copies it
    find: Annotated[str, Query(max_length=500)] = "",
    step: Annotated[str, Query(max_length=40)] = "",
    by: str = "",
    down: bool = False,
    first: FirstQuery = 0,
) -> Asked:
    """Which cases of a run the address asks for."""
    return Asked.of(score, find, step, by, down=down, first=first)


RecordsDep = Annotated[Records, Depends(records_of)]
AskedDep = Annotated[Asked, Depends(asked_for)]


@router.get("/")
async def overview(
    request: Request,
    records: RecordsDep,
    source: str = "",
    tag: Annotated[str, Query(max_length=500)] = "",
    first: FirstQuery = 0,
) -> Response:
    """Recent runs."""
    chosen = Chosen(source=source, tag=tag, first=first)
    return await asyncio.to_thread(overview_page, records, chosen, _endpoint(request))


@router.get("/runs/{run}")
async def one_run(records: RecordsDep, run: str, asked: AskedDep) -> Response:
    """A run and its cases."""
    return await asyncio.to_thread(lambda: run_page(records, records.store.find(run), asked))


@router.get("/runs/{run}/case")
async def case_by_id(records: RecordsDep, run: str, id: str) -> Response:  # noqa: A002
    """The way to the case with this id."""
    found = await asyncio.to_thread(
        lambda: records.store.result(records.store.find(run).id, id).position
    )
    return RedirectResponse(f"cases/{found}", 303)


@router.get("/runs/{run}/cases/{position}")
async def one_case(
    services: ServicesDep, records: RecordsDep, run: str, position: Position, asked: AskedDep
) -> Response:
    """A case of a run."""
    return await asyncio.to_thread(
        lambda: case_page(records, records.store.find(run), position, asked, _reading(services))
    )


@router.get("/compare")
async def compare(records: RecordsDep, base: str = "", new: str = "") -> Response:
    """Two runs side by side."""
    return await asyncio.to_thread(compare_page, records, base, new)


@router.get("/live")
async def live(request: Request) -> Response:
    """Traces under way; the script of the page listens to them."""
    return page("live", LIVE, title="Live", endpoint=_endpoint(request))


@router.get("/try")
async def try_form(services: ServicesDep, case: str = "") -> Response:
    """The form, empty or filled in with an example."""
    return _try_page(services, example(case))


@router.post("/try")
async def try_case(request: Request, services: ServicesDep) -> Response:
    """The verdict on what was pasted; nothing of it is kept."""
    fields = fields_of(await request.body())
    judge = fields["judge"] or None
    try:
        reading = _reading(services, judge)
        case = await asyncio.to_thread(pasted_case, fields, services.desk.judging(judge).limits)
        verdict, _ = await services.desk.verdict(CaseLine("case", case), judge)
        if verdict.outcome is Outcome.INVALID_INPUT:
            raise InvalidInput(verdict.reason)
    except PlanproofError as error:
        return _try_page(services, fields, problem=error)
    judged = await asyncio.to_thread(judged_case, case, verdict, reading)
    room = Room.among(len(judged.trace.events) if judged.trace else 0)
    return _try_page(services, fields, data=case_data(judged, room=room, secrets=False))


def _try_page(
    services: Services,
    fields: dict[str, str],
    *,
    data: Any = None,
    problem: PlanproofError | None = None,
) -> Response:
    refused = None if problem is None else SHOW(str(problem))
    answer = page(
        "try",
        TRY,
        title="Try",
        status=200 if problem is None else 422,
        fields=fields,
        judges=list(services.settings.judgings),
        examples=EXAMPLES,
        data=data,
        problem=refused,
    )
    if isinstance(problem, Refused):
        answer.status_code = problem.status
    return answer


def _reading(services: Services, judge: str | None = None) -> Reading:
    judging = services.desk.judging(judge)
    return Reading(
        judging.reader, judging.vocabulary, judging.limits, in_force=judging.plan_in_force
    )


def _endpoint(request: Request) -> str:
    """Where OpenTelemetry can send traces, as whoever looks reaches this server."""
    return SHOW(f"{request.base_url}v1/traces")
