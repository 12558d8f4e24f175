"""The server under load: spans and verdicts a second, what they wait, memory, and too much of it.

    python -m benchmarks.serving [--soak SECONDS] [--for SECONDS]

The client is a process of its own (benchmarks.load), and so is a bare FastAPI application that
gives every body back: the floor, which is sent the same bodies over as many connections. A trace
has 22 spans: a plan, ten answers of a model, ten tools, and the root.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter, sleep
from urllib.request import Request, urlopen

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.cases import generate
from benchmarks.load import MARK, Load, write_bodies
from benchmarks.running import family, own_memory

STEPS = 10
BEGAN = 1_767_225_600_000_000_000
SPANS = 2 * STEPS + 2
BATCH = 24
"""Traces in one request of those that batch."""
PROTOBUF, JSON = "application/x-protobuf", "application/json"
WORDS = "the order of the customer is looked up and compared with what the policy says of it "
ECHO = """
import sys, uvicorn
from fastapi import FastAPI, Request
from starlette.responses import Response
app = FastAPI()
async def echo(request: Request) -> Response:
    return Response(await request.body(), media_type=request.headers["content-type"])
app.add_api_route("/{path:path}", echo, methods=["POST"])
uvicorn.run(app, port=0, access_log=False)
"""
_ADDRESS = re.compile(r"http://([\d.]+):(\d+)")
_WIDTHS = (9, 8, 8, 9, 8, 8, 11)
_NO_LIMITS = ("--max-rate", "1000000", "--quiet-seconds", "0.5")


@dataclass(frozen=True, slots=True)
class Told:
    """What a client was answered."""

    statuses: dict[str, int]
    seconds: list[float]
    wall: float
    retry_after: int

    @property
    def a_second(self) -> float:
        """Requests that were served."""
        return self.statuses.get("200", 0) / self.wall

    def quantile(self, part: float) -> float:
        """The seconds within which so many of the answers came."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


@dataclass(frozen=True, slots=True)
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    host: str
    port: int

    def figure(self, name: str) -> float:
        """What it tells Prometheus."""
        with urlopen(f"http://{self.host}:{self.port}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} "))

    def memory(self) -> int:
        """Bytes of it and of the processes that judge."""
        return sum(map(own_memory, family(self.process.pid)))


def trace_body(number: int, seed: int) -> bytes:
    """A trace of an agent as a request; its id is to be completed."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    told = resource.resource.attributes.add(key="service.name")
    told.value.string_value = "benchmark"
    scope = resource.scope_spans.add()
    tools = [
        f"{verb}_{noun}"
        for verb in ("get", "check")
        for noun in "order policy stock customer invoice".split()
    ]
    plan = "\n".join(f"{step}. Call {tool} for {seed}." for step, tool in enumerate(tools, 1))

    def add(place: int, name: str, **attributes: str) -> None:
        span = scope.spans.add(
            trace_id=MARK + number.to_bytes(8),
            span_id=(place + 1).to_bytes(8),
            parent_span_id=b"" if place == 0 else (1).to_bytes(8),
            name=name,
            start_time_unix_nano=BEGAN + place * 1_000_000,
            end_time_unix_nano=BEGAN + (SPANS if place == 0 else place + 1) * 1_000_000,
        )
        for key, text in attributes.items():
            span.attributes.add(key=key.replace("__", ".")).value.string_value = text

    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": plan}]}])
    add(1, "plan", gen_ai__operation__name="plan", gen_ai__output__messages=said)
    for step, tool in enumerate(tools):
        arguments = {"for": str(seed)}
        asked = {"type": "tool_call", "id": str(step), "name": tool, "arguments": arguments}
        add(
            2 + 2 * step,
            "chat model",
            gen_ai__operation__name="chat",
            gen_ai__request__model="model",
            gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": [asked]}]),
        )
        add(
            3 + 2 * step,
            f"execute_tool {tool}",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=tool,
            gen_ai__tool__call__id=str(step),
            gen_ai__tool__call__arguments=json.dumps(arguments),
            gen_ai__tool__call__result=WORDS * (1 + (seed + step) % 8),
        )
    add(0, "invoke_agent desk", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="desk")
    return request.SerializeToString()


def case_body(seed: int) -> bytes:
    """A case with 10 steps and 50 events."""
    case = generate(steps=STEPS, events=50, seed=seed)
    fields = {"user_task": case.task, "agent_plan": case.plan}
    return json.dumps({**fields, "execution_trace": json.loads(case.trace)}).encode()


@contextmanager
def serving(command: list[str]) -> Generator[Server, None, None]:
    """A server, once it can be asked, until it is no longer needed."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    address = None
    while address is None:
        line = process.stderr.readline()
        if not line:
            raise SystemExit(f"{command} did not start")
        address = _ADDRESS.search(line)
    rest = threading.Thread(target=process.stderr.read, daemon=True)
    rest.start()
    try:
        yield Server(process, address[1], int(address[2]))
    finally:
        process.terminate()
        process.wait(60)


