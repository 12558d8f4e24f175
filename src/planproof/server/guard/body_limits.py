"""Limit request bodies: size (compressed and uncompressed), speed, JSON depth and value count."""

from __future__ import annotations

import asyncio
import json
import math
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from time import monotonic

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planproof.core.content import Json
from planproof.core.json_values import (
    NOT_STRICT_ERRORS,
    has_more_values,
    is_deeper_than,
    parse_strict,
)
from planproof.readers.decoding.json_parsing import too_many_values_error
from planproof.server.connection_limits import HEALTH_CHECKS_ONLY
from planproof.server.guard.request_log import get_client_address
from planproof.server.http_problems import RequestRefused, ServerBusy
from planproof.server.server_settings import ServerLimits

_GZIP_WBITS = 16 + zlib.MAX_WBITS
_CHUNK_BYTES = 256 * 1024
_MIN_BYTES_PER_SECOND = 64 * 1024
"""Bytes per second at which a body must arrive after its first seconds."""
_MAX_DRAINED_BYTES = 64 * 1024 * 1024
"""Bytes discarded at most: many clients read no response before they have sent the whole body."""
_DRAIN_SECONDS = 5.0
_DATA_SET_PATH = "/v1/runs"
_IS_PERMITTED = "is_permitted"


def mark_permitted(scope: Scope) -> None:
    """Allow a request the full size and time for its body: its key, or its host, was accepted."""
    scope.setdefault("state", {})[_IS_PERMITTED] = True


class KeylessBodies:
    """Limit how many requests without a valid key the server waits for, in all and by address."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._count_by_address: Counter[str] = Counter()

    @contextmanager
    def wait(self, address: str) -> Generator[None, None, None]:
        """Count a request while the context is open; raises `RequestRefused` above the limits."""
        if (
            self._count_by_address[address] >= self._limits.keyless_bodies_per_address
            or self._count_by_address.total() >= self._limits.keyless_bodies
        ):
            raise RequestRefused(
                429,
                "too many requests without a key are sending a body.",
                advice="Send an API key, or try again later.",
                retry_after=math.ceil(self._limits.keyless_timeout),
            )
        self._count_by_address[address] += 1
        try:
            yield
        finally:
            self._count_by_address[address] -= 1
            if not self._count_by_address[address]:
                del self._count_by_address[address]


class BodyLimits:
    """ASGI middleware that decompresses request bodies and refuses those over the limits."""

    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        self._app = app
        self._limits = limits
        self._buffered_bytes = 0
        self.keyless_bodies = KeylessBodies(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with a body that is counted as it arrives."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _LimitedBody(self, self._limits, scope, receive)

        async def send_and_drain(message: Message) -> None:
            if message["type"] == "http.response.start":
                body.is_answered = True
                is_above_limit = scope.get("state", {}).get(HEALTH_CHECKS_ONLY, False)
                if body.is_incomplete and not is_above_limit:
                    # The rest of the body is not needed: drain some of it, then close.
                    await body.drain()
                if body.is_incomplete or is_above_limit:
                    MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        try:
            await self._app(scope, body.receive, send_and_drain)
        finally:
            self._buffered_bytes -= body.buffered_bytes

    def reserve(self, count: int) -> None:
        """Count bytes that stay in memory until their request is answered."""
        if self._buffered_bytes + count > self._limits.in_flight:
            raise ServerBusy("the request buffer is full.")
        self._buffered_bytes += count


class _LimitedBody:
    """The body of one request."""

    def __init__(
        self, limiter: BodyLimits, limits: ServerLimits, scope: Scope, receive: Receive
    ) -> None:
        self.buffered_bytes = 0
        self.is_answered = False
        """True once the response has started, which happens before streams read the body."""
        self._limiter = limiter
        self._receive = receive
        self._is_data_set = scope["path"] == _DATA_SET_PATH
        self._max_bytes = limits.data_set_bytes if self._is_data_set else limits.body_bytes
        self._option = "--max-data-set" if self._is_data_set else "--max-body"
        self._limits = limits
        self._scope = scope
        self._began = monotonic()
        self._is_too_slow = False
        self._headers = Headers(scope=scope)
        self._chunks = self._iterate_decoded()
        self._is_finished = False
        self._is_incomplete = (
            "transfer-encoding" in self._headers or self._read_content_length() > 0
        )

    async def receive(self) -> Message:
        """Return the next chunk of the body."""
        if self._is_finished:
            return await self._receive()
        try:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                self._is_finished = True
                return {"type": "http.request", "body": b"", "more_body": False}
            if not self._is_data_set:
                self._limiter.reserve(len(chunk))
                self.buffered_bytes += len(chunk)
        except _ClientDisconnected:
            self._is_finished = True
            return {"type": "http.disconnect"}
        except RequestRefused:
            if not self.is_answered:
                raise
            # Too late for another response: the stream ends.
            self._is_finished = True
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": True}

    @property
    def is_incomplete(self) -> bool:
        """True if part of the body has not arrived yet."""
        return self._is_incomplete

    async def drain(self) -> None:
        """Discard more of the body, so that a client still sending can read the response."""
        if self._is_too_slow:
            return
        left = _MAX_DRAINED_BYTES
        until = monotonic() + _DRAIN_SECONDS
        if not self._is_permitted:
            until = min(until, self._began + self._limits.keyless_timeout)
        try:
            while left > 0:
                message = await self._receive_until(until)
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
        except (TimeoutError, RequestRefused):
            return

    @property
    def _is_permitted(self) -> bool:
        return self._scope.get("state", {}).get(_IS_PERMITTED, False)

    async def _receive_until(self, until: float) -> Message:
        """Return the next message; without a key, only while few others are waited for."""
        async with asyncio.timeout(max(0.0, until - monotonic())):
            if self._is_permitted:
                return await self._receive()
            with self._limiter.keyless_bodies.wait(get_client_address(self._scope)):
                return await self._receive()

    async def _iterate_decoded(self) -> AsyncIterator[bytes]:
        encoding = self._headers.get("content-encoding", "identity").strip().lower()
        if self._is_incomplete and encoding not in ("identity", "gzip"):
            raise RequestRefused(
                415,
                f"unsupported encoding `{encoding}`.",
                where="Content-Encoding",
                advice="Send gzip, or no compression.",
            )
        chunks = self._iterate_received()
        total = 0
        async for chunk in chunks if encoding == "identity" else _decompress_gzip(chunks):
            total += len(chunk)
            if total > self._max_bytes:
                raise self._make_size_error()
            yield chunk

    async def _iterate_received(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; raises `RequestRefused` if it arrives too slowly."""
        if self._read_content_length() > self._max_bytes:
            raise self._make_size_error()
        total = 0
        while True:
            timeout = self._limits.keyless_timeout
            if self._is_permitted:
                timeout = self._limits.body_timeout + total / _MIN_BYTES_PER_SECOND
            try:
                message = await self._receive_until(self._began + timeout)
            except TimeoutError as error:
                self._is_too_slow = True
                raise RequestRefused(
                    408,
                    "the body was sent too slowly.",
                    where="body",
                    advice=f"Send it within {round(timeout, 1):g} seconds.",
                ) from error
            if message["type"] == "http.disconnect":
                self._is_incomplete = False
                raise _ClientDisconnected
            self._is_incomplete = message.get("more_body", False)
            chunk: bytes = message.get("body", b"")
            total += len(chunk)
            if chunk:
                yield chunk
            if not self._is_incomplete:
                return

    def _read_content_length(self) -> int:
        header = self._headers.get("content-length", "")
        return int(header) if header.isascii() and header.isdigit() else 0

    def _make_size_error(self) -> RequestRefused:
        return RequestRefused(
            413,
            f"has more than {self._max_bytes:,} bytes.",
            where="body",
            advice=f"Split it, or start the server with a larger {self._option}.",
        )


