"""The server: HTTP/1.1 on a port of its own, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from types import TracebackType
from typing import Any, Self

from tests.scripted_model.replies import (
    Behaviour,
    ConnectionReset,
    CutReply,
    EncodedReply,
    EndlessReply,
    HttpError,
    NoReply,
    RawReply,
    Reply,
    SlowReply,
    TextReply,
    encode_error,
    encode_reply,
)
from tests.scripted_model.request import ModelRequest, detect_dialect
from tests.timeouts import TIMEOUT_SECONDS


class ScriptedModel:
    """A model server for tests. `calls` are all requests so far, `most_at_once` is their peak."""

    def __init__(self, behaviour: Behaviour, *, latency: float = 0.0, port: int = 0) -> None:
        self.behaviour = behaviour
        self.latency = latency
        self.calls: list[ModelRequest] = []
        self.most_at_once = 0
        self._at_once = 0
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scripted-model", daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def root(self) -> str:
        """The address that the clients of Anthropic, Google and Bedrock take."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        """The address that OpenAI's client takes."""
        return f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(TIMEOUT_SECONDS):
            raise RuntimeError("the scripted model did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(TIMEOUT_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, backlog=512)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._one_request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or the server goes
        finally:
            self._connections.discard(task)
            writer.close()

    async def _one_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        _, path, _ = head[0].split(" ")
        pairs = [line.partition(": ") for line in head[1:] if line]
        headers = {name.lower(): value for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if path == "/calls":
            return await _send(writer, 200, {"calls": len(self.calls), "most": self.most_at_once})
        dialect = detect_dialect(path)
        if dialect is None:
            return await _send(writer, 404, {"error": {"message": f"nothing is at {path}"}})
        asked = ModelRequest(len(self.calls) + 1, dialect, json.loads(body), headers)
        self.calls.append(asked)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.latency:
                await asyncio.sleep(self.latency)
            reply = self.behaviour(asked)
            return await _reply(
                writer, TextReply(reply) if isinstance(reply, str) else reply, asked
            )
        finally:
            self._at_once -= 1


async def _reply(writer: asyncio.StreamWriter, reply: Reply, asked: ModelRequest) -> bool:
    match reply:
        case TextReply():
            return await _send(writer, 200, encode_reply(reply, asked))
        case HttpError():
            return await _send(writer, reply.status, encode_error(reply, asked), **reply.headers)
        case RawReply():
            headers = {"content-type": reply.content_type} | reply.headers
            return await _send(writer, 200, reply.body, **headers)
        case EncodedReply():
            body = json.dumps(encode_reply(TextReply(reply.text), asked)).encode()
            return await _send(writer, 200, reply.encode(body), **reply.headers)
        case EndlessReply():
            head = _head(reply.status, 0).replace(b"content-length: 0", b"connection: close")
            writer.write(head)
            while True:
                writer.write(b" " * 65_536)
                await writer.drain()
        case CutReply():
            body = json.dumps(encode_reply(TextReply(reply.text), asked)).encode()
            writer.write(_head(200, len(body)) + body[: len(body) // 2])
            await writer.drain()
            return False
        case ConnectionReset():
            plug: socket.socket = writer.get_extra_info("socket")
            # With nothing to linger for, closing is a reset.
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        case SlowReply():
            body = json.dumps(encode_reply(TextReply(reply.text), asked)).encode()
            writer.write(_head(200, len(body)))
            for byte in body:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
            return True
        case NoReply():
            await asyncio.Event().wait()
            return False


async def _send(
    writer: asyncio.StreamWriter, status: int, body: dict[str, Any] | bytes, **headers: str
) -> bool:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    writer.write(_head(status, len(content), **headers) + content)
    await writer.drain()
    return True


def _head(status: int, length: int, **headers: str) -> bytes:
    fields = {"content-type": "application/json", "content-length": str(length)} | headers
    lines = [f"HTTP/1.1 {status} scripted", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
