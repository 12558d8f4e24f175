"""`make bench-server`: spans and verdicts per second, latency, memory, and overload.

    python -m benchmarks.server [--soak SECONDS] [--for SECONDS] [--only-soak]

The client is a separate process (benchmarks.load). The baseline is a bare FastAPI application that
echoes every body, with the same bodies and connections. A trace has 22 spans: a plan, ten model
answers, ten tool calls, and the root.
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
from statistics import median
from time import perf_counter, sleep
from urllib.request import Request, urlopen

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.cases import generate_case
from benchmarks.load import TRACE_ID_MARK, LoadPlan, write_bodies
from benchmarks.runs import find_process_tree, read_private_memory

STEPS = 10
START_NANOSECONDS = 1_767_225_600_000_000_000
SPANS_PER_TRACE = 2 * STEPS + 2
TRACES_PER_BATCH = 24
"""Traces per request in the batch measurement."""
PROTOBUF, JSON = "application/x-protobuf", "application/json"
FILLER_TEXT = "the order of the customer is looked up and compared with what the policy says of it "
ECHO_PROGRAM = """
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
_COLUMN_WIDTHS = (9, 8, 8, 9, 8, 8, 11)
_LEVEL = 1.05
"""Memory is level if its last fifth is at most this many times its second; the first warms up."""
_WARM_UP_SECONDS = 10.0
"""A soak test begins with as many requests as the server takes: memory keeps its highest peak."""
_SOAK_RATE = 40.0
"""Traces per second, of which a soak test alone sends half."""
_NO_LIMITS = ("--max-rate", "1000000", "--quiet-seconds", "0.5")


@dataclass(frozen=True, slots=True)
class ClientResult:
    """The responses that a client received."""

    statuses: dict[str, int]
    seconds: list[float]
    wall: float
    retry_after: int

    @property
    def requests_per_second(self) -> float:
        """Return the number of served requests per second."""
        return self.statuses.get("200", 0) / self.wall

    def quantile(self, share: float) -> float:
        """Return the latency in seconds of this quantile."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server in a separate process."""

    process: subprocess.Popen[str]
    host: str
    port: int

    def read_metric(self, name: str) -> float:
        """Return the value of a Prometheus metric."""
        with urlopen(f"http://{self.host}:{self.port}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} "))

    def read_memory(self) -> int:
        """Return the memory of the server and its worker processes in bytes."""
        return sum(map(read_private_memory, find_process_tree(self.process.pid)))


