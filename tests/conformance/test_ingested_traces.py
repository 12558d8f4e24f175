"""A real agent, traced by the real OpenTelemetry SDK, judged by a server as it would be by hand."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import random
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.verdict import Verdict
from planproof.evaluation import evaluate
from planproof.runs.run_records import Result
from planproof.runs.store.open_store import open_store
from tests.log_collector import Collector, read_attributes, run_collector
from tests.otlp_traces import Request, make_export, make_spans, post
from tests.server_processes import ServerProcess, run_server
from tests.timeouts import TIMEOUT_SECONDS, wait_until

TASK = "Refund order A-1042 and tell the customer."
PLAN = """1. Look up order A-1042 with get_order.
2. Check the policy with check_policy.
3. Refund the order with refund_order.
4. Mail the customer with send_mail."""
# The policy is not checked, and the mail goes out before the refund.
CALLS = (
    ("get_order", {"order": "A-1042"}),
    ("send_mail", {"to": "customer", "text": "Order A-1042 is refunded."}),
    ("refund_order", {"order": "A-1042"}),
)


def _agent(provider: TracerProvider, *, says_plan: bool) -> Agent[None, str]:
    """An agent whose model plays a script."""
    turns = iter(CALLS)

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        opening = (
            [TextPart(f"Here is my plan:\n{PLAN}")] if says_plan and len(messages) == 1 else []
        )
        turn = next(turns, None)
        if turn is None:
            return ModelResponse(parts=[TextPart("The order is refunded.")])
        return ModelResponse(parts=[*opening, ToolCallPart(*turn)])

    def get_order(order: str) -> str:
        return f"{order}: one lamp, 40 EUR"

    def check_policy(order: str) -> str:
        return "allowed"

    def refund_order(order: str) -> str:
        return f"{order} refunded"

    def send_mail(to: str, text: str) -> str:
        return f"sent to {to}: {text}"

    return Agent(
        FunctionModel(answer),
        name="refunds",
        tools=[get_order, check_policy, refund_order, send_mail],
        capabilities=[Instrumentation(InstrumentationSettings(tracer_provider=provider))],
    )


def _by_attribute(tracer: Tracer, run: Callable[[], object]) -> None:
    told = {"planproof.plan": PLAN, "planproof.task": TASK}
    with tracer.start_as_current_span("request", attributes=told):
        run()


def _by_list(tracer: Tracer, run: Callable[[], object]) -> None:
    steps = [line.partition(". ")[2] for line in PLAN.splitlines()]
    with tracer.start_as_current_span("request", attributes={"planproof.plan": steps}):
        run()


def _by_plan_span(tracer: Tracer, run: Callable[[], object]) -> None:
    said = [{"role": "assistant", "parts": [{"type": "text", "content": PLAN}]}]
    told = {"gen_ai.operation.name": "plan", "gen_ai.output.messages": json.dumps(said)}
    with tracer.start_as_current_span("request"):
        with tracer.start_as_current_span("plan refunds", attributes=told):
            pass
        run()


def _by_words(_: Tracer, run: Callable[[], object]) -> None:
    run()


WAYS = [_by_attribute, _by_list, _by_plan_span, _by_words]


def traced(
    way: Callable[[Tracer, Callable[[], object]], None], url: str | None = None, **exporter: Any
) -> tuple[ReadableSpan, ...]:
    """The spans of a run of the agent, which are also exported to a server, if there is one."""
    provider = TracerProvider(resource=Resource({"service.name": "refunds"}))
    seen = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    if url is not None:
        to_server = OTLPSpanExporter(f"{url}/v1/traces", **exporter)
        provider.add_span_processor(BatchSpanProcessor(to_server, max_export_batch_size=3))
    agent = _agent(provider, says_plan=way is _by_words)
    way(provider.get_tracer("test"), lambda: asyncio.run(agent.run(TASK)))
    provider.shutdown()
    return seen.get_finished_spans()


def otlp_json(spans: tuple[ReadableSpan, ...]) -> Request:
    """The spans as a request in JSON, as the Collector would write it into a file."""
    return json.loads(
        json.dumps(MessageToDict(encode_spans(spans), use_integers_for_enums=True)),
        object_hook=_with_hexadecimal,
    )


def _with_hexadecimal(value: dict[str, Any]) -> dict[str, Any]:
    ids = {"traceId", "spanId", "parentSpanId"} & value.keys()
    return value | {key: base64.b64decode(value[key]).hex() for key in ids}


def by_hand(request: Request, folder: Path) -> Verdict:
    """What `planproof judge` says of the exported file."""
    file = folder / "exported.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    return evaluate(trace=file)


def _comparable_fields(verdict: Verdict) -> dict[str, Any]:
    """All that a verdict says, but for where in its source things stand, and for whom it was."""

    elsewhere = ("id", "metadata", "inputs", "judge")
    return {key: _bare(held) for key, held in verdict.full().items() if key not in elsewhere}


def _bare(value: Json) -> Json:
    if is_object(value):
        return {key: _bare(held) for key, held in value.items() if key not in ("pointer", "notes")}
    return [_bare(item) for item in value] if is_list(value) else value


def _began(request: Request) -> int:
    return int(request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["startTimeUnixNano"])


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with run_collector() as running:
        yield running


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, collector: Collector
) -> Iterator[tuple[ServerProcess, str]]:
    store = str(tmp_path_factory.mktemp("server") / "runs.db")
    with run_server(store, "--quiet-seconds", "0.5", "--otlp-endpoint", collector.url) as process:
        yield process, store


def result_on(store: str, trace: str, where: Callable[[Result], bool] = lambda _: True) -> Result:
    """The result on a trace, once it is there."""
    until = monotonic() + TIMEOUT_SECONDS
    with closing(open_store(store)) as opened:
        while monotonic() < until:
            for run in opened.list_runs():
                found = [result for result in opened.iter_results(run.id) if result.id == trace]
                assert len(found) <= 1
                if found and where(found[0]):
                    return found[0]
            sleep(0.05)
    raise AssertionError(f"{trace} was not judged")


@pytest.mark.parametrize("way", WAYS)
def test_a_traced_agent_is_judged_as_by_hand(
    server: tuple[ServerProcess, str], tmp_path: Path, way: Callable[..., None]
) -> None:
    process, store = server
    compression = Compression.Gzip if way is _by_attribute else Compression.NoCompression
    spans = traced(way, process.url, compression=compression)
    (trace,) = {f"{span.context.trace_id:032x}" for span in spans if span.context}
    expected = by_hand(otlp_json(spans), tmp_path)
    assert [step.status.value for step in expected.steps] == [
        "executed",
        "missing",
        "executed",
        "out_of_order",
    ]
    result = result_on(store, trace)
    assert _comparable_fields(result.verdict) == _comparable_fields(expected)
    assert html.escape(expected.reason[:40], quote=False) in _page(process, store, result)


def _page(process: ServerProcess, store: str, result: Result) -> str:
    """The page of a result, as a browser gets it."""
    with closing(open_store(store)) as opened:
        run = opened.find_run("latest").id
    url = f"{process.url}/runs/{run}/cases/{result.position}"
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
        return answer.read().decode()


def test_json_shuffled_doubled_and_late_spans_give_the_same_verdict(
    server: tuple[ServerProcess, str], tmp_path: Path
) -> None:
    process, store = server
    whole = otlp_json(traced(_by_attribute))
    expected = by_hand(whole, tmp_path)
    scope = whole["resourceSpans"][0]["scopeSpans"]
    pieces = [
        {
            "resourceSpans": [
                {
                    "resource": whole["resourceSpans"][0]["resource"],
                    "scopeSpans": [{"scope": part["scope"], "spans": [span]}],
                }
            ]
        }
        for part in scope
        for span in part["spans"]
    ]
    (trace,) = {span["traceId"] for part in scope for span in part["spans"]}
    pieces.sort(key=_began)
    late = pieces[-3:]  # the model asks for the refund, it is made, and the model says so
    random.Random(4).shuffle(pieces)
    for piece in (*pieces, *pieces[:3]):
        if piece not in late:
            assert post(process.url, piece).status == 200
    early = result_on(store, trace)
    assert early.verdict.score is not None
    assert _comparable_fields(early.verdict) != _comparable_fields(expected)
    for piece in late:
        assert post(process.url, piece).body == b"{}"
    result = result_on(
        store,
        trace,
        lambda found: _comparable_fields(found.verdict) == _comparable_fields(expected),
    )
    assert result.position == early.position
    # Once more, all of it: it is known, and nothing changes.
    assert post(process.url, whole).status == 200
    sleep(1.5)
    assert result_on(store, trace) == result


def test_a_live_trace_is_shown_and_its_verdict_exported(
    server: tuple[ServerProcess, str], collector: Collector
) -> None:
    process, store = server
    trace = f"{0xABCDEF:032x}"
    with urllib.request.urlopen(f"{process.url}/live/events", timeout=TIMEOUT_SECONDS) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        assert post(process.url, make_export(make_spans(0xABCDEF))).status == 200
        told: list[Any] = []
        while not told or told[0]["trace"] != trace or told[0]["outcome"] is None:
            line: bytes = stream.readline()
            if line.startswith(b"data: "):
                told = json.loads(line[6:])
    assert (told[0]["score"], told[0]["service"]) == (1.0, "desk")
    assert result_on(store, trace).verdict.score == 1.0
    wait_until(lambda: _find_record(collector, trace) is not None)
    found = _find_record(collector, trace)
    assert found is not None
    assert found["gen_ai.evaluation.score.value"] == 1.0


def _find_record(collector: Collector, trace: str) -> dict[str, Any] | None:
    mine = [record for record in collector.records if record.trace_id.hex() == trace]
    return read_attributes(mine[0]) if mine else None
