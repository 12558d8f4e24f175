"""Limit the number of connections, and the time to send a request header or read a response."""

from __future__ import annotations

import asyncio
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from planproof.server.server_settings import ServerLimits

HEALTH_CHECKS_ONLY = "health_checks_only"
"""Set in the state of requests on a connection above the limit."""
_SERVICE_UNAVAILABLE = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class LimitedConnection(H11Protocol):
    """A connection that is closed when a request header, or reading the response, takes too long.

    uvicorn waits forever for both, and only closes connections that are idle after a response. Its
    own limit (`limit_concurrency`) counts idle connections, and refuses health checks too.
    """

    limits = ServerLimits()
    header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the connection; above the limit, close one that waits, or serve health checks."""
        super().connection_made(transport)
        excess = len(self.connections) - self.limits.connections
        if excess > 0 and not self._close_waiting():
            if excess > self.limits.health_connections:
                transport.write(_SERVICE_UNAVAILABLE)
                transport.close()
                return
            # uvicorn passes this on as the `state` of the scope of every request.
            self.app_state = {**self.app_state, HEALTH_CHECKS_ONLY: True}
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers of a closed connection."""
        self._stop_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received bytes. The header timeout starts at the first byte of a header."""
        if self.transport.is_closing():
            return
        if self.header_timer is None and self.conn.their_state is h11.IDLE:
            self._start_header_timer()
        super().data_received(data)
        if self.header_timer is not None and self.conn.their_state is not h11.IDLE:
            self.header_timer.cancel()
            self.header_timer = None

    def pause_writing(self) -> None:
        """Start the timeout for a client that reads the response too slowly."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.limits.body_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timeout: the client has caught up."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _close_waiting(self) -> bool:
        """Close a connection that sends no request: the oldest of the address that has most."""
        waiting = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedConnection)
            and connection is not self
            and connection.waits_until() is not None
        ]
        if not waiting:
            return False
        count_by_address = Counter(connection.address for connection in waiting)
        waiting.sort(key=lambda each: (-count_by_address[each.address], each.waits_until()))
        waiting[0].close_now()
        return True

    @property
    def address(self) -> str:
        """The address of the client."""
        return self.client[0] if self.client else "unknown"

    def waits_until(self) -> float | None:
        """Return when the wait for a request header ends; None while a request is handled."""
        timer = self.header_timer or self.timeout_keep_alive_task
        return None if timer is None or self.transport.is_closing() else timer.when()

    def close_now(self) -> None:
        """Close the connection without waiting for more data."""
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
    """Return a connection class that applies these limits."""
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})
