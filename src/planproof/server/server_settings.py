"""What a server is told when it is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

from planproof.core.json_values import DEEPEST
from planproof.core.strict_json import MOST_VALUES
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.local import MODEL_CASES
from planproof.runs.engines.process_pool import cores
from planproof.runs.summary import PASSING

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

    body: int = 32 * 1024 * 1024
    data_set: int = 256 * 1024 * 1024
    in_flight: int = 128 * 1024 * 1024
    depth: int = DEEPEST
    values: int = MOST_VALUES
    waiting: int = 256
    runs: int = 8
    spans: int = 20_000
    trace: int = 64 * 1024 * 1024
    backlog: int = 1_000_000
    rate: float = 1_000
    connections: int = 500
    head: float = 10.0
    arrival: float = 30.0
    judging: float = 120.0
    closing: float = 10.0


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
    judging: Judging
    models: tuple[str, ...] = ()
    others: Mapping[str, Judging] = field(default_factory=dict[str, Judging])
    host: str = LOOPBACK
    port: int = PORT
    demand_keys: bool = False
    processes: int = field(default_factory=cores)
    questions: int = MODEL_CASES
    anew: bool = False
    min_score: float = PASSING
    quiet: float = 1.0
    oldest: float = 600.0
    otlp_endpoint: str | None = None
    otlp_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: ServerLimits = field(default_factory=ServerLimits)

    @property
    def judgings(self) -> dict[str, Judging]:
        """All that judges, by the name of the judge; the usual one first."""
        return {self.judging.judge.name: self.judging, **self.others}

    @property
    def needs_keys(self) -> bool:
        """Whether nobody is answered without a key."""
        return self.demand_keys or not is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine is meant by a host."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