def planproof(folder: Path, name: str, *options: str) -> list[str]:
    """The command that serves from a store of its own."""
    command = [sys.executable, "-m", "planproof", "serve", "--port", "0"]
    return [*command, "--store", str(folder / f"{name}.db"), *options]


def told(server: Server, load: Load) -> Told:
    """What a client in another process is answered."""
    command = [sys.executable, "-m", "benchmarks.load", server.host, str(server.port)]
    done = subprocess.run(
        [*command, json.dumps(asdict(load))], check=True, stdout=subprocess.PIPE, text=True
    )
    return Told(**json.loads(done.stdout))


def throughput(folder: Path, seconds: float) -> float:
    """Print what goes through, beside the floor; gives back traces that are judged a second."""
    loads = {
        "spans, 22 a request": (SPANS, "/v1/traces", PROTOBUF, "single", 8),
        "spans, 528 a request": (SPANS * BATCH, "/v1/traces", PROTOBUF, "batch", 4),
        "verdicts, a case each": (1, "/v1/verdicts", JSON, "cases", 8),
    }
    singles = [trace_body(0, seed) for seed in range(40)]
    write_bodies(folder / "single", singles)
    batches = [b"".join(trace_body(n, seed + n) for n in range(BATCH)) for seed in range(4)]
    write_bodies(folder / "batch", batches)
    write_bodies(folder / "cases", [case_body(seed) for seed in range(40)])
    columns = ("a second", "p50", "p99", "floor", "p50", "p99", "floor/ours")
    print(" " * 24, *(f"{name:>{width}}" for name, width in zip(columns, _WIDTHS, strict=True)))
    rate = 0.0
    for name, (each, path, form, bodies, connections) in loads.items():
        load = Load(
            path=path,
            content_type=form,
            bodies=str(folder / bodies),
            connections=connections,
            seconds=seconds,
        )
        with serving([sys.executable, "-c", ECHO]) as echo:
            floor = told(echo, load)
        with serving(planproof(folder, bodies, *_NO_LIMITS)) as server:
            began = perf_counter()
            ours = told(server, load)
            assert set(ours.statuses) == {"200"}, ours.statuses
            if bodies == "single":
                sent = ours.statuses["200"]
                while server.figure("planproof_traces_judged") < sent:
                    sleep(0.2)
                rate = sent / (perf_counter() - began)
        print(
            f"{name:<24} {ours.a_second * each:>9,.0f} {_ms(ours.quantile(0.5))} "
            f"{_ms(ours.quantile(0.99))} {floor.a_second * each:>9,.0f} {_ms(floor.quantile(0.5))} "
            f"{_ms(floor.quantile(0.99))} {floor.a_second / ours.a_second:>11.1f}",
            flush=True,
        )
    print(f"\ntraces taken in and judged, over both: {rate:,.0f} a second")
    return rate


