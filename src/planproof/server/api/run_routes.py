"""Routes for runs: start one over a data set, list and compare runs, follow progress."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, BinaryIO, TypeVar, cast

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, StringConstraints
from starlette.responses import Response, StreamingResponse

from planproof.core.content import Json
from planproof.errors import InvalidInput
from planproof.reports.json import comparison_to_json, run_to_dict, summary_to_json
from planproof.runs.run_names import find_base_run, find_run_by_name, parse_tags
from planproof.runs.run_records import Run, RunState
from planproof.server.active_runs import RunRequest
from planproof.server.api.schemas import (
    EVENT_STREAM,
    READ_ERRORS,
    WRITE_ERRORS,
    PostedCase,
    RunComparison,
    RunsPage,
    RunWithSummary,
    StartedRun,
    build_openapi_schema,
    describe_body,
    describe_responses,
    load_demo_case,
)
from planproof.server.api.verdict_routes import JudgeQuery
from planproof.server.http_problems import RequestRefused, make_json_response
from planproof.server.services import Services, ServicesDep

router = APIRouter(prefix="/v1", tags=["runs"])

_T = TypeVar("_T")
_MAX_INT32 = 2**31 - 1

FirstQuery = Annotated[
    int, Query(ge=0, le=_MAX_INT32, description="Number of results to skip.", examples=[0])
]
TagQuery = Annotated[
    list[Annotated[str, StringConstraints(pattern="^[^=]+=")]] | None,
    Query(description="A tag, as NAME=VALUE. Several tags must all match."),
]
CasePath = Annotated[
    str, Path(description="Its id, or its position, starting at 0.", examples=["0"])
]


async def find_or_404(where: str, find: Callable[[], _T]) -> _T:
    """Return the result of a store lookup; raises a 404 if nothing is found."""
    try:
        return await asyncio.to_thread(find)
    except InvalidInput as error:
        raise RequestRefused(404, error.what, where=where, advice=error.advice) from error


async def _find_run(
    services: ServicesDep,
    run: Annotated[
        str,
        Path(
            description="An id or its beginning, `latest`, or NAME=VALUE: the latest with it.",
            examples=["latest"],
        ),
    ],
) -> Run:
    return await find_or_404("run", lambda: find_run_by_name(services.store, run))


RunDep = Annotated[Run, Depends(_find_run)]


@router.get(
    "/compare",
    summary="Compare two runs.",
    responses=describe_responses(
        "compare_runs", RunComparison, "The two runs, and what changed.", READ_ERRORS
    ),
)
async def compare_runs(
    services: ServicesDep,
    base: Annotated[
        str,
        Query(
            description="A run as in `/v1/runs/{run}`, or `previous`: the last one over its data.",
            examples=["previous"],
        ),
    ],
    new: Annotated[
        str, Query(description="A run as in `/v1/runs/{run}`.", examples=["latest"])
    ] = "latest",
) -> Response:
    """Compare two runs case by case: what improved, what regressed, and is it significant."""
    store = services.store

    def render_comparison() -> str:
        later = find_run_by_name(store, new)
        earlier = find_base_run(store, base, later)
        return comparison_to_json(earlier, later, services.queries.get_comparison(earlier, later))

    text = await find_or_404("base or new", render_comparison)
    return Response(text.encode("ascii"), media_type="application/json")


_POLL_SECONDS = 0.2
_KEEP_ALIVE_SECONDS = 15.0
_DEMO_CASES = [load_demo_case(name) for name in ("followed", "claimed", "reordered")]


def _describe_run_responses() -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses to a data set, with links to the routes of the run."""
    responses = describe_responses(
        "start_run", StartedRun, "The run was started.", WRITE_ERRORS, status=202
    )
    run_parameters = {"run": "$response.body#/run/id"}
    responses[202]["links"] = {
        name: {"operationId": name, "parameters": run_parameters}
        for name in ("show_run", "stream_run_events", "list_cases", "list_verdicts")
    }
    return responses


