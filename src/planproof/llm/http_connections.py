"""Connections to a provider, in pools that stay small.

A pool looks at all of its connections whenever one is taken or given back. With hundreds of
questions at once, that takes as long as everything else that a client does for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.request import getproxies

import httpx2
from pydantic_ai.models import Model, create_async_httpx2_client

_MAX_REQUESTS_PER_POOL = 4
"""As many questions at once go through one pool."""


@dataclass(slots=True)
class _Pool:
    transport: httpx2.AsyncHTTPTransport
    in_flight: int = 0


class PooledTransport(httpx2.AsyncBaseTransport):
    """As many pools as it takes; the first has what there is to do while there is little."""

    def __init__(self) -> None:
        self._ssl_context = httpx2.create_ssl_context()
        self._pools: list[_Pool] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask over the first pool that is not busy."""
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
    """A client with such pools; None behind a proxy, which a client of its own finds."""
    return None if getproxies() else create_async_httpx2_client(transport=PooledTransport())


class ModelConnection:
    """A model, and the HTTP client that was made for it, if it has not made one itself."""

    def __init__(self, model: Model, http: httpx2.AsyncClient | None = None) -> None:
        self.model = model
        self._http = http

    async def __aenter__(self) -> None:
        await self.model.__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await self.model.__aexit__(None, None, None)
        if self._http is not None:
            await self._http.aclose()
