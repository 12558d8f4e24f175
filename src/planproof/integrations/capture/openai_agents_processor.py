"""OpenAI Agents SDK: a trace processor that records, and hooks that stop the agent."""

from __future__ import annotations

from contextlib import suppress
from threading import RLock
from typing import Any

from planproof.core.content import Json
from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import import_framework, make_subclass, to_json_value
from planproof.monitor import OffPlan


def processor(recorder: Recorder) -> Any:
    """The processor, for `add_trace_processor`. The SDK lets no processor stop an agent."""
    return make_subclass(
        import_framework("agents.tracing", "openai-agents").TracingProcessor, _TracingProcessor
    )(recorder)


def hooks(recorder: Recorder) -> Any:
    """What stops the agent before the call: for `Runner.run(..., hooks=...)`."""
    return make_subclass(import_framework("agents", "openai-agents").RunHooks, _Hooks)(recorder)


class _TracingProcessor:
    """Hands over the spans of one trace, the first that it sees, as exporters get them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = RLock()
        self._trace: str | None = None
        self._ended: list[Json] = []
        self._open: dict[str, Json] = {}

    def on_trace_start(self, trace: Any) -> None:
        """Know which trace it is."""
        with self._lock:
            if self._trace is None:
                self._trace = trace.trace_id
                self._ended.append(to_json_value(trace.export()))

    def on_trace_end(self, trace: Any) -> None:
        """Nothing more is told."""

    def on_span_start(self, span: Any) -> None:
        """Note a span, so that others can stand inside it."""
        with self._lock:
            if span.trace_id == self._trace:
                self._open[span.span_id] = _export_span(span)

    def on_span_end(self, span: Any) -> None:
        """Take a span as it is in the end."""
        if span.trace_id != self._trace:
            return
        # The SDK would only log that it is to stop. The hooks raise it again, where it does.
        with self._lock, suppress(OffPlan):
            self._open.pop(span.span_id, None)
            self._ended.append(_export_span(span))
            self._recorder.record([*self._ended, *self._open.values()], reader="openai-agents")

    def shutdown(self, timeout: float | None = None) -> None:
        """Nothing is kept open."""

    def force_flush(self) -> None:
        """Nothing is kept back."""


class _Hooks:
    """Looks, whenever the model has answered or a tool is about to run, whether to stop."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def on_llm_end(self, *_: Any) -> None:
        """Stop before any of the calls that the model asks for."""
        self._recorder.check()

    async def on_tool_start(self, *_: Any) -> None:
        """Stop before a call."""
        self._recorder.check()


def _export_span(span: Any) -> Json:
    """A span as it is exported; of a response, which is exported by its id, what it says."""
    exported = to_json_value(span.export())
    data = span.span_data
    if data.type == "response":
        response = getattr(data, "response", None)
        response_fields = {
            "input": to_json_value(data.input),
            "response": response and to_json_value(response),
        }
        exported["span_data"] |= {
            key: value for key, value in response_fields.items() if value is not None
        }
    return exported
