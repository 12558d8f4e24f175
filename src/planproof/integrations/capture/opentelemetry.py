"""OpenTelemetry: a span processor, for every framework that writes spans about its agents."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from planproof.content import Json
from planproof.integrations.capture.hosting import built_on, framework
from planproof.integrations.capture.recorder import Recorder
from planproof.readers.pieces.span_source import convention
from planproof.readers.source import Source


def processor(recorder: Recorder) -> Any:
    """The processor, for `TracerProvider.add_span_processor`."""
    base = framework("opentelemetry.sdk.trace", "opentelemetry-sdk").SpanProcessor
    return built_on(base, _Processor)(recorder)


class _Processor:
    """Hands over the spans of one trace, the first that it sees, as they end."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = Lock()
        self._trace: int | None = None
        self._spans: list[Json] = []

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Know which trace it is, before any of its spans has ended."""
        del parent_context
        if self._trace is None:
            self._trace = span.get_span_context().trace_id

    def on_end(self, span: Any) -> None:
        """Take a span; where the run is to stop, this raises in whoever ends it."""
        if span.get_span_context().trace_id != self._trace:
            return
        # Spans end in any thread, and what is recorded last must be the whole.
        with self._lock:
            self._spans.append(json.loads(span.to_json()))
            words = convention(Source("trace", "json", self._spans))
            reader = "openinference" if words == "openinference" else "opentelemetry"
            self._recorder.take(self._spans, reader=reader)
