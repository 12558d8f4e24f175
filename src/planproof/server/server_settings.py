"""What a server is told when it is started."""

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
    """How much a server takes before it says no; sizes in bytes, times in seconds.

    `body` is that of a request, unpacked; `data_set` that of one with many cases; `in_flight` that
    of all bodies that are in memory. `depth` is how deeply JSON may be nested, and
    `values` how many values and keys (in protocol buffers: messages) it may hold. `waiting` is how
    many cases may wait to be judged, and `runs` how many runs. A trace may have `spans` spans of
    `trace` bytes, and `backlog` spans may wait for their verdict. `rate` is in requests a second
    from one client. The head of a request has to arrive within `head`, the body within `arrival`,
    and longer only if it is large. A case has to be judged within `judging`; what is under way when
    the server ends has `closing`.
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
    header_timeout: float = 10.0
    body_timeout: float = 30.0
    judge_timeout: float = 120.0
    shutdown_timeout: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a server listens, what it keeps, and how it judges.

    `judging` is what judges where nothing else is asked for; `others` are those that can be asked
    for, by the names of their judges; `models` are asked by those that ask. `demand_keys` asks for
    keys on loopback, too. So many `processes` compute, and so many `questions` are asked at once;
    what was judged before is not judged again in a run, unless `anew`. A trace is done when its
    root has ended and nothing came for `quiet` seconds, or when nothing came for `oldest` seconds;
    its verdict is sent to `otlp_endpoint`, if there is one.
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
        """All that judges, by the name of the judge; the usual one first."""
        return {self.evaluator.judge.name: self.evaluator, **self.other_evaluators}

    @property
    def requires_keys(self) -> bool:
        """Whether nobody is answered without a key."""
        return self.require_keys or not is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine is meant by a host."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
