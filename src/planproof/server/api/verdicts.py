"""A case in, a verdict out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from planproof.case_file import CaseLine, case_of
from planproof.server.answers import json_answer
from planproof.server.guard.bodies import json_body
from planproof.server.services import ServicesDep

router = APIRouter(prefix="/v1", tags=["verdicts"])

JudgeQuery = Annotated[
    str | None, Query(description="The judge, if not the usual one of this server.")
]


@router.post("/verdicts", summary="Judge one case.")
async def judge(request: Request, services: ServicesDep, judge: JudgeQuery = None) -> Response:
    """Judge a case, and keep nothing of it."""
    case = case_of(await json_body(request, services.settings.limits), name="body")
    verdict, _ = await services.desk.verdict(CaseLine("body", case, id=case.id), judge)
    return json_answer(verdict.full())
