"""The spans of a run, as an exporter of the OpenAI Agents SDK gets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.tracing import set_trace_processors
from agents.tracing.processor_interface import TracingExporter
from agents.tracing.processors import BatchTraceProcessor
from normalization import normalize_trace


class Recorder(TracingExporter):
    """Keeps what would be uploaded."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []

    def export(self, items: list[Any]) -> None:
        self.items += [item.export() for item in items]


def recorded(run: Callable[[], None]) -> list[dict[str, Any]]:
    """The trace and its spans, in the order in which they were exported."""
    recorder = Recorder()
    processor = BatchTraceProcessor(recorder)
    set_trace_processors([processor])
    run()
    processor.force_flush()
    for item in recorder.items:
        # The port of the scripted server is the only thing in the spans that names this machine.
        config = item.get("span_data", {}).get("model_config")
        if config:
            config["base_url"] = "http://localhost/v1/"
    return normalize_trace(recorder.items, ids=r"(?:trace|span)_[0-9a-f]{24,32}")