class _ClientDisconnected(Exception):
    """The client closed the connection."""


async def _decompress_gzip(compressed: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Decompress gzip in bounded chunks, whatever the compression ratio."""
    decompressor = zlib.decompressobj(_GZIP_WBITS)
    has_data = False
    async for data in compressed:
        has_data, left, more = True, data, True
        while more:
            if decompressor.eof and left:
                decompressor = zlib.decompressobj(_GZIP_WBITS)
            try:
                chunk = decompressor.decompress(left, _CHUNK_BYTES)
            except zlib.error as error:
                raise _make_gzip_error() from error
            left = decompressor.unused_data if decompressor.eof else decompressor.unconsumed_tail
            more = bool(left) or len(chunk) == _CHUNK_BYTES
            if chunk:
                yield chunk
                await asyncio.sleep(0)  # let other tasks run between two chunks
    if has_data and not decompressor.eof:
        raise _make_gzip_error()


def _make_gzip_error() -> RequestRefused:
    return RequestRefused(
        400,
        "truncated or invalid gzip stream.",
        where="body",
        advice="Check how it was compressed.",
    )


_INLINE_BODY_BYTES = 256 * 1024
"""Bodies up to this size are parsed on the event loop: fast enough not to block others."""


async def read_json_body(request: Request, limits: ServerLimits) -> Json:
    """Return the JSON value in the body of a request."""
    data = await request.body()
    if len(data) <= _INLINE_BODY_BYTES:
        return _parse_body(data, limits)
    return await asyncio.to_thread(_parse_body, data, limits)


def _parse_body(data: bytes, limits: ServerLimits) -> Json:
    try:
        text = data.decode("utf-8-sig")
        if has_more_values(text, limits.values):
            raise make_too_many_values_error(limits)
        value = _parse_json(text)
    except RecursionError as error:
        raise _make_depth_error(limits) from error
    except ValueError as error:
        raise RequestRefused(
            400, f"is not valid JSON: {error}.", where="body", advice="Send JSON in UTF-8."
        ) from error
    if is_deeper_than(value, limits.depth):
        raise _make_depth_error(limits)
    return value


def make_too_many_values_error(limits: ServerLimits) -> RequestRefused:
    """Return the error for a body with too many values."""
    error = too_many_values_error(limits.values, "body")
    return RequestRefused(413, error.what, where=error.where, advice=error.advice)


def _make_depth_error(limits: ServerLimits) -> RequestRefused:
    message = f"is nested more than {limits.depth} levels deep."
    return RequestRefused(413, message, where="body", advice="Check how it was generated.")


def _parse_json(text: str) -> Json:
    try:
        return parse_strict(text)
    except NOT_STRICT_ERRORS:
        # Accept what case files may contain, such as lone surrogates.
        return json.loads(text)
