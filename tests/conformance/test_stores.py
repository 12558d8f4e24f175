"""What every store promises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from planproof.core.case import Case
from planproof.core.usage import Usage
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate_case
from planproof.runs.run_records import (
    Result,
    Run,
    RunState,
    create_run,
    deserialize_case,
    serialize_case,
)
from planproof.runs.store.open_store import open_store
from planproof.runs.store.store_protocol import Store
from tests.small_cases import FOLLOWED

JUDGE = JudgeSummary(name="rules", fingerprint="f1", models=("m",))


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url)
    yield opened
    opened.close()


def _run(**tags: str) -> Run:
    return create_run(source="cases.jsonl", judge=JUDGE, fingerprint="all1", tags=tags)


def _case(number: int) -> Case:
    fields = json.loads(json.dumps(FOLLOWED))
    return Case(
        task=None,
        plan=fields["agent_plan"],
        trace=[*fields["execution_trace"], {"role": "user", "content": f"Thanks, {number}."}],
        id=f"case-{number}",
        metadata={"n": number, "odd": "\0 \ud800"},
    )


def _result(number: int) -> Result:
    case = _case(number)
    verdict = replace(evaluate_case(case), cost=Usage(calls=number))
    return Result(number, serialize_case(case).hash, case.id, verdict, 0.25)


def _fill(store: Store, run: Run, numbers: range) -> list[Result]:
    store.begin(run)
    results = [_result(number) for number in numbers]
    store.add(run.id, results, [serialize_case(_case(number)) for number in numbers])
    return results


def test_results_come_back_whole_and_in_order(store: Store) -> None:
    run = _run()
    results = _fill(store, run, range(3))
    later = _fill(store, run, range(3, 5))
    assert list(store.iter_results(run.id)) == results + later


def test_results_come_in_order_however_they_were_added(store: Store) -> None:
    run = _run()
    store.begin(run)
    # More than one page, the later half first.
    many = [replace(_result(0), position=position) for position in range(1_200)]
    store.add(run.id, many[600:], [])
    store.add(run.id, many[:600], [])
    assert [result.position for result in store.iter_results(run.id)] == list(range(1_200))


def test_what_is_kept_already_stays(store: Store) -> None:
    run = _run()
    results = _fill(store, run, range(2))
    other = replace(_result(7), position=0)
    store.add(run.id, [other], [serialize_case(_case(7))])
    assert list(store.iter_results(run.id)) == results


def test_a_run_says_how_far_it_is(store: Store) -> None:
    run = _run(branch="main", night="1")
    _fill(store, run, range(3))
    assert store.find_run(run.id) == replace(run, cases=3)
    store.close_run(run.id, RunState.INTERRUPTED)
    assert store.find_run(run.id).state is RunState.INTERRUPTED
    store.begin(run)
    assert store.find_run(run.id).state is RunState.RUNNING
    store.close_run(run.id, RunState.FINISHED)
    done = store.find_run(run.id)
    assert done.state is RunState.FINISHED
    assert done.finished is not None
    assert done.finished >= run.created


def test_runs_are_found_by_id_by_prefix_and_by_tags(store: Store) -> None:
    runs = [replace(_run(n=str(n)), id=f"2026010{n}-a{n}") for n in range(3)]
    for run in runs:
        store.begin(run)
    newest = [run.id for run in reversed(runs)]
    assert [run.id for run in store.list_runs()] == newest
    assert [run.id for run in store.list_runs(limit=2)] == newest[:2]
    assert [run.id for run in store.list_runs(tags={"n": "1"})] == [runs[1].id]
    assert store.list_runs(tags={"n": "1", "m": "2"}) == []
    assert store.find_run("latest").id == newest[0]
    assert store.find_run("20260101").id == runs[1].id
    with pytest.raises(InvalidInput, match="several"):
        store.find_run("2026")
    with pytest.raises(InvalidInput, match=f"Did you mean `{runs[0].id}`"):
        store.find_run("20260100-a0x")
    with pytest.raises(InvalidInput, match="no run"):
        store.find_run("%")


def test_an_empty_store_says_so(store: Store) -> None:
    assert store.list_runs() == []
    with pytest.raises(InvalidInput, match="has no runs yet"):
        store.find_run("latest")


def test_a_result_is_found_by_id_or_position(store: Store) -> None:
    run = _run()
    results = _fill(store, run, range(3))
    assert store.get_result(run.id, "case-1") == results[1]
    assert store.get_result(run.id, "2") == results[2]
    assert store.get_result(run.id, 0) == results[0]
    with pytest.raises(InvalidInput, match="case-1"):
        store.get_result(run.id, "cas-1")


def test_a_case_is_known_once_judged(store: Store) -> None:
    run = _run()
    first, second = _fill(store, run, range(2))
    found = store.find_verdicts([first.case, second.case, "other"], "all1")
    assert found == {
        result.case: replace(result.verdict, id=None, metadata={}, cost=None)
        for result in (first, second)
    }
    assert store.find_verdicts([first.case], "all2") == {}
    assert store.find_verdicts([], "all1") == {}


def test_a_failure_is_not_stored_as_a_verdict(store: Store) -> None:
    run = _run()
    store.begin(run)
    failed = Verdict(outcome=Outcome.JUDGE_FAILED, reason="The model did not answer.", id="x")
    store.add(run.id, [Result(0, "h", "x", failed, 1.0)], [])
    assert store.find_verdicts(["h"], "all1") == {}
    judged = replace(_result(1), position=1, case="h")
    store.add(run.id, [judged], [])
    assert list(store.find_verdicts(["h"], "all1")) == ["h"]
    assert [result.verdict.outcome for result in store.iter_results(run.id)] == [
        Outcome.JUDGE_FAILED,
        judged.verdict.outcome,
    ]


def test_a_case_comes_back_as_it_was(store: Store) -> None:
    run = _run()
    (result,) = _fill(store, run, range(1))
    again = deserialize_case(store.get_case(result.case), id="case-0", metadata=_case(0).metadata)
    assert again == _case(0)
    with pytest.raises(InvalidInput, match="no case"):
        store.get_case("nowhere")


def test_what_is_kept_outlives_the_process(store_url: str, store: Store) -> None:
    run = _run()
    results = _fill(store, run, range(2))
    other = open_store(store_url)
    try:
        assert list(other.iter_results(run.id)) == results
        other.add(run.id, [_result(2)], [])
    finally:
        other.close()
    assert store.find_run(run.id).cases == 3
