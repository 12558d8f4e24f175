"""Send requests to a server as fast as it answers, from a separate process.

    python -m benchmarks.load HOST PORT PLAN

PLAN is a JSON object: `path`, `content_type`, `bodies` (a file), `connections`, `seconds`, and
`rate` (requests per second over all connections, 0 for no limit). It prints the result as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

TRACE_ID_MARK = b"\xaa" * 8
"""The beginning of trace ids; it is replaced by a unique value in every request."""
_SEPARATOR = b"\n--next body--\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """The requests to send, how, and for how long."""

    path: str
    content_type: str
    bodies: str
    connections: int
    seconds: float
    rate: float = 0.0


@dataclass(slots=True)
class LoadResult:
    """The number of responses by status, the latencies and the total time."""

    statuses: Counter[int] = field(default_factory=Counter[int])
    seconds: list[float] = field(default_factory=list[float])
    wall: float = 0.0
    retry_after: int = 0
    """The number of refusals with a Retry-After header."""


def write_bodies(path: Path, bodies: list[bytes]) -> None:
    """Write the request bodies to a file for the client."""
    path.write_bytes(_SEPARATOR.join(bodies))


async def run_load(host: str, port: int, load: LoadPlan) -> LoadResult:
    """Send requests and return the result."""
    result = LoadResult()
    bodies = Path(load.bodies).read_bytes().split(_SEPARATOR)
    began = perf_counter()
    clients = [
        _LoadConnection(host, port, load, bodies, result, began, number)
        for number in range(load.connections)
    ]
    await asyncio.gather(*(client.send_requests() for client in clients))
    result.wall = perf_counter() - began
    return result


class _LoadConnection:
    """One keep-alive connection."""

    def __init__(
        self,
        host: str,
        port: int,
        load: LoadPlan,
        bodies: list[bytes],
        result: LoadResult,
        started_at: float,
        number: int,
    ) -> None:
        self._address = host, port
        self._load = load
        self._bodies = bodies
        self._result = result
        self._started_at = started_at
        self._number = number

    async def send_requests(self) -> None:
        load, sent = self._load, 0
        streams = await asyncio.open_connection(*self._address)
        while (now := perf_counter()) - self._started_at < load.seconds:
            if load.rate:
                # Together the connections keep the rate; each has its share.
                turn = (sent * load.connections + self._number) / load.rate
                await asyncio.sleep(max(0.0, self._started_at + turn - now))
            body = self._bodies[(sent + self._number) % len(self._bodies)]
            sent_at = perf_counter()
            status, has_retry_after, goes_on = await self._send_request(
                streams, _replace_trace_ids(body)
            )
            self._result.seconds.append(perf_counter() - sent_at)
            self._result.statuses[status] += 1
            self._result.retry_after += has_retry_after
            sent += 1
            if not goes_on:
                streams[1].close()
                streams = await asyncio.open_connection(*self._address)
        streams[1].close()

    async def _send_request(
        self, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], body: bytes
    ) -> tuple[int, bool, bool]:
        reader, writer = streams
        host, port = self._address
        head = (
            f"POST {self._load.path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Content-Type: {self._load.content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines[1:] if line)
        await reader.readexactly(int(headers.get(b"content-length", b"0")))
        goes_on = headers.get(b"connection") != b"close"
        return int(lines[0].split()[1]), b"retry-after" in headers, goes_on


def _replace_trace_ids(body: bytes) -> bytes:
    """Return the body with unique trace ids."""
    return body.replace(TRACE_ID_MARK, os.urandom(8)) if TRACE_ID_MARK in body else body


def main() -> None:
    """Run the load plan, and print the result."""
    host, port, plan = sys.argv[1:]
    result = asyncio.run(run_load(host, int(port), LoadPlan(**json.loads(plan))))
    print(
        json.dumps(
            {
                "statuses": result.statuses,
                "seconds": result.seconds,
                "wall": result.wall,
                "retry_after": result.retry_after,
            }
        )
    )


if __name__ == "__main__":
    main()
