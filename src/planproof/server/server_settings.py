"""Settings and limits of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

from planproof.core.json_values import MAX_DEPTH, MAX_VALUES
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import DEFAULT_MODEL_CONCURRENCY
from planproof.runs.engines.process_pool import count_cores
from planproof.runs.summary import PASSING_SCORE

PORT = 7526
"""P, L, A, N on the keys of a telephone."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Limits of a server; sizes in bytes, times in seconds.

    `body_bytes` limits an uncompressed request body, `data_set_bytes` one that holds a data set,
    and `in_flight` all other bodies in memory together. `depth` is how deeply JSON may be nested,
    and `values` how many values and keys (in protocol buffers: messages) it may hold.
    `waiting_cases` is the number of cases that may wait to be judged, and `runs` the number of runs
    at once. A trace may have `trace_spans` spans and `trace_bytes` bytes; `backlog` spans may wait
    for their verdict. `rate` is in requests per second per client. Above `connections`,
    `health_connections` more are accepted for health checks. A request header must arrive within
    `header_timeout`, and its body within `body_timeout`, plus time in proportion to its size.
    Where keys are required, a body without a valid one must arrive within `keyless_timeout`; the
    server waits for `keyless_bodies` of them at once, and for `keyless_bodies_per_address` from one
    address. A case must be judged within `judge_timeout`; at shutdown, running requests have
    `shutdown_timeout` to finish.
    """

    body_bytes: int = 32 * 1024 * 1024
    data_set_bytes: int = 256 * 1024 * 1024
    in_flight: int = 128 * 1024 * 1024
    depth: int = MAX_DEPTH
    values: int = MAX_VALUES
    waiting_cases: int = 256
    runs: int = 8
    trace_spans: int = 20_000
    trace_bytes: int = 64 * 1024 * 1024
    backlog: int = 1_000_000
    rate: float = 1_000
    connections: int = 500
    health_connections: int = 8
    header_timeout: float = 10.0
    body_timeout: float = 30.0
    keyless_timeout: float = 5.0
    keyless_bodies: int = 64
    keyless_bodies_per_address: int = 8
    judge_timeout: float = 120.0
    shutdown_timeout: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Settings of a server: where it listens, where it stores results, and how it judges.

    `evaluator` is the default; `other_evaluators` can be requested by the name of their judge;
    `models` are those that model-based judges call. `require_keys` requires API keys on loopback,
    too. `processes` is the number of judge processes, and `model_concurrency` the number of
    concurrent model calls. With `rejudge`, runs judge cases again that were judged before. A trace
    is complete when its root span has ended and nothing arrived for `quiet_seconds`, or when
    nothing arrived for `oldest_seconds`; its verdict is sent to `otlp_endpoint`, if set.
    """

    store: str | None
    evaluator: CaseEvaluator
    models: tuple[str, ...] = ()
    other_evaluators: Mapping[str, CaseEvaluator] = field(default_factory=dict[str, CaseEvaluator])
    host: str = LOOPBACK
    port: int = PORT
    require_keys: bool = False
    processes: int = field(default_factory=count_cores)
    model_concurrency: int = DEFAULT_MODEL_CONCURRENCY
    rejudge: bool = False
    min_score: float = PASSING_SCORE
    quiet_seconds: float = 1.0
    oldest_seconds: float = 600.0
    otlp_endpoint: str | None = None
    otlp_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: ServerLimits = field(default_factory=ServerLimits)

    @property
    def evaluators(self) -> dict[str, CaseEvaluator]:
        """All evaluators by the name of their judge, the default one first."""
        return {self.evaluator.judge.name: self.evaluator, **self.other_evaluators}

    @property
    def requires_keys(self) -> bool:
        """True if requests need an API key."""
        return self.require_keys or not is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether a host refers to this machine only."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
