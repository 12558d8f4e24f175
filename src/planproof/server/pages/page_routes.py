"""Routes of the web pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import RedirectResponse, Response

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.verdict import Outcome
from planproof.errors import InvalidInput, PlanproofError
from planproof.evaluation import ReadOptions
from planproof.readers.decoding.case_files import CaseLine, read_case
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.task_content import read_task
from planproof.reports.html.case_page import build_case_data, read_judged_case
from planproof.reports.html.size_budget import SizeBudget
from planproof.server.http_problems import RequestRefused
from planproof.server.pages.compare_page import render_comparison_response
from planproof.server.pages.overview_page import OverviewFilter, render_overview_response
from planproof.server.pages.page_queries import RunQueries
from planproof.server.pages.rendering import (
    CASE,
    CASE_REDIRECT,
    COMPARE,
    LIVE,
    RUN,
    RUNS,
    TRY,
    Assets,
    mask_text,
    render_page,
    render_problem_page,
    respond_to_error,
    viewer,
)
from planproof.server.pages.run_pages import CaseFilter, render_case_response, render_run_response
from planproof.server.services import Services, ServicesDep

_MAX_QUERY_NUMBER = 1_000_000_000
_LOCATION_BY_PATH = {
    "/runs/{run}/cases/{position}": CASE,
    "/runs/{run}/case": CASE_REDIRECT,
    "/runs/{run}": RUN,
    "/compare": COMPARE,
    "/try": TRY,
}


class PageRoute(APIRoute):
    """A route whose errors are shown as a page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, wrapped so that errors are rendered as a page."""
        handler = super().get_route_handler()
        location = _LOCATION_BY_PATH.get(self.path, RUNS)

        async def handle(request: Request) -> Response:
            viewer.set(request.scope.get("state", {}).get("key"))
            try:
                return await handler(request)
            except RequestValidationError:
                return render_problem_page(RequestRefused(404, "there is no such page."), location)
            except PlanproofError as error:
                return render_problem_page(error, location)

        return handle


router = APIRouter(route_class=PageRoute, include_in_schema=False)

OffsetQuery = Annotated[int, Query(ge=0, le=_MAX_QUERY_NUMBER)]
Position = Annotated[int, Path(ge=0, le=_MAX_QUERY_NUMBER)]


def add_pages(app: FastAPI) -> None:
    """Add the pages, their assets and the 404 handler to an application."""
    app.include_router(router)
    app.add_exception_handler(404, _respond_not_found)
    app.mount("/assets", Assets(), name="assets")


async def _respond_not_found(request: Request, _: Exception) -> Response:
    error = RequestRefused(404, "there is nothing at this URL.", advice="See /openapi.json.")
    return respond_to_error(request.scope, error)


async def get_queries(services: ServicesDep) -> RunQueries:
    """Return the queries that pages use."""
    return services.queries


async def parse_case_filter(
    *,
    score: Annotated[list[str], Query()] = [],  # noqa: B006 - FastAPI copies it
    find: Annotated[str, Query(max_length=500)] = "",
    step: Annotated[str, Query(max_length=40)] = "",
    by: str = "",
    down: bool = False,
    first: OffsetQuery = 0,
) -> CaseFilter:
    """Return the filter for a run's cases from the query parameters."""
    return CaseFilter.parse(score, find, step, by, down=down, first=first)


RunQueriesDep = Annotated[RunQueries, Depends(get_queries)]
CaseFilterDep = Annotated[CaseFilter, Depends(parse_case_filter)]


@router.get("/")
async def show_overview(
    request: Request,
    queries: RunQueriesDep,
    source: str = "",
    tag: Annotated[str, Query(max_length=500)] = "",
    first: OffsetQuery = 0,
) -> Response:
    """Show recent runs."""
    overview_filter = OverviewFilter(source=source, tag=tag, first=first)
    return await asyncio.to_thread(
        render_overview_response, queries, overview_filter, _format_otlp_endpoint(request)
    )


@router.get("/runs/{run}")
async def show_run_page(queries: RunQueriesDep, run: str, case_filter: CaseFilterDep) -> Response:
    """Show a run and its cases."""
    return await asyncio.to_thread(
        lambda: render_run_response(queries, queries.store.find_run(run), case_filter)
    )


@router.get("/runs/{run}/case")
async def redirect_to_case(queries: RunQueriesDep, run: str, id: str) -> Response:  # noqa: A002
    """Redirect to the case with this id."""
    position = await asyncio.to_thread(
        lambda: queries.store.get_result(queries.store.find_run(run).id, id).position
    )
    return RedirectResponse(f"cases/{position}", 303)


