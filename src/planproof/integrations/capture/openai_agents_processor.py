"""Capture OpenAI Agents SDK runs: a trace processor that records, hooks that stop the agent."""

from __future__ import annotations

from contextlib import suppress
from threading import RLock
from typing import Any

from planproof.core.content import Json
from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import import_framework, make_subclass, to_json_value
from planproof.monitor import OffPlan


def processor(recorder: Recorder) -> Any:
    """Return the processor for `add_trace_processor`. In the SDK no processor can stop an agent."""
    return make_subclass(
        import_framework("agents.tracing", "openai-agents").TracingProcessor, _TracingProcessor
    )(recorder)


def hooks(recorder: Recorder) -> Any:
    """Return the hooks for `Runner.run(..., hooks=...)`, which can stop the agent before a call."""
    return make_subclass(import_framework("agents", "openai-agents").RunHooks, _Hooks)(recorder)


class _TracingProcessor:
    """Records the spans of one trace, the first it sees, in the form exporters receive."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = RLock()
        self._trace: str | None = None
        self._ended: list[Json] = []
        self._open: dict[str, Json] = {}

    def on_trace_start(self, trace: Any) -> None:
        """Remember the first trace."""
        with self._lock:
            if self._trace is None:
                self._trace = trace.trace_id
                self._ended.append(to_json_value(trace.export()))

    def on_trace_end(self, trace: Any) -> None:
        """Do nothing: all spans were recorded when they ended."""

    def on_span_start(self, span: Any) -> None:
        """Remember an open span, so that spans inside it can be placed."""
        with self._lock:
            if span.trace_id == self._trace:
                self._open[span.span_id] = _export_span(span)

    def on_span_end(self, span: Any) -> None:
        """Record a span in its final state."""
        if span.trace_id != self._trace:
            return
        # The SDK would only log the exception. The hooks raise it again where it stops the agent.
        with self._lock, suppress(OffPlan):
            self._open.pop(span.span_id, None)
            self._ended.append(_export_span(span))
            self._recorder.record([*self._ended, *self._open.values()], reader="openai-agents")

    def shutdown(self, timeout: float | None = None) -> None:
        """Do nothing: there is nothing to close."""

    def force_flush(self) -> None:
        """Do nothing: nothing is buffered."""


class _Hooks:
    """Checks whether to stop, after each model answer and before each tool call."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def on_llm_end(self, *_: Any) -> None:
        """Stop before any of the calls the model asks for."""
        self._recorder.check()

    async def on_tool_start(self, *_: Any) -> None:
        """Stop before a call."""
        self._recorder.check()


def _export_span(span: Any) -> Json:
    """Export a span; for a response, which the SDK exports by id only, include its content."""
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