def waiting(folder: Path) -> None:
    """Print how long a verdict takes from the answer to the root span."""
    count = 40
    with serving(planproof(folder, "waiting", "--quiet-seconds", "1")) as server:
        seconds: list[float] = []
        for number in range(1, count + 1):
            body = trace_body(1, number).replace(MARK, number.to_bytes(8))
            url = f"http://{server.host}:{server.port}"
            request = Request(f"{url}/v1/traces", body, {"Content-Type": PROTOBUF})
            with urlopen(request, timeout=60):
                began = perf_counter()
            while server.figure("planproof_traces_judged") < number:
                sleep(0.01)
            seconds.append(perf_counter() - began)
    ordered = sorted(seconds)
    print(
        f"from a root span to its verdict, of which 1 s is quiet: {ordered[count // 2]:.2f} s "
        f"(p50), {ordered[-1]:.2f} s (longest of {count})"
    )


def soak(folder: Path, seconds: float, rate: float) -> None:
    """Print what memory does while traces come, half as many as can be judged."""
    load = Load(
        path="/v1/traces",
        content_type=PROTOBUF,
        bodies=str(folder / "single"),
        connections=8,
        seconds=seconds,
        rate=rate / 2,
    )
    samples: list[tuple[float, float]] = []
    with serving(planproof(folder, "soak", *_NO_LIMITS)) as server:
        over = threading.Event()

        def look() -> None:
            began = perf_counter()
            while not over.wait(1.0):
                samples.append((perf_counter() - began, server.memory() / 1e6))

        looking = threading.Thread(target=look)
        looking.start()
        found = told(server, load)
        over.set()
        looking.join()
        sent = found.statuses["200"]
        while server.figure("planproof_traces_judged") < sent:
            sleep(0.2)
    parts = [[mb for at, mb in samples if n / 5 <= at / seconds < (n + 1) / 5] for n in range(5)]
    print(f"\nsoak of {seconds:.0f} s at {rate / 2:,.0f} traces a second: {found.statuses}")
    print(f"all {sent:,} judged; p50 {_ms(found.quantile(0.5))}, p99 {_ms(found.quantile(0.99))}")
    print("memory at the most, fifth by fifth:", ", ".join(f"{max(p):,.0f} MB" for p in parts if p))


def too_much(folder: Path) -> None:
    """Print what becomes of more than a server takes, and how soon it serves again."""
    limits = ("--max-rate", "20", "--max-waiting", "8", "--max-backlog", "2000")
    print()
    for name, path, form, bodies in (
        ("verdicts", "/v1/verdicts", JSON, "cases"),
        ("traces", "/v1/traces", PROTOBUF, "single"),
    ):
        for limit in ("rate", "room"):
            options = (*limits[2:], *_NO_LIMITS) if limit == "room" else limits[:2]
            with serving(planproof(folder, f"{name}-{limit}", *options)) as server:
                load = Load(
                    path=path,
                    content_type=form,
                    bodies=str(folder / bodies),
                    connections=64,
                    seconds=5,
                )
                found = told(server, load)
                began, again = perf_counter(), 0
                one = replace(load, connections=1, seconds=0.05)
                while not told(server, one).statuses.get("200"):
                    again += 1
                recovered = perf_counter() - began
                refused = sum(n for status, n in found.statuses.items() if status != "200")
                print(
                    f"{name}, past the {limit}: {found.statuses}, {found.retry_after} of {refused} "
                    f"refusals say when to come back; served again within {recovered:.1f} s; "
                    f"{server.memory() / 1e6:,.0f} MB"
                )


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:>5.1f} ms"


def main() -> None:
    """Print it all."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--soak", type=float, default=300.0, help="seconds of the soak")
    options.add_argument("--for", type=float, default=10.0, dest="each", help="seconds of a row")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rate = throughput(folder, given.each)
        waiting(folder)
        too_much(folder)
        soak(folder, given.soak, rate)


if __name__ == "__main__":
    main()
