"""Runs: a data set in, a run out, and how far it has come."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from typing import Annotated, Any, BinaryIO, cast

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from planproof.core.content import Json
from planproof.reports.run_json import run_value, summary_json
from planproof.runs.run_names import tags_of
from planproof.runs.run_records import Run, RunState
from planproof.server.active_runs import Ordered
from planproof.server.api.lookup import FirstQuery, RunDep, TagQuery
from planproof.server.api.route_docs import (
    READS,
    STREAM,
    WRITES,
    answers,
    body,
    demo_case,
    schema_of,
)
from planproof.server.api.schemas import BegunRun, PostedCase, RunsPage, SummedRun
from planproof.server.api.verdict_routes import JudgeQuery
from planproof.server.json_responses import json_answer
from planproof.server.services import Services, ServicesDep

router = APIRouter(prefix="/v1", tags=["runs"])

_LOOKED = 0.2
_SILENCE = 15.0
_DEMO = [demo_case(name) for name in ("followed", "claimed", "reordered")]


def _begun_answers() -> dict[int | str, dict[str, Any]]:
    """What is answered to a data set, with where to go from there."""
    told = answers("begin_run", BegunRun, "The run has begun.", WRITES, status=202)
    of_run = {"run": "$response.body#/run/id"}
    told[202]["links"] = {
        name: {"operationId": name, "parameters": of_run}
        for name in ("show_run", "run_events", "list_cases", "list_verdicts")
    }
    return told


@router.post(
    "/runs",
    status_code=202,
    summary="Judge a data set.",
    responses=_begun_answers(),
    openapi_extra=body(
        "Cases or traces: an array, or JSON Lines; whatever `planproof run` reads of that sort.",
        schema_of(Annotated[list[PostedCase], Field(min_length=1)]),
        _DEMO,
    ),
)
async def begin_run(
    request: Request,
    services: ServicesDep,
    *,
    name: Annotated[
        str, Query(max_length=1_000, description="What the data set is called.", examples=["demo"])
    ] = "api",
    tag: TagQuery = None,
    judge: JudgeQuery = None,
    resume: Annotated[
        bool,
        Query(description="Go on with the run over a data set of this name that was broken off."),
    ] = False,
) -> Response:
    """Begin a run, and answer at once; its results are kept as they come.

    What was judged before, in the same way, is not judged again.
    """
    tags = tags_of(tag or ())
    services.runs.take_place()
    data = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed when the run is over
    try:
        async for piece in request.stream():
            await asyncio.to_thread(data.write, piece)
        data.seek(0)
        ordered = Ordered(data=data, source=name, tags=tags, judge=judge, resume=resume)
        run = await services.runs.begin(ordered)
    except BaseException:
        services.runs.leave_place()
        data.close()
        raise
    events = f"/v1/runs/{run.id}/events"
    return json_answer(
        {"run": run_value(run), "events": events},
        status=202,
        headers={"Location": f"/v1/runs/{run.id}"},
    )


@router.get(
    "/runs",
    summary="Runs, the newest first.",
    responses=answers("list_runs", RunsPage, "Some runs.", (422, 503)),
)
async def list_runs(
    services: ServicesDep,
    first: FirstQuery = 0,
    most: Annotated[int, Query(ge=1, le=500, description="How many, at the most.")] = 50,
    tag: TagQuery = None,
) -> Response:
    """List runs, the newest first, with these tags."""
    tags = tags_of(tag or ())
    found = await asyncio.to_thread(services.store.runs, first + most + 1, tags)
    page = found[first : first + most]
    more = len(found) > first + most
    return json_answer({"runs": [run_value(run) for run in page], "more": more})


@router.get(
    "/runs/{run}",
    summary="A run, and what it comes to.",
    responses=answers("show_run", SummedRun, "The run and its summary.", READS),
)
async def show_run(services: ServicesDep, run: RunDep) -> Response:
    """Sum up a run: scores, statuses, what was missed, what was slow, what could not be judged."""
    text = await asyncio.to_thread(lambda: summary_json(run, services.records.summary(run)))
    return Response(text.encode("ascii"), media_type="application/json")


@router.get(
    "/runs/{run}/events",
    summary="The progress of a run, as server-sent events.",
    response_class=StreamingResponse,
    responses=answers("run_events", None, "Events until the run is over.", READS),
)
async def run_events(services: ServicesDep, run: RunDep) -> StreamingResponse:
    """Tell of progress (`progress`) until the run is over (`over`)."""
    headers = {"X-Accel-Buffering": "no"}
    told = _told(services, run)
    return StreamingResponse(told, media_type=STREAM, headers=headers)


async def _told(services: Services, run: Run) -> AsyncIterator[bytes]:
    progress = services.runs.progress_of(run.id)
    if progress is None:
        over = run.state is not RunState.RUNNING
        yield _event("over" if over else "progress", {"run": run.id, "cases": run.cases})
        return
    last: dict[str, Json] = {}
    silent = 0.0
    while not services.closing.is_set():
        figures = progress.figures()
        if figures != last:
            yield _event("over" if figures["over"] else "progress", figures)
            last, silent = figures, 0.0
        elif silent >= _SILENCE:
            yield b": still at it\n\n"
            silent = 0.0
        if figures["over"]:
            return
        await asyncio.sleep(_LOOKED)
        silent += _LOOKED


def _event(name: str, figures: dict[str, Json]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(figures)}\n\n".encode("ascii")
