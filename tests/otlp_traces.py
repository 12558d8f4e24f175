"""Traces of small agents as OTLP, and ways to send them."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.timeouts import TIMEOUT_SECONDS

PLAN = "1. Call look_up.\n2. Call compute.\n3. Call save_result."
TOOLS = ("look_up", "compute", "save_result")
BEGAN = 1_767_225_600_000_000_000
PROTOBUF = "application/x-protobuf"
JSON = "application/json"
Request = dict[str, Any]


def make_attribute(key: str, value: str | Sequence[str]) -> dict[str, Any]:
    """An attribute as OTLP writes it."""
    if isinstance(value, str):
        return {"key": key, "value": {"stringValue": value}}
    return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": v} for v in value]}}}


def make_span(
    trace: int, number: int, name: str, attributes: Mapping[str, Any], *, parent: int | None = None
) -> dict[str, Any]:
    """Return a span of one millisecond that starts `number` milliseconds after the first."""
    made: dict[str, Any] = {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(BEGAN + number * 1_000_000),
        "endTimeUnixNano": str(BEGAN + number * 1_000_000 + 1_000_000),
        "attributes": [make_attribute(key, value) for key, value in attributes.items()],
    }
    if parent is not None:
        made["parentSpanId"] = f"{parent:016x}"
    return made


def make_tool_span(trace: int, number: int, name: str) -> dict[str, Any]:
    """The span of a tool that an agent called."""
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": json.dumps({"of": f"thing {trace}"}),
        "gen_ai.tool.call.result": "done",
    }
    return make_span(trace, number, f"execute_tool {name}", told, parent=1)


def make_spans(trace: int, tools: Sequence[str] = TOOLS, plan: str = PLAN) -> list[dict[str, Any]]:
    """The spans of an agent that calls these tools, in the order in which they end."""
    told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    root = make_span(trace, 1, "invoke_agent desk", {**told, "planproof.plan": plan})
    return [*(make_tool_span(trace, number, name) for number, name in enumerate(tools, 2)), root]


def make_export(spans: Iterable[Mapping[str, Any]], service: str = "desk") -> Request:
    """A request to take in these spans."""
    resource = {"attributes": [make_attribute("service.name", service)]}
    scopes = [{"scope": {"name": "agent"}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}


def encode_protobuf(request: Request) -> bytes:
    """The same request as protocol buffers."""
    text = json.loads(json.dumps(request), object_hook=_encode_ids)
    return ParseDict(text, ExportTraceServiceRequest()).SerializeToString()


def _encode_ids(value: dict[str, Any]) -> dict[str, Any]:
    # Where OTLP writes ids in hexadecimal digits, the general form has base64.
    ids = {"traceId", "spanId", "parentSpanId"} & value.keys()
    return value | {key: base64.b64encode(bytes.fromhex(value[key])).decode() for key in ids}


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def post(url: str, body: bytes | Request, content_type: str = JSON, **headers: str) -> Answer:
    """Send a body to `/v1/traces`."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": content_type} | {k.replace("_", "-"): v for k, v in headers.items()}
    request = urllib.request.Request(f"{url}/v1/traces", data, sent, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return Answer(answer.status, answer.read(), dict(answer.headers))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(), dict(error.headers))
