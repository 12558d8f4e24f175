"""Capture runs of any framework that emits OpenTelemetry spans, with a span processor."""

from __future__ import annotations

import json
from threading import RLock
from typing import Any

from planproof.core.content import Json
from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import import_framework, make_subclass
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.span import ConventionName, detect_convention


def processor(recorder: Recorder) -> Any:
    """Return the processor for `TracerProvider.add_span_processor`."""
    base = import_framework("opentelemetry.sdk.trace", "opentelemetry-sdk").SpanProcessor
    return make_subclass(base, _SpanProcessor)(recorder)


class _SpanProcessor:
    """Records the spans of one trace as they end: the first trace that has spans about an agent."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = RLock()
        self._trace: int | None = None
        self._reader = "opentelemetry"
        self._spans: list[Json] = []

    def on_end(self, span: Any) -> None:
        """Record a span; if the run has to stop, this raises in the code that ends the span."""
        trace, detected = span.get_span_context().trace_id, _detect_convention(span)
        # Spans end in any thread, and the last record must contain all of them.
        with self._lock:
            if self._trace is None and detected:
                self._trace = trace
            if trace != self._trace:
                return
            if detected == "openinference":
                self._reader = detected
            self._spans.append(json.loads(span.to_json()))
            self._recorder.record(self._spans, reader=self._reader)


def _detect_convention(span: Any) -> ConventionName:
    """Return the semantic convention a span uses for agents; empty if it is not about an agent."""
    span_record: Json = {"span_id": "", "attributes": dict(span.attributes or {})}
    return detect_convention(Source("span", "json", [span_record]))
