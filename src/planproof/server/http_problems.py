"""Error responses as problem JSON (what, where, advice), never with a traceback."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.responses import Response

from planproof.core.content import Json
from planproof.errors import InvalidInput, PlanproofError, StoreFailed, UnknownName
from planproof.server.observability import log_error

PROBLEM_MEDIA_TYPE = "application/problem+json"
_STORE_RETRY_SECONDS = 5


class RequestRefused(PlanproofError):
    """A refused request, with its HTTP status."""

    def __init__(
        self,
        status: int,
        what: str,
        *,
        where: str | None = None,
        advice: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(what, where=where, advice=advice)
        self.status = status
        self.retry_after = retry_after


class ServerBusy(RequestRefused):
    """The server is overloaded; the client may retry after `retry_after` seconds."""

    def __init__(self, what: str, retry_after: int = 1) -> None:
        super().__init__(503, what, advice="Try again later.", retry_after=retry_after)


def make_problem_response(refused: RequestRefused) -> Response:
    """Return the response that describes an error."""
    content: dict[str, Json] = {
        "status": refused.status,
        "what": refused.what,
        "where": refused.where,
        "advice": refused.advice,
    }
    retry_after = refused.retry_after
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return make_json_response(
        content, status=refused.status, headers=headers, media_type=PROBLEM_MEDIA_TYPE
    )


def to_request_refused(error: PlanproofError) -> RequestRefused:
    """Return the error as a `RequestRefused` with the HTTP status for its type."""
    if isinstance(error, RequestRefused):
        return error
    if isinstance(error, StoreFailed):
        return _describe_store_failure(error)
    status = 500
    if isinstance(error, InvalidInput):
        status = 422
    elif isinstance(error, UnknownName):
        status = 404
    return RequestRefused(status, error.what, where=error.where, advice=error.advice)


def _describe_store_failure(error: StoreFailed) -> RequestRefused:
    """Log a store failure, and return a 503 that does not reveal where the store is."""
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415 - already loaded by the raiser

    # Only then does the message describe the database, and not stored content.
    why = error.what if isinstance(error.__cause__, OperationalError) else None
    log_error("store failed", error, why=why)
    return RequestRefused(
        503,
        "the store is unavailable or full.",
        advice="Try again later; see the server log for details.",
        retry_after=_STORE_RETRY_SECONDS,
    )


def _find_allowed_methods(request: Request) -> set[str]:
    """Return all methods of a path; the router reports only those of its first route."""
    path = getattr(request.scope.get("route"), "path", None)
    routes = iter_route_contexts(request.app.routes)
    return {method for route in routes if route.path == path for method in route.methods or ()}


def add_error_handlers(app: FastAPI) -> None:
    """Add handlers that answer every error with problem JSON."""

    async def handle_planproof_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, PlanproofError)
        return make_problem_response(to_request_refused(error))

    async def handle_validation_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = "/".join(str(part) for part in first["loc"])
        return make_problem_response(
            RequestRefused(422, f"{first['msg']}.", where=where, advice="See /openapi.json.")
        )

    async def handle_http_exception(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        answer = make_problem_response(
            RequestRefused(error.status_code, f"{error.detail}.", advice="See /openapi.json.")
        )
        answer.headers.update(error.headers or {})
        if error.status_code == 405:
            answer.headers["Allow"] = ", ".join(sorted(_find_allowed_methods(request)))
        return answer

    app.add_exception_handler(PlanproofError, handle_planproof_error)
    app.add_exception_handler(RequestValidationError, handle_validation_error)
    app.add_exception_handler(HTTPException, handle_http_exception)


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def make_json_response(
    value: Json,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Response:
    """Return a JSON response. ASCII only, so that lone surrogates in a trace can be encoded."""
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        # NaN and infinities are not valid JSON: write them as strings.
        text = _ENCODER.encode(json.loads(json.dumps(value), parse_constant=str))
    return Response(text.encode("ascii"), status, headers=headers, media_type=media_type)
