"""Connections: how many, how long one may take to say what it wants, and to hear the answer."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from planproof.server.server_settings import ServerLimits

_SERVICE_UNAVAILABLE = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class LimitedConnection(H11Protocol):
    """A connection that is closed when the head of a request, or its reader, takes too long.

    uvicorn waits for ever for both, and closes a connection only when it rests after an answer.
    """

    limits = ServerLimits()
    header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; one connection too many is told so."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections and not self._close_slowest():
            transport.write(_SERVICE_UNAVAILABLE)
            transport.close()
            return
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came. The time for a head runs from its first byte to its last."""
        if self.transport.is_closing():
            return
        if self.header_timer is None and self.conn.their_state is h11.IDLE:
            self._start_header_timer()
        super().data_received(data)
        if self.header_timer is not None and self.conn.their_state is not h11.IDLE:
            self.header_timer.cancel()
            self.header_timer = None

    def pause_writing(self) -> None:
        """Whoever reads is behind: they have some time to catch up."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.limits.body_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """They have caught up."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _close_slowest(self) -> bool:
        """Close the connection that has been expected longest to say what it wants."""
        timers = [
            (connection.header_timer.when(), connection)
            for connection in self.connections
            if isinstance(connection, LimitedConnection) and connection.header_timer is not None
        ]
        if not timers:
            return False
        _, slowest = min(timers, key=lambda timer: timer[0])
        slowest.close_now()
        return True

    def close_now(self) -> None:
        """Close it, whatever it still may want to say."""
        self._stop_timers()
        self.transport.close()

    def _start_header_timer(self) -> None:
        self.header_timer = self.loop.call_later(self.limits.header_timeout, self.transport.close)

    def _stop_timers(self) -> None:
        for timer in (self.header_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        self.header_timer = self._write_timer = None


def make_connection_class(limits: ServerLimits) -> type[LimitedConnection]:
    """Connections that are held to these limits."""
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})
