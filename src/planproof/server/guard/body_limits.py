"""How much of a request is taken in: bytes are counted as they come, packed and unpacked."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from time import monotonic

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planproof.server.http_problems import Busy, Refused
from planproof.server.server_settings import ServerLimits

_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 256 * 1024
_SLOWEST = 64 * 1024
"""Bytes a second that a body has to come in at, once it had its first seconds."""
_DRAINED = 64 * 1024 * 1024
"""Bytes that are thrown away at the most: many clients hear no answer before they have sent all."""
_DRAINED_WITHIN = 5.0
_DATA_SETS = "/v1/runs"


class BodyLimits:
    """Gives the application bodies that are unpacked, and none that is too much."""

    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        self._app = app
        self._limits = limits
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with a body that is counted on its way."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(self, self._limits, scope, receive)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and body.is_left:
                # Nobody reads the rest of it, and it need not be waited for.
                await body.drain()
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        try:
            await self._app(scope, body.receive, sending)
        finally:
            self._held -= body.held

    def hold(self, count: int) -> None:
        """Count bytes that are in memory until their request is answered."""
        if self._held + count > self._limits.in_flight:
            raise Busy("the bodies of other requests take all the room.")
        self._held += count


class _Body:
    """The body of one request."""

    def __init__(
        self, all_bodies: BodyLimits, limits: ServerLimits, scope: Scope, receive: Receive
    ) -> None:
        self.held = 0
        self._all = all_bodies
        self._receive = receive
        self._is_data_set = scope["path"] == _DATA_SETS
        self._most = limits.data_set if self._is_data_set else limits.body
        self._option = "--max-data-set" if self._is_data_set else "--max-body"
        self._arrival = limits.arrival
        self._headers = Headers(scope=scope)
        self._pieces = self._unpacked()
        self._over = False
        self._more = "transfer-encoding" in self._headers or self._length() > 0

    async def receive(self) -> Message:
        """The next piece of it."""
        if self._over:
            return await self._receive()
        try:
            piece = await anext(self._pieces, None)
            if piece is None:
                self._over = True
                return {"type": "http.request", "body": b"", "more_body": False}
            if not self._is_data_set:
                self._all.hold(len(piece))
                self.held += len(piece)
        except _Gone:
            self._over = True
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": True}

    @property
    def is_left(self) -> bool:
        """Whether some of it has not come yet."""
        return self._more

    async def drain(self) -> None:
        """Take in a little more, so that a client that is still sending hears the answer."""
        left = _DRAINED
        try:
            async with asyncio.timeout(_DRAINED_WITHIN):
                while left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return
        except TimeoutError:
            return

    async def _unpacked(self) -> AsyncIterator[bytes]:
        encoding = self._headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip"):
            raise Refused(
                415,
                f"the encoding `{encoding}` is not known.",
                where="Content-Encoding",
                advice="Send gzip, or nothing of the kind.",
            )
        pieces = self._arriving()
        total = 0
        async for piece in pieces if encoding == "identity" else _inflated(pieces):
            total += len(piece)
            if total > self._most:
                raise self._too_large()
            yield piece

    async def _arriving(self) -> AsyncIterator[bytes]:
        """The body as it comes, as long as it comes quickly enough."""
        if self._length() > self._most:
            raise self._too_large()
        began, total = monotonic(), 0
        while True:
            until = began + self._arrival + total / _SLOWEST
            try:
                async with asyncio.timeout(max(0.0, until - monotonic())):
                    message = await self._receive()
            except TimeoutError as error:
                raise Refused(
                    408,
                    "the body comes too slowly.",
                    where="body",
                    advice=f"Send it within {self._arrival:g} seconds.",
                ) from error
            if message["type"] == "http.disconnect":
                self._more = False
                raise _Gone
            self._more = message.get("more_body", False)
            piece: bytes = message.get("body", b"")
            total += len(piece)
            if piece:
                yield piece
            if not self._more:
                return

    def _length(self) -> int:
        said = self._headers.get("content-length", "")
        return int(said) if said.isascii() and said.isdigit() else 0

    def _too_large(self) -> Refused:
        return Refused(
            413,
            f"has more than {self._most:,} bytes.",
            where="body",
            advice=f"Split it, or let the server be started with a larger {self._option}.",
        )


class _Gone(Exception):
    """Whoever sent the request has left."""


async def _inflated(packed: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What gzip packed, a piece at a time: however little packs how much."""
    unpacking = zlib.decompressobj(_GZIP)
    begun = False
    async for data in packed:
        begun, left, more = True, data, True
        while more:
            if unpacking.eof and left:
                unpacking = zlib.decompressobj(_GZIP)
            try:
                piece = unpacking.decompress(left, _PIECE)
            except zlib.error as error:
                raise _no_gzip() from error
            left = unpacking.unused_data if unpacking.eof else unpacking.unconsumed_tail
            more = bool(left) or len(piece) == _PIECE
            if piece:
                yield piece
                await asyncio.sleep(0)  # others have their turn between two pieces
    if begun and not unpacking.eof:
        raise _no_gzip()


def _no_gzip() -> Refused:
    return Refused(400, "is no whole gzip.", where="body", advice="Check how it was packed.")
