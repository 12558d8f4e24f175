from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest

from planproof.llm.http_connections import PooledTransport, create_http_client
from tests.timeouts import TIMEOUT_SECONDS

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class CountingServer:
    """A server that counts its connections."""

    def __init__(self) -> None:
        self.ever = 0
        self.open = 0

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str, None]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.ever += 1
        self.open += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(0.05)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        except asyncio.IncompleteReadError:
            self.open -= 1
        finally:
            writer.close()


async def _send_requests(client: httpx2.AsyncClient, address: str, times: int) -> None:
    answers = await asyncio.gather(*(client.get(address) for _ in range(times)))
    assert {answer.text for answer in answers} == {"ok"}


def test_questions_one_after_the_other_share_a_connection() -> None:
    async def asking() -> int:
        server = CountingServer()
        async with (
            server.running() as address,
            httpx2.AsyncClient(transport=PooledTransport(), timeout=TIMEOUT_SECONDS) as client,
        ):
            for _ in range(4):
                await _send_requests(client, address, 1)
        return server.ever

    assert asyncio.run(asking()) == 1


def test_many_at_once_have_a_connection_each_and_keep_it() -> None:
    async def asking() -> tuple[int, int]:
        server = CountingServer()
        async with server.running() as address:
            async with httpx2.AsyncClient(
                transport=PooledTransport(), timeout=TIMEOUT_SECONDS
            ) as client:
                for _ in range(2):
                    await _send_requests(client, address, 50)
            while server.open:
                await asyncio.sleep(0.01)
        return server.ever, server.open

    assert asyncio.run(asyncio.wait_for(asking(), TIMEOUT_SECONDS)) == (50, 0)


def test_behind_a_proxy_a_client_finds_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    assert create_http_client() is not None
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    assert create_http_client() is None
