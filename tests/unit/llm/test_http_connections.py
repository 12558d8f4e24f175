from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import repeat

import httpx2
import pytest

from planproof.llm.http_connections import (
    MAX_RESPONSE_BYTES,
    PooledTransport,
    create_http_client,
    limit_response,
)
from planproof.llm.provider_errors import UnusableResponse
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


@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:9"])
def test_responses_are_limited_with_and_without_a_proxy(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    if proxy:
        monkeypatch.setenv("https_proxy", proxy)
    assert create_http_client().event_hooks["response"] == [limit_response]


class CountedStream(httpx2.AsyncByteStream):
    """A body in chunks, which counts the bytes that are taken of it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            self.taken += len(chunk)
            yield chunk


def _read(stream: CountedStream, **headers: str) -> bytes:
    async def read() -> bytes:
        response = httpx2.Response(200, headers=headers, stream=stream)
        await limit_response(response)
        return await response.aread()

    return asyncio.run(read())


_GZIP = {"content-encoding": "gzip"}
CHUNK = 65_536


def test_of_an_endless_body_no_more_is_read_than_the_limit() -> None:
    stream = CountedStream(repeat(b" " * CHUNK))
    with pytest.raises(UnusableResponse, match="larger than 4,194,304 bytes"):
        _read(stream)
    assert stream.taken <= MAX_RESPONSE_BYTES + CHUNK


def test_a_body_of_the_limit_is_read() -> None:
    assert len(_read(CountedStream([b" " * MAX_RESPONSE_BYTES]))) == MAX_RESPONSE_BYTES


def test_a_gzip_bomb_is_never_decompressed_beyond_the_limit() -> None:
    bomb = gzip.compress(b" " * (1 << 28))
    tracemalloc.start()
    try:
        with pytest.raises(UnusableResponse, match="larger"):
            _read(CountedStream([bomb]), **_GZIP)
        assert tracemalloc.get_traced_memory()[1] < 8 * MAX_RESPONSE_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress])
def test_compressed_bodies_are_read(encode: Callable[[bytes], bytes]) -> None:
    encoding = "gzip" if encode is gzip.compress else "deflate"
    body = encode(b'{"a": 1}')
    chunks = [body[:5], body[5:]]
    assert _read(CountedStream(chunks), **{"content-encoding": encoding}) == b'{"a": 1}'


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (gzip.compress(b"x", mtime=0)[:-1], "truncated"),
        (b"no gzip", "invalid gzip"),
        (gzip.compress(b"x", mtime=0) + b"y", "unexpected data"),
    ],
    ids=["truncated", "not gzip", "data after the end"],
)
def test_invalid_gzip_is_an_error(body: bytes, what: str) -> None:
    with pytest.raises(UnusableResponse, match=what):
        _read(CountedStream([body]), **_GZIP)


def test_an_encoding_that_was_not_asked_for_is_an_error() -> None:
    with pytest.raises(UnusableResponse, match="'br'"):
        _read(CountedStream([b"x"]), **{"content-encoding": "br"})


def test_a_body_with_a_key_twice_is_an_error() -> None:
    body = b'{"content": [{"input": {"score": 0.0, "score": 1.0}}]}'
    with pytest.raises(UnusableResponse, match="'score' twice"):
        _read(CountedStream([body]))
    alike = b'[{"score": 0.0}, {"score": 1.0}]'
    assert _read(CountedStream([alike])) == alike
