"""Outermost middleware: count and log every request, hide internal errors, add security headers."""

from __future__ import annotations

from time import perf_counter

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planproof.server.http_problems import RequestRefused, make_problem_response
from planproof.server.observability import Metrics, log_error, log_event

_OTHER = "other"
_CLIENT_CLOSED_REQUEST = 499
"""The client disconnected before the response; the status that nginx logs for this."""


class RequestLogger:
    """Count and log requests by route; an unexpected error becomes a plain 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its status and duration."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status = 0

        async def send_and_record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_record)
        except ClientDisconnect:
            status = _CLIENT_CLOSED_REQUEST
        except Exception as error:
            log_error("internal error", error, route=_route_pattern(scope))
            if status:
                raise  # the response has started, and can only be aborted
            refused = RequestRefused(500, "internal server error.", advice="See the server log.")
            await make_problem_response(refused)(scope, receive, send_and_record)
        finally:
            self._record_request(scope, status, perf_counter() - began)

    def _record_request(self, scope: Scope, status: int, seconds: float) -> None:
        method, route = _known_method(scope), _route_pattern(scope)
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        log_event(
            "request",
            method=method,
            route=route,
            status=status,
            seconds=round(seconds, 6),
            client=get_client_address(scope),
            key=scope.get("state", {}).get("key"),
        )


def get_client_address(scope: Scope) -> str:
    """Return the address that a request came from, which may be a proxy's."""
    return (scope.get("client") or ("unknown",))[0]


def _route_pattern(scope: Scope) -> str:
    """Return the route's path pattern: the path itself may contain a case id or other content."""
    return getattr(scope.get("route"), "path", _OTHER)


def _known_method(scope: Scope) -> str:
    method = scope["method"]
    known = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    return method if method in known else _OTHER


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: browsers would then send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class SecurityHeaders:
    """Add security headers to every response that does not set them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
