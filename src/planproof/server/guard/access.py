"""Who is answered: no foreign site, nobody without a key where keys are demanded, nor too often."""

from __future__ import annotations

from asyncio import sleep
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from planproof.errors import PlanproofError
from planproof.server.guard import sign_in
from planproof.server.guard.api_keys import Key, Role, digest_of
from planproof.server.guard.client_rates import Rates, WrongKeys
from planproof.server.guard.origins import SAFE, check_host, check_origin
from planproof.server.guard.sessions import Sessions
from planproof.server.http_problems import Refused, problem
from planproof.server.pages.rendering import problem_for, wants_page
from planproof.server.server_settings import ServerSettings
from planproof.server.services import Services

OPEN = frozenset(("/healthz", "/readyz"))
"""Answered without a key: who watches over servers has none."""
_LONGEST_FORM = 8_192
_MOST_PAUSING = 100


class Access:
    """Stands before the application, and lets by who may ask."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._needs_keys = settings.needs_keys
        self._rates = Rates(settings.limits.rate)
        self._wrong = WrongKeys()
        self._sessions = Sessions()
        self._pausing = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request by, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._stopped(scope, receive)
        except PlanproofError as error:
            answer = problem_for(scope, error)
        if answer is None:
            await self._app(scope, receive, send)
        else:
            await answer(scope, receive, send)

    async def _stopped(self, scope: Scope, receive: Receive) -> Response | None:
        """The answer to who is not let by."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        check_origin(method, headers)
        address = (scope.get("client") or ("unknown",))[0]
        if not self._needs_keys:
            check_host(headers)
            self._count(f"address {address}")
            return None
        if path in OPEN and method in SAFE:
            self._count(f"address {address}")
            return None
        services: Services = scope["app"].state.services
        given, session = _bearer(headers), _session(headers)
        if path == sign_in.PATH and method == "POST":
            self._count(f"address {address}")
            return await self._sign_in(scope, receive, services, address)
        key = await self._key(services, given, session)
        self._count(f"address {address}" if key is None else f"key {key.name}")
        if key is None:
            return await self._keyless(scope, given, address)
        scope.setdefault("state", {})["key"] = key.name
        if path == sign_in.OUT and method == "POST":
            self._sessions.end(session or "")
            return sign_in.signed_out()
        if method not in SAFE and key.role is not Role.WRITE:
            raise Refused(
                403,
                f"the key `{key.name}` may only read.",
                where="Authorization",
                advice="Use one that was made with --role write.",
            )
        return None

    async def _key(self, services: Services, given: str | None, session: str | None) -> Key | None:
        if given is not None:
            return await services.keys.with_digest(digest_of(given))
        digest = None if session is None else self._sessions.key_digest(session)
        return None if digest is None else await services.keys.with_digest(digest)

    async def _keyless(self, scope: Scope, given: str | None, address: str) -> Response:
        if given is not None:
            await self._pause(address)
        elif scope["method"] == "GET" and wants_page(Headers(scope=scope)):
            query = scope["query_string"].decode("latin-1")
            path = scope["path"]
            return sign_in.form(f"{path}?{query}" if query else path, at=path)
        answer = problem(
            Refused(
                401,
                "a key is needed." if given is None else "the key is not known.",
                where="Authorization",
                advice="Send `Authorization: Bearer KEY`; `planproof keys add` makes one.",
            )
        )
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    async def _sign_in(
        self, scope: Scope, receive: Receive, services: Services, address: str
    ) -> Response:
        typed, to = sign_in.filled_in(await _short_body(receive))
        key = await services.keys.with_digest(digest_of(typed)) if typed else None
        if key is None:
            await self._pause(address)
            return sign_in.form(to, told="This key is not known.")
        session = self._sessions.begin(key.digest)
        # A proxy in front may have unwrapped it; who lies about that harms nobody else.
        told = Headers(scope=scope).get("x-forwarded-proto")
        return sign_in.signed_in(session, to, secure="https" in (scope["scheme"], told))

    async def _pause(self, address: str) -> None:
        """Let who tried a wrong key wait, the longer the more they tried."""
        pause = self._wrong.pause_of(address)
        if self._pausing >= _MOST_PAUSING:
            raise _too_often(int(pause) + 1)
        self._pausing += 1
        try:
            await sleep(pause)
        finally:
            self._pausing -= 1

    def _count(self, client: str) -> None:
        wait = self._rates.wait_of(client)
        if wait is not None:
            raise _too_often(wait)


def _too_often(wait: int) -> Refused:
    return Refused(
        429, "too many requests.", advice="Ask less often; see Retry-After.", retry_after=wait
    )


def _bearer(headers: Headers) -> str | None:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


def _session(headers: Headers) -> str | None:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[sign_in.COOKIE].value if sign_in.COOKIE in cookies else None


async def _short_body(receive: Receive) -> bytes:
    """The body of a form, which is short or none of ours."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _LONGEST_FORM:
            raise Refused(413, "is too long.", where="body", advice="Send a key, and nothing else.")
        if not message.get("more_body", False):
            return body
