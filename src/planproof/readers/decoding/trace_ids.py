"""Spans of several traces in one file, taken apart by their trace ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import SNIFF_LIMIT

_RESOURCE_KEYS = ("resourceSpans", "resource_spans")
_SCOPE_KEYS = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")


def split_by_trace_id(source: Source) -> dict[str, Json]:
    """Trace id -> the document with only its spans; empty when there is just one id, or none."""
    document = source.document
    values = [value for _, value in document] if source.form == "jsonl" else document
    batches = [values] if is_object(values) else values
    if not is_list(batches) or not batches or not is_object(batches[0]):
        return {}
    key = next((key for key in _RESOURCE_KEYS if is_list(batches[0].get(key))), None)
    if key is not None:
        return _split_exported(batches, key)
    if is_object(values):
        spans = values.get("spans")
        apart = _split_flat(spans) if is_list(spans) else {}
        return {id_: {**values, "spans": own} for id_, own in apart.items()}
    return _split_flat(batches)


def _split_flat(spans: list[Json]) -> dict[str, Json]:
    if not all(_get_trace_id(span) for span in islice(spans, SNIFF_LIMIT)):
        return {}
    apart: dict[str, Json] = {}
    for span in spans:
        apart.setdefault(_get_trace_id(span) or next(iter(apart)), []).append(span)
    return apart if len(apart) > 1 else {}


def _split_exported(batches: list[Json], key: str) -> dict[str, Json]:
    """What a collector exports: resources hold scopes, and scopes the spans."""
    apart: dict[str, list[Json]] = {}
    for batch in batches:
        for resource in _iter_objects(batch, (key,)):
            for id_, scopes in _split_resource(resource).items():
                apart.setdefault(id_, []).append(scopes)
    return {id_: {key: own} for id_, own in apart.items()} if len(apart) > 1 else {}


def _split_resource(resource: dict[str, Json]) -> dict[str, Json]:
    key = next((key for key in _SCOPE_KEYS if is_list(resource.get(key))), None)
    scopes: dict[str, list[Json]] = {}
    for scope in _iter_objects(resource, (key,) if key else ()):
        spans: dict[str, list[Json]] = {}
        for span in _iter_objects(scope, ("spans",)):
            if id_ := _get_trace_id(span):
                spans.setdefault(id_, []).append(span)
        for id_, own in spans.items():
            scopes.setdefault(id_, []).append({**scope, "spans": own})
    return {id_: {**resource, key or "": own} for id_, own in scopes.items()}


def _iter_objects(holder: Json, keys: Iterable[str]) -> Iterator[dict[str, Json]]:
    for key in keys:
        items = holder.get(key) if is_object(holder) else None
        yield from (entry for entry in (items if is_list(items) else ()) if is_object(entry))


def _get_trace_id(span: Json) -> str | None:
    """The trace that a span belongs to; None for what is no span."""
    if not is_object(span):
        return None
    holder = span["context"] if is_object(span.get("context")) else span
    if not ("span_id" in holder or "spanId" in holder):
        return None
    id_ = holder.get("trace_id") or holder.get("traceId")
    return str(id_) if isinstance(id_, (str, int)) else None
