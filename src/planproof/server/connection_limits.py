"""Connections: how many, how long one may take to say what it wants, and to hear the answer."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from planproof.server.server_settings import ServerLimits

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class Connection(H11Protocol):
    """A connection that is closed when the head of a request, or its reader, takes too long.

    uvicorn waits for ever for both, and closes a connection only when it rests after an answer.
    """

    limits = ServerLimits()
    head_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; one connection too many is told so."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections and not self._make_room():
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
        if self.head_timer is None and self.conn.their_state is h11.IDLE:
            self._expect_head()
        super().data_received(data)
        if self.head_timer is not None and self.conn.their_state is not h11.IDLE:
            self.head_timer.cancel()
            self.head_timer = None

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

    def _make_room(self) -> bool:
        """Close the connection that has been expected longest to say what it wants."""
        timers = [
            (each.head_timer.when(), each)
            for each in self.connections
            if isinstance(each, Connection) and each.head_timer is not None
        ]
        if not timers:
            return False
        _, slowest = min(timers, key=lambda timer: timer[0])
        slowest.leave()
        return True

    def leave(self) -> None:
        """Close it, whatever it still may want to say."""
        self._stop_timers()
        self.transport.close()

    def _expect_head(self) -> None:
        self.head_timer = self.loop.call_later(self.limits.head, self.transport.close)

    def _stop_timers(self) -> None:
        for timer in (self.head_timer, self._reader_timer):
            if timer is not None:
                timer.cancel()
        self.head_timer = self._reader_timer = None


def connections_within(limits: ServerLimits) -> type[Connection]:
    """Connections that are held to these limits."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
