"""HTTP connections to a provider: small connection pools, and responses of limited size.

A pool scans all of its connections whenever one is taken or returned. With hundreds of concurrent
requests in one pool, that takes as long as everything else the client does for them.

A server is not trusted: it may send an endless body, or a small one that decompresses to a huge
one. A body is read up to a limit, before and after decompression, and must not repeat a key.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.request import getproxies

import httpx2
from pydantic_ai.models import Model, create_async_httpx2_client

from planproof.llm.provider_errors import UnusableResponse
from planproof.llm.provider_requests import find_duplicate_key

MAX_RESPONSE_BYTES = 4 * 1024 * 1024
"""Maximum size of a response body, compressed or not: several times the longest answer."""
_ACCEPTED_ENCODINGS = "gzip, deflate"
_MAX_REQUESTS_PER_POOL = 4
"""Maximum number of concurrent requests in one pool."""


@dataclass(slots=True)
class _Pool:
    transport: httpx2.AsyncHTTPTransport
    in_flight: int = 0


class PooledTransport(httpx2.AsyncBaseTransport):
    """HTTP transport that adds pools as needed and prefers the first ones while load is low."""

    def __init__(self) -> None:
        self._ssl_context = httpx2.create_ssl_context()
        self._pools: list[_Pool] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request through the first pool that is below its limit."""
        pool = next((pool for pool in self._pools if pool.in_flight < _MAX_REQUESTS_PER_POOL), None)
        if pool is None:
            pool = _Pool(httpx2.AsyncHTTPTransport(verify=self._ssl_context))
            self._pools.append(pool)
        pool.in_flight += 1
        try:
            return await pool.transport.handle_async_request(request)
        finally:
            pool.in_flight -= 1

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.transport.aclose()


class _LimitedBody(httpx2.AsyncByteStream):
    """The decompressed body of a response; reading it raises `UnusableResponse` beyond the limit.

    It is read as a whole, so that it can be checked before any client parses it.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, *, compressed: bool) -> None:
        self._stream = stream
        self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB) if compressed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = bytearray()
        received = 0
        async for chunk in self._stream:
            received += len(chunk)
            body += self._decompress(chunk, MAX_RESPONSE_BYTES + 1 - len(body))
            if max(received, len(body)) > MAX_RESPONSE_BYTES:
                raise UnusableResponse(f"the response is larger than {MAX_RESPONSE_BYTES:,} bytes")
        if self._inflater is not None and received and not self._inflater.eof:
            raise UnusableResponse("truncated or invalid gzip stream")
        if self._inflater is not None and self._inflater.unused_data:
            raise UnusableResponse("unexpected data after the end of the gzip stream")
        content = bytes(body)
        if key := find_duplicate_key(content):
            raise UnusableResponse(f"the response has the key {key!r} twice in one object")
        yield content

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _decompress(self, chunk: bytes, max_length: int) -> bytes:
        if self._inflater is None:
            return chunk
        try:
            return self._inflater.decompress(chunk, max_length)
        except zlib.error as error:
            raise UnusableResponse("truncated or invalid gzip stream") from error


_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


async def limit_response(response: httpx2.Response) -> None:
    """Limit the body of a response that has not been read yet, and decompress it within the limit.

    A hook for `event_hooks` of an HTTP client.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip", "deflate"}:
        raise UnusableResponse(f"the response has the content encoding {encoding[:40]!r}")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.headers.pop("content-encoding", None)
    response.stream = _LimitedBody(response.stream, compressed=encoding != "identity")


def create_http_client() -> httpx2.AsyncClient:
    """Create a client that limits responses; with small pools, unless behind a proxy."""
    client = create_async_httpx2_client(transport=None if getproxies() else PooledTransport())
    client.headers["accept-encoding"] = _ACCEPTED_ENCODINGS
    client.event_hooks = {"response": [limit_response]}
    return client


class ModelConnection:
    """A model, and the HTTP client created for it; None if the model created its own."""

    def __init__(self, model: Model, http: httpx2.AsyncClient | None = None) -> None:
        self.model = model
        self._http = http

    async def __aenter__(self) -> None:
        await self.model.__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await self.model.__aexit__(None, None, None)
        if self._http is not None:
            await self._http.aclose()
