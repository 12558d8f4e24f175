"""A local server that replays a script, with OpenAI's two chat APIs.

Real frameworks run against it with no key and no network, so what they write is what they would
write of a real run. Ids and times are counted, never drawn, so that a trace can be made again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-1"
BEGAN = 1767258000  # 2026-01-01 09:00:00 UTC


@dataclass(frozen=True)
class Call:
    """A tool call of the model."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model: reasoning, text and calls."""

    text: str = ""
    calls: Sequence[Call] = ()
    thought: str = ""


def call(name: str, /, **arguments: Any) -> Call:
    """Return a tool call."""
    return Call(name, arguments)


class Script:
    """The turns, one per request, as bodies of either API."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)
        self.played = 0
        self._calls = 0
        self._lock = threading.Lock()

    def answer(self, path: str) -> dict[str, Any] | None:
        """Return the body of the next answer, or None at the end of the script."""
        with self._lock:
            if self.played == len(self.turns):
                return None
            turn = self.turns[self.played]
            self.played += 1
            called = [(self._call_id(), item) for item in turn.calls]
            as_body = self._response if path.endswith("/responses") else self._completion
            return as_body(turn, called)

    def _call_id(self) -> str:
        self._calls += 1
        return f"call_{self._calls}"

    def _completion(self, turn: Turn, called: list[tuple[str, Call]]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
        if turn.thought:
            message["reasoning_content"] = turn.thought
        if called:
            message["tool_calls"] = [
                {
                    "id": id_,
                    "type": "function",
                    "function": {"name": item.name, "arguments": json.dumps(item.arguments)},
                }
                for id_, item in called
            ]
        return {
            "id": f"chatcmpl-{self.played}",
            "object": "chat.completion",
            "created": BEGAN + self.played,
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if called else "stop",
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }

    def _response(self, turn: Turn, called: list[tuple[str, Call]]) -> dict[str, Any]:
        output: list[dict[str, Any]] = []
        if turn.thought:
            summary = [{"type": "summary_text", "text": turn.thought}]
            output.append({"type": "reasoning", "id": f"rs_{self.played}", "summary": summary})
        if turn.text:
            part = {"type": "output_text", "text": turn.text, "annotations": []}
            output.append(
                {
                    "type": "message",
                    "id": f"msg_{self.played}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            )
        output += [
            {
                "type": "function_call",
                "id": id_.replace("call", "fc"),
                "call_id": id_,
                "name": item.name,
                "arguments": json.dumps(item.arguments),
                "status": "completed",
            }
            for id_, item in called
        ]
        return {
            "id": f"resp_{self.played}",
            "object": "response",
            "created_at": BEGAN + self.played,
            "status": "completed",
            "model": MODEL,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 120,
            },
        }


def stream_completion(body: dict[str, Any]) -> bytes:
    """Return a chat completion as a stream of three chunks: the message, its end, the usage."""
    (choice,) = body["choices"]
    message = choice["message"]
    calls = [{"index": at, **item} for at, item in enumerate(message.get("tool_calls", ()))]
    delta = message | ({"tool_calls": calls} if calls else {})
    reason = choice["finish_reason"]
    chunks = (
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": body["usage"]},
    )
    same = {key: body[key] for key in ("id", "created", "model")}
    events = [{**same, "object": "chat.completion.chunk", **chunk} for chunk in chunks]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + (
        b"data: [DONE]\n\n"
    )


@contextmanager
def scripted(*turns: Turn) -> Iterator[str]:
    """Serve the script and yield the base URL; at the end every turn must have been requested."""
    script = Script(turns)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            body = script.answer(self.path)
            as_stream = bool(body) and asked.get("stream", False)
            data = json.dumps(body or {"error": {"message": "the script has run out"}}).encode()
            self.send_response(200 if body else 400)
            self.send_header(
                "Content-Type", "text/event-stream" if as_stream else "application/json"
            )
            data = stream_completion(body) if as_stream else data
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
    if script.played != len(script.turns):
        raise RuntimeError(f"{script.played} of {len(script.turns)} turns were asked for")
