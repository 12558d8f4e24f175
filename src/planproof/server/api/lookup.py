"""Finding what a request names: a run, a case of it; and what is told when there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Path, Query
from pydantic import StringConstraints

from planproof.errors import InvalidInput
from planproof.runs.run_names import named_run
from planproof.runs.run_records import Run
from planproof.server.http_problems import Refused
from planproof.server.services import ServicesDep

_T = TypeVar("_T")
_LARGEST = 2**31 - 1

FirstQuery = Annotated[
    int, Query(ge=0, le=_LARGEST, description="How many are left out before.", examples=[0])
]
TagQuery = Annotated[
    list[Annotated[str, StringConstraints(pattern="^[^=]+=")]] | None,
    Query(description="A tag, as NAME=VALUE; several all have to fit."),
]
CasePath = Annotated[str, Path(description="Its id, or its position from 0 up.", examples=["0"])]


async def looked_up(where: str, look: Callable[[], _T]) -> _T:
    """What is found in the store; 404 where there is no such thing."""
    try:
        return await asyncio.to_thread(look)
    except InvalidInput as error:
        raise Refused(404, error.what, where=where, advice=error.advice) from error


async def _named(
    services: ServicesDep,
    run: Annotated[
        str,
        Path(
            description="An id, the beginning of one, `latest`, or NAME=VALUE: the last with it.",
            examples=["latest"],
        ),
    ],
) -> Run:
    return await looked_up("run", lambda: named_run(services.store, run))


RunDep = Annotated[Run, Depends(_named)]