@router.get("/runs/{run}/cases/{position}")
async def show_case_page(
    services: ServicesDep,
    queries: RunQueriesDep,
    run: str,
    position: Position,
    case_filter: CaseFilterDep,
) -> Response:
    """Show a case of a run."""
    return await asyncio.to_thread(
        lambda: render_case_response(
            queries,
            queries.store.find_run(run),
            position,
            case_filter,
            _make_read_options(services),
        )
    )


@router.get("/compare")
async def show_comparison(queries: RunQueriesDep, base: str = "", new: str = "") -> Response:
    """Show what changed from one run to another."""
    return await asyncio.to_thread(render_comparison_response, queries, base, new)


@router.get("/live")
async def show_live(request: Request) -> Response:
    """Show running traces; the script of the page listens for changes."""
    return render_page("live", LIVE, title="Live", endpoint=_format_otlp_endpoint(request))


@router.get("/try")
async def show_try_form(services: ServicesDep, case: str = "") -> Response:
    """Show the form, empty or filled in with an example."""
    return _render_try_page(services, load_example(case))


@router.post("/try")
async def try_case(request: Request, services: ServicesDep) -> Response:
    """Show the verdict on the pasted case; nothing is stored."""
    fields = parse_form_fields(await request.body())
    judge = fields["judge"] or None
    try:
        reading = _make_read_options(services, judge)
        case = await asyncio.to_thread(parse_pasted_case, fields, reading)
        verdict, _ = await services.judge_queue.submit(CaseLine("case", case), judge)
        if verdict.outcome is Outcome.INVALID_INPUT:
            raise InvalidInput(verdict.reason)
    except PlanproofError as error:
        return _render_try_page(services, fields, error=error)
    judged = await asyncio.to_thread(read_judged_case, case, verdict, reading)
    size_budget = SizeBudget.for_event_count(len(judged.trace.events) if judged.trace else 0)
    return _render_try_page(
        services, fields, data=build_case_data(judged, budget=size_budget, secrets=False)
    )


def _render_try_page(
    services: Services,
    fields: dict[str, str],
    *,
    data: Any = None,
    error: PlanproofError | None = None,
) -> Response:
    refused = None if error is None else mask_text(str(error))
    answer = render_page(
        "try",
        TRY,
        title="Try",
        status=200 if error is None else 422,
        fields=fields,
        judges=list(services.settings.evaluators),
        examples=EXAMPLES,
        data=data,
        problem=refused,
    )
    if isinstance(error, RequestRefused):
        answer.status_code = error.status
    return answer


def _make_read_options(services: Services, judge: str | None = None) -> ReadOptions:
    return services.judge_queue.get_evaluator(judge).make_read_options()


def _format_otlp_endpoint(request: Request) -> str:
    """Return the URL to which OpenTelemetry can send traces, as the client reaches this server."""
    return mask_text(f"{request.base_url}v1/traces")


EXAMPLES = {
    "followed": "a plan that was followed",
    "claimed": "a step that is only claimed",
    "reordered": "steps out of order",
}
"""Demo cases that the form can be filled in with."""
_FORM_FIELDS = ("task", "plan", "trace", "judge")


def parse_form_fields(body: bytes) -> dict[str, str]:
    """Return the fields of a submitted form."""
    try:
        form = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise RequestRefused(400, f"is not a valid form: {error}.", where="body") from error
    # Browsers submit CRLF line ends.
    return {name: form.get(name, [""])[0].replace("\r\n", "\n") for name in _FORM_FIELDS}


def load_example(name: str) -> dict[str, str]:
    """Return the form fields of an example; empty fields for an unknown name."""
    if name not in EXAMPLES:
        return dict.fromkeys(_FORM_FIELDS, "")
    data = files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_text(encoding="utf-8")
    record: dict[str, Json] = json.loads(data)
    return {
        "task": str(record["user_task"]),
        "plan": str(record["agent_plan"]),
        "trace": json.dumps(record["execution_trace"], indent=1, ensure_ascii=False),
        "judge": "",
    }


def parse_pasted_case(fields: Mapping[str, str], reading: ReadOptions) -> Case:
    """Return the case in a form: task, plan and trace, or a whole case in the trace field."""
    if not fields["trace"].strip():
        raise InvalidInput(
            "the trace is missing.",
            where="trace",
            advice="Paste what the agent did: messages, spans, a log, or a whole case.",
        )
    data = fields["trace"].encode("utf-8", "surrogatepass")
    limits = reading.limits
    source = Source.from_bytes(data, name="trace", limits=limits)
    if is_object(source.document) and "execution_trace" in source.document:
        return read_case(data, name="trace", limits=limits)
    return Case(
        task=read_task(fields["task"]) if fields["task"].strip() else None,
        plan=fields["plan"] if fields["plan"].strip() else None,
        trace=select_trace(source, profiles=reading.profiles),
    )
