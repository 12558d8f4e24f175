"""Route that judges a single case."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from planproof.core.verdict import Verdict
from planproof.readers.decoding.case_files import CaseLine, parse_case
from planproof.server.api.schemas import (
    WRITE_ERRORS,
    PostedCase,
    build_openapi_schema,
    describe_body,
    describe_responses,
    load_demo_case,
)
from planproof.server.guard.body_limits import read_json_body
from planproof.server.http_problems import make_json_response
from planproof.server.services import ServicesDep

router = APIRouter(prefix="/v1", tags=["verdicts"])

JudgeQuery = Annotated[
    str | None,
    Query(description="The judge to use; by default, the server's.", examples=["rules"]),
]


@router.post(
    "/verdicts",
    summary="Judge one case.",
    responses=describe_responses("judge_case", Verdict, "The full verdict.", WRITE_ERRORS),
    openapi_extra=describe_body(
        "A case.", build_openapi_schema(PostedCase), load_demo_case("claimed")
    ),
)
async def judge_case(request: Request, services: ServicesDep, judge: JudgeQuery = None) -> Response:
    """Judge a case without storing it.

    A case that can be read but not judged gets a verdict without a score.
    """
    case = parse_case(await read_json_body(request, services.settings.limits), name="body")
    verdict, _ = await services.judge_queue.submit(CaseLine("body", case, id=case.id), judge)
    return make_json_response(verdict.full())
