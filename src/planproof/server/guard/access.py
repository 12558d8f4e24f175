"""Access control middleware: origin and host checks, API keys and sessions, rate limits."""

from __future__ import annotations

import math
import re
from asyncio import sleep
from collections import OrderedDict
from http.cookies import CookieError, SimpleCookie
from time import monotonic

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from planproof.errors import PlanproofError
from planproof.server.connection_limits import HEALTH_CHECKS_ONLY
from planproof.server.guard import sign_in
from planproof.server.guard.api_keys import Key, Role, hash_secret
from planproof.server.guard.body_limits import mark_permitted
from planproof.server.guard.request_log import get_client_address
from planproof.server.guard.sign_in import Sessions
from planproof.server.http_problems import RequestRefused, ServerBusy, make_problem_response
from planproof.server.pages.rendering import accepts_html, respond_to_error
from planproof.server.server_settings import ServerSettings, is_loopback
from planproof.server.services import Services

PATHS_WITHOUT_KEY = frozenset(("/healthz", "/readyz"))
"""Served without a key, because health checks have none."""
_MAX_FORM_BYTES = 8_192
_MAX_PAUSED = 100


class AccessControl:
    """ASGI middleware that passes only permitted requests on to the application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._needs_keys = settings.requires_keys
        self._rate_limiter = ClientRateLimiter(settings.limits.rate)
        self._wrong_keys = WrongKeyBackoff()
        self._sessions = Sessions()
        self._paused_count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or respond to it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._check_request(scope, receive)
        except PlanproofError as error:
            answer = respond_to_error(scope, error)
        if answer is None:
            await self._app(scope, receive, send)
        else:
            await answer(scope, receive, send)

    async def _check_request(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the response for a request that is not passed on, or None."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        check_origin(method, headers)
        address = get_client_address(scope)
        if path not in PATHS_WITHOUT_KEY and scope.get("state", {}).get(HEALTH_CHECKS_ONLY):
            raise ServerBusy("too many connections are open.")
        if not self._needs_keys:
            check_host(headers)
            self._check_rate(_name_client(path, address))
            mark_permitted(scope)
            return None
        if path in PATHS_WITHOUT_KEY and method in SAFE_METHODS:
            self._check_rate(_name_client(path, address))
            return None
        services: Services = scope["app"].state.services
        bearer_key, session = _read_bearer_key(headers), _read_session(headers)
        if path == sign_in.SIGN_IN_PATH and method == "POST":
            self._check_rate(f"address {address}")
            return await self._sign_in(scope, receive, services, address)
        key = await self._find_key(services, bearer_key, session)
        self._check_rate(f"address {address}" if key is None else f"key {key.name}")
        if key is None:
            return await self._respond_without_key(scope, bearer_key, address)
        scope.setdefault("state", {})["key"] = key.name
        mark_permitted(scope)
        if path == sign_in.SIGN_OUT_PATH and method == "POST":
            self._sessions.end(session or "")
            return sign_in.make_sign_out_response()
        if method not in SAFE_METHODS and key.role is not Role.WRITE:
            raise RequestRefused(
                403,
                f"the key `{key.name}` is read-only.",
                where="Authorization",
                advice="Use a key created with --role write.",
            )
        return None

    async def _find_key(
        self, services: Services, bearer_key: str | None, session: str | None
    ) -> Key | None:
        if bearer_key is not None:
            return await services.keys.find_by_digest(hash_secret(bearer_key))
        digest = None if session is None else self._sessions.find_key_digest(session)
        return None if digest is None else await services.keys.find_by_digest(digest)

    async def _respond_without_key(
        self, scope: Scope, bearer_key: str | None, address: str
    ) -> Response:
        if bearer_key is not None:
            await self._pause_wrong_key(address)
        elif scope["method"] == "GET" and accepts_html(Headers(scope=scope)):
            query = scope["query_string"].decode("latin-1")
            path = scope["path"]
            return sign_in.render_form(f"{path}?{query}" if query else path, path=path)
        answer = make_problem_response(
            RequestRefused(
                401,
                "an API key is required." if bearer_key is None else "unknown API key.",
                where="Authorization",
                advice="Send `Authorization: Bearer KEY`; `planproof keys add` creates one.",
            )
        )
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    async def _sign_in(
        self, scope: Scope, receive: Receive, services: Services, address: str
    ) -> Response:
        typed, to = sign_in.parse_form(await _read_form_body(receive))
        key = await services.keys.find_by_digest(hash_secret(typed)) if typed else None
        if key is None:
            await self._pause_wrong_key(address)
            return sign_in.render_form(to, message="Unknown key.")
        session = self._sessions.begin(key.digest)
        # A proxy may have terminated TLS; a client that forges the header harms only itself.
        forwarded_proto = Headers(scope=scope).get("x-forwarded-proto")
        return sign_in.make_sign_in_response(
            session, to, secure="https" in (scope["scheme"], forwarded_proto)
        )

    async def _pause_wrong_key(self, address: str) -> None:
        """Delay the response to a wrong key; the delay grows with every attempt."""
        pause = self._wrong_keys.next_delay(address)
        if self._paused_count >= _MAX_PAUSED:
            raise _make_rate_error(int(pause) + 1)
        self._paused_count += 1
        try:
            await sleep(pause)
        finally:
            self._paused_count -= 1

    def _check_rate(self, client: str) -> None:
        wait = self._rate_limiter.acquire(client)
        if wait is not None:
            raise _make_rate_error(wait)


def _name_client(path: str, address: str) -> str:
    """Return whose rate a request without a key counts for; health checks have one of their own."""
    return f"health {address}" if path in PATHS_WITHOUT_KEY else f"address {address}"


def _make_rate_error(wait: int) -> RequestRefused:
    return RequestRefused(
        429, "too many requests.", advice="Send fewer requests; see Retry-After.", retry_after=wait
    )


def _read_bearer_key(headers: Headers) -> str | None:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


def _read_session(headers: Headers) -> str | None:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[sign_in.COOKIE].value if sign_in.COOKIE in cookies else None


async def _read_form_body(receive: Receive) -> bytes:
    """Return the body of the sign-in form; raises `RequestRefused` if it is too long."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_FORM_BYTES:
            raise RequestRefused(413, "is too long.", where="body", advice="Send only a key.")
        if not message.get("more_body", False):
            return body


SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::[0-9]{1,5})?", re.ASCII)
"""A host name or address, and an optional port."""
_OWN_SITES = frozenset(("same-origin", "none"))


def check_host(headers: Headers) -> None:
    """Refuse a request whose `Host` is not a loopback name, against DNS rebinding."""
    host = headers.get("host", "")
    name = _HOST.fullmatch(host)
    if name is None or not is_loopback(name[1]):
        raise RequestRefused(
            403,
            f"the host `{host}` is not a loopback address.",
            where="Host",
            advice="Use http://127.0.0.1 or localhost; other hosts require --demand-keys.",
        )


def check_origin(method: str, headers: Headers) -> None:
    """Refuse requests sent on behalf of another site; links from it may be followed."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host", ""):
        raise _make_origin_error("Origin")
    site = headers.get("sec-fetch-site", "none")
    if site in _OWN_SITES:
        return
    is_navigation = headers.get("sec-fetch-mode") == "navigate"
    is_document = headers.get("sec-fetch-dest", "document") == "document"
    if not (is_navigation and is_document and method in SAFE_METHODS):
        raise _make_origin_error("Sec-Fetch-Site")


def _make_origin_error(header: str) -> RequestRefused:
    return RequestRefused(
        403,
        "the request was sent on behalf of another site.",
        where=header,
        advice="Cross-site requests are not allowed.",
    )


_MAX_CLIENTS = 10_000
_RESET_SECONDS = 600.0
_FIRST_DELAY = 0.25
_MAX_DELAY = 8.0


class ClientRateLimiter:
    """Allow each client `rate` requests per second, with a burst of one second's worth."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._burst = max(1.0, rate)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, client: str) -> int | None:
        """Count a request and return None, or return the seconds that the client must wait."""
        now = monotonic()
        tokens, last = self._clients.get(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - last) * self._rate)
        is_allowed = tokens >= 1
        self._clients[client] = (tokens - 1 if is_allowed else tokens), now
        self._clients.move_to_end(client)
        if len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return None if is_allowed else math.ceil((1 - tokens) / self._rate)


class WrongKeyBackoff:
    """Count wrong keys by address; the delay doubles with each one, up to a maximum."""

    def __init__(self) -> None:
        self._attempts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def next_delay(self, address: str) -> float:
        """Count a wrong key, and return the seconds to wait before responding to it."""
        now = monotonic()
        tries, last = self._attempts.get(address, (0, now))
        if now - last > _RESET_SECONDS:
            tries = 0
        self._attempts[address] = tries + 1, now
        self._attempts.move_to_end(address)
        if len(self._attempts) > _MAX_CLIENTS:
            self._attempts.popitem(last=False)
        return min(_MAX_DELAY, _FIRST_DELAY * 2.0 ** min(tries, 10))
