"""Received OTLP spans: database rows for them, and the JSON document of a whole trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from msgspec import ValidationError, json, msgpack
from msgspec.json import encode

from planproof.core.content import Json
from planproof.server.ingestion.otlp_types import Resource, read_message

_JSON_SUFFIX = b"]}]}"
_ROW_DECODER = msgpack.Decoder(list[tuple[bytes, list[tuple[str, str, bytes]]]])


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """An OTLP span as JSON, with the fields needed to store and sort it.

    `trace` and `id` are hexadecimal. `start_time` is in nanoseconds, zero-padded so that it sorts
    as text. `header` is the JSON that opens the enclosing resource and scope. `ends_root` is True
    for a root span that has ended.
    """

    trace: str
    id: str
    start_time: str
    header: bytes
    content: bytes
    ends_root: bool = False

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.header) + len(self.content)


def build_row(trace: str, spans: Sequence[ReceivedSpan]) -> dict[str, Any]:
    """Return the database row for spans of a trace that arrived together."""
    groups: dict[bytes, list[tuple[str, str, bytes]]] = {}
    for span in spans:
        groups.setdefault(span.header, []).append((span.id, span.start_time, span.content))
    content = msgpack.encode(list(groups.items()))
    digest = blake2b(content, digest_size=12).hexdigest()
    return {"trace": trace, "digest": digest, "content": content}


def read_row(row: Any) -> Iterator[ReceivedSpan]:
    """Yield the spans in a database row."""
    for header, spans in _ROW_DECODER.decode(row.content):
        for id_, started, content in spans:
            yield ReceivedSpan(row.trace, id_, started, header, content)


def build_header(resource: dict[str, Json], scope: dict[str, Json]) -> bytes:
    """Return the JSON before the spans of a scope, from objects with a `resource` and a `scope`."""
    return encode(resource)[:-1] + b',"scopeSpans":[' + encode(scope)[:-1] + b',"spans":['


def build_document(spans: Iterable[ReceivedSpan]) -> str:
    """Return the spans as OTLP JSON; the same spans give the same text in any order."""
    span_by_id: dict[str, ReceivedSpan] = {}
    for span in spans:
        other = span_by_id.setdefault(span.id, span)
        # Of two different spans with the same id, keep the longer one.
        if _rank_duplicate(span) > _rank_duplicate(other):
            span_by_id[span.id] = span
    groups: dict[bytes, list[bytes]] = {}
    for span in sorted(span_by_id.values(), key=lambda span: (span.start_time, span.id)):
        groups.setdefault(span.header, []).append(span.content)
    parts = (header + b",".join(contents) + _JSON_SUFFIX for header, contents in groups.items())
    return (b'{"resourceSpans":[' + b",".join(parts) + b"]}").decode()


def _rank_duplicate(span: ReceivedSpan) -> tuple[int, bytes, bytes]:
    return len(span.content), span.content, span.header


def find_service_name(spans: Iterable[ReceivedSpan]) -> str | None:
    """Return the `service.name` of the earliest span, if it has one."""
    first = min(spans, key=lambda span: (span.start_time, span.id), default=None)
    if first is None:
        return None
    enclosing: Any = json.decode(first.header + _JSON_SUFFIX)
    try:
        resource = read_message(enclosing["resource"], Resource)
    except ValidationError:
        return None  # older versions stored it without validation
    for attribute in resource.attributes or ():
        name = None if attribute.value is None else attribute.value.string_value
        if attribute.key == "service.name" and name is not None:
            return name[:200]
    return None
