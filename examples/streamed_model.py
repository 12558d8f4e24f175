"""The scripted model for coding agents, which require streaming.

A coding agent sends more requests than its user sees, for sub-agents and titles. So the server does
not count the turns, but selects one by the request: the conversation by words of its first message,
and the turn by the number of model answers in it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scripted_model import MODEL, Turn

Events = list[dict[str, Any]]


@contextmanager
def streamed(threads: Mapping[str, Sequence[Turn]]) -> Iterator[str]:
    """Serve conversations, selected by words of the first message; yield the base URL."""

    def respond(path: str, body: dict[str, Any]) -> Events | None:
        if path.startswith("/v1/messages") and "count_tokens" not in path and body.get("tools"):
            messages = body["messages"]
            asked = messages[0]["content"]
            answers = sum(message["role"] == "assistant" for message in messages)
            as_events: Callable[[Turn, str], Events] = _as_messages
        elif path == "/v1/responses":
            asked = [item for item in body["input"] if item.get("role") == "user"]
            # The results show the position; calls of one answer may be separate messages there.
            results = sum(item.get("type", "").endswith("_output") for item in body["input"])
            as_events = _as_responses
        else:
            return None
        text = json.dumps(asked)
        key = next(words for words in threads if words in text)
        turns = threads[key]
        if as_events is _as_responses:
            called = [sum(len(turn.calls) for turn in turns[:at]) for at in range(len(turns))]
            answers = called.index(results)
        return as_events(turns[answers], f"{list(threads).index(key) + 1}{answers + 1}")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
            events = respond(self.path, body)
            lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events or ()]
            self._send(200 if events else 404, "".join(lines).encode())

        def do_GET(self) -> None:
            self._send(404, b"")

        def do_HEAD(self) -> None:
            self._send(404, b"")

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _as_messages(turn: Turn, number: str) -> Events:
    """Return the events of Anthropic's stream."""
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if turn.thought:
        delta = {"type": "thinking_delta", "thinking": turn.thought}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, delta))
    if turn.text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}))
    for index, call in enumerate(turn.calls, 1):
        start = {
            "type": "tool_use",
            "id": f"toolu_{number}_{index}",
            "name": call.name,
            "input": {},
        }
        given = json.dumps(call.arguments)
        blocks.append((start, {"type": "input_json_delta", "partial_json": given}))
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1},
    }
    events: Events = [{"type": "message_start", "message": message}]
    for index, (start, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 20}})
    return [*events, {"type": "message_stop"}]


def _as_responses(turn: Turn, number: str) -> Events:
    """Return the events of OpenAI's Responses stream; plain text is a custom tool call."""
    items: Events = []
    if turn.thought:
        summary = [{"type": "summary_text", "text": turn.thought}]
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary})
    if turn.text:
        part = {"type": "output_text", "text": turn.text}
        items.append(
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [part]}
        )
    for index, call in enumerate(turn.calls, 1):
        named = {"call_id": f"call_{number}_{index}", "name": call.name}
        if "patch" in call.arguments:
            items.append({"type": "custom_tool_call", **named, "input": call.arguments["patch"]})
        else:
            given = json.dumps(call.arguments)
            items.append({"type": "function_call", **named, "arguments": given})
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 120,
    }
    return [
        {"type": "response.created", "response": {"id": f"resp_{number}"}},
        *({"type": "response.output_item.done", "item": item} for item in items),
        {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
    ]