@router.post(
    "/runs",
    status_code=202,
    summary="Judge a data set.",
    responses=_describe_run_responses(),
    openapi_extra=describe_body(
        "Cases or traces, as a JSON array or JSON Lines, in any form that `planproof run` reads.",
        build_openapi_schema(Annotated[list[PostedCase], Field(min_length=1)]),
        _DEMO_CASES,
    ),
)
async def start_run(
    request: Request,
    services: ServicesDep,
    *,
    name: Annotated[
        str, Query(max_length=1_000, description="Name of the data set.", examples=["demo"])
    ] = "api",
    tag: TagQuery = None,
    judge: JudgeQuery = None,
    resume: Annotated[
        bool,
        Query(description="Resume the interrupted run over the data set of this name."),
    ] = False,
) -> Response:
    """Start a run and respond at once; results are stored as they become available.

    Cases that were judged before in the same way are not judged again.
    """
    tags = parse_tags(tag or ())
    services.runs.reserve_slot()
    data = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed when the run ends
    try:
        async for chunk in request.stream():
            await asyncio.to_thread(data.write, chunk)
        data.seek(0)
        run_request = RunRequest(data=data, source=name, tags=tags, judge=judge, resume=resume)
        run = await services.runs.start(run_request)
    except BaseException:
        services.runs.release_slot()
        data.close()
        raise
    events = f"/v1/runs/{run.id}/events"
    return make_json_response(
        {"run": run_to_dict(run), "events": events},
        status=202,
        headers={"Location": f"/v1/runs/{run.id}"},
    )


@router.get(
    "/runs",
    summary="List runs, newest first.",
    responses=describe_responses("list_runs", RunsPage, "A page of runs.", (422, 503)),
)
async def list_runs(
    services: ServicesDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=500, description="Maximum number of runs.")] = 50,
    tag: TagQuery = None,
) -> Response:
    """List the runs with these tags, newest first."""
    tags = parse_tags(tag or ())
    runs = await asyncio.to_thread(services.store.list_runs, first + most + 1, tags)
    page = runs[first : first + most]
    more = len(runs) > first + most
    return make_json_response({"runs": [run_to_dict(run) for run in page], "more": more})


@router.get(
    "/runs/{run}",
    summary="Get a run and its summary.",
    responses=describe_responses(
        "show_run", RunWithSummary, "The run and its summary.", READ_ERRORS
    ),
)
async def show_run(services: ServicesDep, run: RunDep) -> Response:
    """Summarize a run: scores, statuses, missed steps, slow cases, cases without a score."""
    text = await asyncio.to_thread(lambda: summary_to_json(run, services.queries.get_summary(run)))
    return Response(text.encode("ascii"), media_type="application/json")


@router.get(
    "/runs/{run}/events",
    summary="Stream the progress of a run, as server-sent events.",
    response_class=StreamingResponse,
    responses=describe_responses(
        "stream_run_events", None, "Events until the run is finished.", READ_ERRORS
    ),
)
async def stream_run_events(services: ServicesDep, run: RunDep) -> StreamingResponse:
    """Send `progress` events while the run is in progress, and `over` when it is finished."""
    headers = {"X-Accel-Buffering": "no"}
    events = _stream_progress(services, run)
    return StreamingResponse(events, media_type=EVENT_STREAM, headers=headers)


async def _stream_progress(services: Services, run: Run) -> AsyncIterator[bytes]:
    progress = services.runs.find_progress(run.id)
    if progress is None:
        is_finished = run.state is not RunState.RUNNING
        yield _encode_event(
            "over" if is_finished else "progress", {"run": run.id, "cases": run.cases}
        )
        return
    last: dict[str, Json] = {}
    idle_seconds = 0.0
    while not services.closing.is_set():
        figures = progress.to_json()
        if figures != last:
            yield _encode_event("over" if figures["over"] else "progress", figures)
            last, idle_seconds = figures, 0.0
        elif idle_seconds >= _KEEP_ALIVE_SECONDS:
            yield b": keep-alive\n\n"
            idle_seconds = 0.0
        if figures["over"]:
            return
        await asyncio.sleep(_POLL_SECONDS)
        idle_seconds += _POLL_SECONDS


def _encode_event(name: str, figures: dict[str, Json]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(figures)}\n\n".encode("ascii")
