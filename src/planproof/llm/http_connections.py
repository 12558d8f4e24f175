"""HTTP connections to a provider, split into small connection pools.

A pool scans all of its connections whenever one is taken or returned. With hundreds of concurrent
requests in one pool, that takes as long as everything else the client does for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.request import getproxies

import httpx2
from pydantic_ai.models import Model, create_async_httpx2_client

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


def create_http_client() -> httpx2.AsyncClient | None:
    """Create a client with small pools; None behind a proxy, where the default client is used."""
    return None if getproxies() else create_async_httpx2_client(transport=PooledTransport())


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