def make_trace_body(number: int, seed: int) -> bytes:
    """Return an OTLP request with a trace of an agent; the client completes the trace id."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    attribute = resource.resource.attributes.add(key="service.name")
    attribute.value.string_value = "benchmark"
    scope = resource.scope_spans.add()
    tools = [
        f"{verb}_{noun}"
        for verb in ("get", "check")
        for noun in "order policy stock customer invoice".split()
    ]
    plan = "\n".join(f"{step}. Call {tool} for {seed}." for step, tool in enumerate(tools, 1))

    def add_span(index: int, name: str, **attributes: str) -> None:
        span = scope.spans.add(
            trace_id=TRACE_ID_MARK + number.to_bytes(8),
            span_id=(index + 1).to_bytes(8),
            parent_span_id=b"" if index == 0 else (1).to_bytes(8),
            name=name,
            start_time_unix_nano=START_NANOSECONDS + index * 1_000_000,
            end_time_unix_nano=START_NANOSECONDS
            + (SPANS_PER_TRACE if index == 0 else index + 1) * 1_000_000,
        )
        for key, text in attributes.items():
            span.attributes.add(key=key.replace("__", ".")).value.string_value = text

    plan_message = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": plan}]}])
    add_span(1, "plan", gen_ai__operation__name="plan", gen_ai__output__messages=plan_message)
    for step, tool in enumerate(tools):
        arguments = {"for": str(seed)}
        tool_call = {"type": "tool_call", "id": str(step), "name": tool, "arguments": arguments}
        add_span(
            2 + 2 * step,
            "chat model",
            gen_ai__operation__name="chat",
            gen_ai__request__model="model",
            gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": [tool_call]}]),
        )
        add_span(
            3 + 2 * step,
            f"execute_tool {tool}",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=tool,
            gen_ai__tool__call__id=str(step),
            gen_ai__tool__call__arguments=json.dumps(arguments),
            gen_ai__tool__call__result=FILLER_TEXT * (1 + (seed + step) % 8),
        )
    add_span(
        0, "invoke_agent desk", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="desk"
    )
    return request.SerializeToString()


def make_case_body(seed: int) -> bytes:
    """Return a request body with a case of 10 steps and 50 events."""
    case = generate_case(steps=STEPS, events=50, seed=seed)
    fields = {"user_task": case.task, "agent_plan": case.plan}
    return json.dumps({**fields, "execution_trace": json.loads(case.trace)}).encode()


@contextmanager
def run_server(command: list[str]) -> Generator[ServerProcess, None, None]:
    """Run a server; yield it when it accepts requests."""
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
        yield ServerProcess(process, address[1], int(address[2]))
    finally:
        process.terminate()
        process.wait(60)


def make_serve_command(folder: Path, name: str, *options: str) -> list[str]:
    """Return the command that serves a new store."""
    command = [sys.executable, "-m", "planproof", "serve", "--port", "0"]
    return [*command, "--store", str(folder / f"{name}.db"), *options]


def run_client(server: ServerProcess, load: LoadPlan) -> ClientResult:
    """Run a client in another process; return its result."""
    command = [sys.executable, "-m", "benchmarks.load", server.host, str(server.port)]
    process = subprocess.run(
        [*command, json.dumps(asdict(load))], check=True, stdout=subprocess.PIPE, text=True
    )
    return ClientResult(**json.loads(process.stdout))


def measure_throughput(folder: Path, seconds: float) -> float:
    """Print throughput and the baseline; return the traces judged per second."""
    loads = {
        "spans, 22 per request": (SPANS_PER_TRACE, "/v1/traces", PROTOBUF, "single", 8),
        "spans, 528 per request": (
            SPANS_PER_TRACE * TRACES_PER_BATCH,
            "/v1/traces",
            PROTOBUF,
            "batch",
            4,
        ),
        "verdicts, 1 per request": (1, "/v1/verdicts", JSON, "cases", 8),
    }
    singles = [make_trace_body(0, seed) for seed in range(40)]
    write_bodies(folder / "single", singles)
    batches = [
        b"".join(make_trace_body(n, seed + n) for n in range(TRACES_PER_BATCH)) for seed in range(4)
    ]
    write_bodies(folder / "batch", batches)
    write_bodies(folder / "cases", [make_case_body(seed) for seed in range(40)])
    columns = ("per second", "p50", "p99", "floor", "p50", "p99", "floor/ours")
    print(
        " " * 24, *(f"{name:>{width}}" for name, width in zip(columns, _COLUMN_WIDTHS, strict=True))
    )
    rate = 0.0
    for name, (items_per_request, path, form, bodies, connections) in loads.items():
        load = LoadPlan(
            path=path,
            content_type=form,
            bodies=str(folder / bodies),
            connections=connections,
            seconds=seconds,
        )
        with run_server([sys.executable, "-c", ECHO_PROGRAM]) as echo:
            floor = run_client(echo, load)
        with run_server(make_serve_command(folder, bodies, *_NO_LIMITS)) as server:
            began = perf_counter()
            ours = run_client(server, load)
            assert set(ours.statuses) == {"200"}, ours.statuses
            if bodies == "single":
                sent = ours.statuses["200"]
                while server.read_metric("planproof_traces_judged") < sent:
                    sleep(0.2)
                rate = sent / (perf_counter() - began)
        print(
            f"{name:<24} {ours.requests_per_second * items_per_request:>9,.0f} "
            f"{_format_milliseconds(ours.quantile(0.5))} "
            f"{_format_milliseconds(ours.quantile(0.99))} "
            f"{floor.requests_per_second * items_per_request:>9,.0f} "
            f"{_format_milliseconds(floor.quantile(0.5))} "
            f"{_format_milliseconds(floor.quantile(0.99))} "
            f"{floor.requests_per_second / ours.requests_per_second:>11.1f}",
            flush=True,
        )
    print(f"\ntraces received and judged: {rate:,.0f} per second")
    return rate


def measure_latency(folder: Path) -> None:
    """Print the time from the response to a root span until its verdict."""
    count = 40
    with run_server(make_serve_command(folder, "waiting", "--quiet-seconds", "1")) as server:
        seconds: list[float] = []
        for number in range(1, count + 1):
            body = make_trace_body(1, number).replace(TRACE_ID_MARK, number.to_bytes(8))
            url = f"http://{server.host}:{server.port}"
            request = Request(f"{url}/v1/traces", body, {"Content-Type": PROTOBUF})
            with urlopen(request, timeout=60):
                began = perf_counter()
            while server.read_metric("planproof_traces_judged") < number:
                sleep(0.01)
            seconds.append(perf_counter() - began)
    ordered = sorted(seconds)
    print(
        f"from root span to verdict, including 1 s of quiet time: {ordered[count // 2]:.2f} s "
        f"(p50), {ordered[-1]:.2f} s (maximum of {count})"
    )


def measure_soak(folder: Path, seconds: float, rate: float) -> bool:
    """Print memory over time, at half of a rate of traces; return whether it was level."""
    write_bodies(folder / "single", [make_trace_body(0, seed) for seed in range(40)])
    load = LoadPlan(
        path="/v1/traces",
        content_type=PROTOBUF,
        bodies=str(folder / "single"),
        connections=8,
        seconds=seconds,
        rate=rate / 2,
    )
    samples: list[tuple[float, float]] = []
    with run_server(make_serve_command(folder, "soak", *_NO_LIMITS)) as server:
        warm_up = run_client(
            server, replace(load, rate=0.0, connections=64, seconds=_WARM_UP_SECONDS)
        )
        is_finished = threading.Event()

        def sample_memory() -> None:
            began = perf_counter()
            while not is_finished.wait(1.0):
                samples.append((perf_counter() - began, server.read_memory() / 1e6))

        sampler = threading.Thread(target=sample_memory)
        sampler.start()
        client_result = run_client(server, load)
        is_finished.set()
        sampler.join()
        sent = client_result.statuses["200"]
        while server.read_metric("planproof_traces_judged") < warm_up.statuses["200"] + sent:
            sleep(0.2)
    parts = [[mb for at, mb in samples if n / 5 <= at / seconds < (n + 1) / 5] for n in range(5)]
    print(f"\nwarm-up of {_WARM_UP_SECONDS:.0f} s: {warm_up.statuses}")
    print(f"soak of {seconds:.0f} s at {rate / 2:,.0f} traces per second: {client_result.statuses}")
    print(
        f"all {sent:,} judged; p50 {_format_milliseconds(client_result.quantile(0.5))}, p99 "
        f"{_format_milliseconds(client_result.quantile(0.99))}"
    )
    print(
        "peak memory in each fifth of the time:", ", ".join(f"{max(p):,.0f} MB" for p in parts if p)
    )
    middles = [median(part) for part in parts if part]
    is_level = middles[-1] <= _LEVEL * middles[1]
    print(
        f"median memory in each fifth: {', '.join(f'{mb:,.0f} MB' for mb in middles)}:",
        "level" if is_level else "growing",
    )
    return is_level


def measure_overload(folder: Path) -> None:
    """Print the responses under overload, and the time to recover."""
    limits = ("--max-rate", "20", "--max-waiting", "8", "--max-backlog", "2000")
    print()
    for name, path, form, bodies in (
        ("verdicts", "/v1/verdicts", JSON, "cases"),
        ("traces", "/v1/traces", PROTOBUF, "single"),
    ):
        for limit in ("rate", "queue"):
            options = (*limits[2:], *_NO_LIMITS) if limit == "queue" else limits[:2]
            with run_server(make_serve_command(folder, f"{name}-{limit}", *options)) as server:
                load = LoadPlan(
                    path=path,
                    content_type=form,
                    bodies=str(folder / bodies),
                    connections=64,
                    seconds=5,
                )
                client_result = run_client(server, load)
                began, attempts = perf_counter(), 0
                probe = replace(load, connections=1, seconds=0.05)
                while not run_client(server, probe).statuses.get("200"):
                    attempts += 1
                recovered = perf_counter() - began
                refused = sum(n for status, n in client_result.statuses.items() if status != "200")
                print(
                    f"{name}, above the {limit} limit: {client_result.statuses}, "
                    f"{client_result.retry_after} of {refused} "
                    f"refusals have Retry-After; recovered within {recovered:.1f} s; "
                    f"{server.read_memory() / 1e6:,.0f} MB"
                )


def _format_milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:>5.1f} ms"


def main() -> None:
    """Run all measurements."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--soak", type=float, default=300.0, help="duration of the soak test in seconds"
    )
    options.add_argument(
        "--for", type=float, default=10.0, dest="each", help="duration of each row in seconds"
    )
    options.add_argument("--only-soak", action="store_true", help="only the soak test")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.only_soak:
            sys.exit(not measure_soak(folder, arguments.soak, _SOAK_RATE))
        rate = measure_throughput(folder, arguments.each)
        measure_latency(folder)
        measure_overload(folder)
        measure_soak(folder, arguments.soak, rate)


if __name__ == "__main__":
    main()
