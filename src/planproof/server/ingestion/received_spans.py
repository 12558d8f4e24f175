"""A span as it came in, and the spans of a trace put together as one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from msgspec import ValidationError, json, msgpack
from msgspec.json import encode

from planproof.core.content import Json
from planproof.server.ingestion.otlp_types import Resource, read_message

_CLOSING = b"]}]}"
_ROWS = msgpack.Decoder(list[tuple[bytes, list[tuple[str, str, bytes]]]])


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span of OTLP as JSON, with what is needed to keep it and to put it in its place.

    `trace` and `id` are hexadecimal. `started` is in nanoseconds, with so many digits that it
    sorts. `around` opens the resource and the scope that it belongs to. `ends_root` says that it
    has no parent and has ended.
    """

    trace: str
    id: str
    started: str
    around: bytes
    content: bytes
    ends_root: bool = False

    @property
    def size(self) -> int:
        """The bytes that it takes."""
        return len(self.around) + len(self.content)


def row_of(trace: str, spans: Sequence[ReceivedSpan]) -> dict[str, Any]:
    """Spans of a trace that came together, as a row of a database."""
    groups: dict[bytes, list[tuple[str, str, bytes]]] = {}
    for span in spans:
        groups.setdefault(span.around, []).append((span.id, span.started, span.content))
    content = msgpack.encode(list(groups.items()))
    digest = blake2b(content, digest_size=12).hexdigest()
    return {"trace": trace, "digest": digest, "content": content}


def spans_in_row(row: Any) -> Iterator[ReceivedSpan]:
    """The spans in a row."""
    for around, spans in _ROWS.decode(row.content):
        for id_, started, content in spans:
            yield ReceivedSpan(row.trace, id_, started, around, content)


def opening(resource: dict[str, Json], scope: dict[str, Json]) -> bytes:
    """What stands before the spans of a scope: objects with a `resource` and a `scope` in them."""
    return encode(resource)[:-1] + b',"scopeSpans":[' + encode(scope)[:-1] + b',"spans":['


def document_of(spans: Iterable[ReceivedSpan]) -> str:
    """The spans as OTLP in JSON; the same spans give the same text, in whatever order they came."""
    chosen: dict[str, ReceivedSpan] = {}
    for span in spans:
        other = chosen.setdefault(span.id, span)
        # Two that differ and bear the same id: the one that tells more.
        if _rank(span) > _rank(other):
            chosen[span.id] = span
    groups: dict[bytes, list[bytes]] = {}
    for span in sorted(chosen.values(), key=lambda span: (span.started, span.id)):
        groups.setdefault(span.around, []).append(span.content)
    parts = (around + b",".join(contents) + _CLOSING for around, contents in groups.items())
    return (b'{"resourceSpans":[' + b",".join(parts) + b"]}").decode()


def _rank(span: ReceivedSpan) -> tuple[int, bytes, bytes]:
    return len(span.content), span.content, span.around


def service_of(spans: Iterable[ReceivedSpan]) -> str | None:
    """The name of the service that the first span comes from, if it says so."""
    first = min(spans, key=lambda span: (span.started, span.id), default=None)
    if first is None:
        return None
    opened: Any = json.decode(first.around + _CLOSING)
    try:
        resource = read_message(opened["resource"], Resource)
    except ValidationError:
        return None  # older versions kept whatever was sent
    for attribute in resource.attributes or ():
        name = None if attribute.value is None else attribute.value.string_value
        if attribute.key == "service.name" and name is not None:
            return name[:200]
    return None
