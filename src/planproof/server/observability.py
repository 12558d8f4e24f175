"""Prometheus metrics and JSON logs of the server, without any content of a case."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from planproof.core.content import Json
from planproof.core.verdict import Verdict

_SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The Prometheus metrics of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "planproof_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "planproof_request_seconds",
            "Seconds from a request to the end of its response.",
            ("route",),
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.verdicts = Counter(
            "planproof_verdicts",
            "Cases judged.",
            ("judge", "outcome"),
            registry=self.registry,
        )
        self.verdict_seconds = Histogram(
            "planproof_verdict_seconds",
            "Seconds to judge a case.",
            ("judge",),
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )

    def add_gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is computed whenever it is scraped."""
        Gauge(f"planproof_{name}", description, registry=self.registry).set_function(value)

    def record_verdict(self, judge: str, verdict: Verdict, seconds: float) -> None:
        """Count a verdict."""
        self.verdicts.labels(judge, verdict.outcome.value).inc()
        self.verdict_seconds.labels(judge).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self.registry)


_log = logging.getLogger("planproof.server")


def log_event(event: str, *, level: int = logging.INFO, **fields: Json) -> None:
    """Log an event; the fields are numbers, names and ids, never content."""
    _log.log(level, event, extra={"fields": fields})


def log_error(event: str, error: BaseException, **fields: Json) -> None:
    """Log an error by its type and source line; its message might quote a case."""
    _log.error(event, extra={"fields": {**fields, **_describe_error(error)}})


def configure_logging(stream: TextIO) -> None:
    """Write the logs of this process to `stream` as JSON Lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonLinesFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(logging.INFO)


class _JsonLinesFormatter(logging.Formatter):
    """Format a log record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Json] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            # Only the literal message: its arguments might hold content of a case.
            "event": str(record.msg),
        }
        if record.name != _log.name:
            line["logger"] = record.name
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            line |= _describe_error(record.exc_info[1])
        return json.dumps(line)


def _describe_error(error: BaseException) -> dict[str, Json]:
    frames = traceback.extract_tb(error.__traceback__)
    location = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else None
    return {"error": type(error).__name__, "place": location}
