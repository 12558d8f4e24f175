"""Outermost of all: every request is counted and logged, and what breaks is told without a word."""

from __future__ import annotations

from time import perf_counter

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planproof.server.http_problems import Refused, problem
from planproof.server.json_logs import tell, tell_fault
from planproof.server.prometheus_metrics import Metrics

_ELSEWHERE = "other"
_GONE = 499
"""Nobody is there any more to be answered: what nginx writes down in that case."""


class Watching:
    """Counts and logs requests by their routes; an error that nobody expected is a plain 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and see what becomes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status = 0

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        except ClientDisconnect:
            status = _GONE
        except Exception as error:
            tell_fault("fault", error, route=_route(scope))
            if status:
                raise  # the answer has begun: all that can be done is to break it off
            fault = Refused(500, "something broke here.", advice="The logs say where.")
            await problem(fault)(scope, receive, seen)
        finally:
            self._count(scope, status, perf_counter() - began)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method, route = _method(scope), _route(scope)
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        tell(
            "request",
            method=method,
            route=route,
            status=status,
            seconds=round(seconds, 6),
            client=(scope.get("client") or ("unknown",))[0],
            key=scope.get("state", {}).get("key"),
        )


def _route(scope: Scope) -> str:
    """The pattern of the path: the path itself may hold the id of a case, or anything."""
    return getattr(scope.get("route"), "path", _ELSEWHERE)


def _method(scope: Scope) -> str:
    method = scope["method"]
    known = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    return method if method in known else _ELSEWHERE
