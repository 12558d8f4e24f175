"""The round trip: a trace, and what it is in the native form, are judged alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from msgspec import structs

from planproof import evaluate
from planproof.core.content import Json
from planproof.core.trace import Event, Trace
from planproof.core.verdict import Verdict
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.native import serialize_trace
from tests.golden_files import GOLDENS, Golden
from tests.third_party import one_case_a_trace, with_bench
from tests.unit.readers.samples import ALL

# What says where something stands, and not what it is.
PLACES = ("pointer", "inputs", "coverage")


def unplaced(trace: Trace) -> list[Event]:
    return [structs.replace(event, pointer="", output_pointer=None) for event in trace.events]


def judgement(verdict: Verdict) -> Any:
    """A verdict without what must differ: where things stand."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(held) for key, held in value.items() if key not in PLACES}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(value, (list, tuple)):
            return [bare(held) for held in value]  # pyright: ignore[reportUnknownVariableType]
        return value

    return bare(asdict(verdict))


def assert_same(trace: Trace, source: Source, plan: Json, task: Json = None) -> None:
    native = Source.from_value(serialize_trace(trace))
    again = read_trace(native)
    assert again.reader == "native"
    assert unplaced(again) == unplaced(trace)
    raw = evaluate(task=task, plan=plan, trace=source)
    assert judgement(evaluate(task=task, plan=plan, trace=native)) == judgement(raw)


@pytest.mark.parametrize("name", ALL)
def test_the_samples(name: str) -> None:
    source = Source.from_value(ALL[name])
    trace = read_trace(source)
    plan = [f"Call {event.name} first" for event in trace.events if event.name] or ["Do it"]
    assert_same(trace, source, plan, "Do it.")


def plans(golden: Golden) -> Iterator[Json]:
    yield None
    names = [row["name"] for row in golden.expected["actions"]]
    yield [f"Call {name}" for name in names] or ["Answer"]


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
def test_the_goldens(golden: Golden) -> None:
    for plan in plans(golden):
        assert_same(golden.trace, golden.source, plan)


@with_bench
def test_the_bench() -> None:
    for case in one_case_a_trace():
        source = Source.from_value(case["execution_trace"])
        assert_same(read_trace(source), source, case["agent_plan"], case["user_task"])
