"""What Prometheus is told: figures, and never a word of a case."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from planproof.core.verdict import Verdict

_SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The figures of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "planproof_requests",
            "Requests that were answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "planproof_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("route",),
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.verdicts = Counter(
            "planproof_verdicts",
            "Cases that were judged.",
            ("judge", "outcome"),
            registry=self.registry,
        )
        self.verdict_seconds = Histogram(
            "planproof_verdict_seconds",
            "Seconds that it took to judge a case.",
            ("judge",),
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )

    def add_gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Let a figure be asked for whenever somebody looks."""
        Gauge(f"planproof_{name}", about, registry=self.registry).set_function(value)

    def record_verdict(self, judge: str, verdict: Verdict, seconds: float) -> None:
        """Count a verdict."""
        self.verdicts.labels(judge, verdict.outcome.value).inc()
        self.verdict_seconds.labels(judge).observe(seconds)

    def render(self) -> bytes:
        """All figures, as Prometheus reads them."""
        return generate_latest(self.registry)
