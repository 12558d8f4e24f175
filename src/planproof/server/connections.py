"""Connections: how many, how long one may take to say what it wants, and to hear the answer."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from planproof.server.settings import ServerLimits

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class Connection(H11Protocol):
    """A connection that is closed when the head of a request, or its reader, takes too long.

    uvicorn waits for ever for both, and closes a connection only when it rests after an answer.
    """

    limits = ServerLimits()
    _head_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; one connection too many is told so."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(_FULL)
            transport.close()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came. The time for a head runs from its first byte to its last."""
        if self.transport.is_closing():
            return
        if self._head_timer is None and self.conn.their_state is h11.IDLE:
            self._expect_head()
        super().data_received(data)
        if self._head_timer is not None and self.conn.their_state is not h11.IDLE:
            self._head_timer.cancel()
            self._head_timer = None

    def pause_writing(self) -> None:
        """Whoever reads is behind: they have some time to catch up."""
        super().pause_writing()
        self._reader_timer = self.loop.call_later(self.limits.arrival, self.transport.abort)

    def resume_writing(self) -> None:
        """They have caught up."""
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None
        super().resume_writing()

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(self.limits.head, self.transport.close)

    def _stop_timers(self) -> None:
        for timer in (self._head_timer, self._reader_timer):
            if timer is not None:
                timer.cancel()


def connections_within(limits: ServerLimits) -> type[Connection]:
    """Connections that are held to these limits."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
