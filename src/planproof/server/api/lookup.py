"""Finding what a request names: a run, a case of it; and what is told when there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Path, Query
from pydantic import StringConstraints

from planproof.errors import InvalidInput
from planproof.runs.run_names import find_run_by_name
from planproof.runs.run_records import Run
from planproof.server.http_problems import RequestRefused
from planproof.server.services import ServicesDep

_T = TypeVar("_T")
_MAX_INT32 = 2**31 - 1

FirstQuery = Annotated[
    int, Query(ge=0, le=_MAX_INT32, description="How many are left out before.", examples=[0])
]
TagQuery = Annotated[
    list[Annotated[str, StringConstraints(pattern="^[^=]+=")]] | None,
    Query(description="A tag, as NAME=VALUE; several all have to fit."),
]
CasePath = Annotated[str, Path(description="Its id, or its position from 0 up.", examples=["0"])]


async def find_or_404(where: str, find: Callable[[], _T]) -> _T:
    """What is found in the store; 404 where there is no such thing."""
    try:
        return await asyncio.to_thread(find)
    except InvalidInput as error:
        raise RequestRefused(404, error.what, where=where, advice=error.advice) from error


async def _find_run(
    services: ServicesDep,
    run: Annotated[
        str,
        Path(
            description="An id, the beginning of one, `latest`, or NAME=VALUE: the last with it.",
            examples=["latest"],
        ),
    ],
) -> Run:
    return await find_or_404("run", lambda: find_run_by_name(services.store, run))


RunDep = Annotated[Run, Depends(_find_run)]
