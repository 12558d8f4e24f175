"""The engine on a cluster comes to the same results as the one on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any, cast

import pytest

from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.core.judge import Judge
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import JudgeSummary
from planproof.errors import InvalidInput, PlanproofError
from planproof.llm.judge_registry import find_judge
from planproof.runs.datasets.data_set import DataSet
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import judge_locally
from planproof.runs.engines.ray import RayJob, judge_on_ray
from planproof.runs.run_recorder import RunRecorder
from planproof.runs.run_records import Result, Run, RunState, create_run
from planproof.runs.store.open_store import open_store
from planproof.runs.store.store_protocol import Store
from tests.small_cases import FOLLOWED, IDLE, PLANLESS
from tests.timeouts import wait_until

CASES = 240
FIRST_HELD = 160
"""From this case on, workers wait. However Ray groups the blocks of 64 cases, results arrive
before it, and neither worker can finish."""
EXAMPLES = Path(__file__).parents[2] / "examples"
JUDGE = JudgeSummary(name="rules", fingerprint="f")


def _judging() -> CaseEvaluator:
    return CaseEvaluator(find_judge("rules"))


@dataclass
class WaitingJudge:
    """The judge `rules`, which notes its process, and holds the last cases until the gate opens."""

    folder: Path

    def __post_init__(self) -> None:
        self._rules = cast("Judge", find_judge("rules"))
        self.name, self.fingerprint = self._rules.name, self._rules.fingerprint
        (self.folder / str(os.getpid())).touch()

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        number = int(trace.events[-1].text.split(maxsplit=1)[0])
        gate, patience = self.folder / "gate", monotonic() + 300
        while number >= FIRST_HELD and not gate.exists() and monotonic() < patience:
            sleep(0.05)
        return self._rules.judge(task, plan, trace)


def _make_waiting_evaluator(folder: Path) -> CaseEvaluator:
    return CaseEvaluator(WaitingJudge(folder))


@pytest.fixture
def data(tmp_path: Path) -> DataSet:
    """Cases in several pieces of work, among them some that can't be judged or read."""
    path = tmp_path / "cases.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n in range(CASES):
            fields = (FOLLOWED, IDLE, PLANLESS)[n % 3]
            padding = [{"role": "user", "content": f"{n} " * 4_000}]
            case = {**fields, "id": f"c{n}", "metadata": {"n": n}}
            case["execution_trace"] = [*case["execution_trace"], *padding]
            file.write("{broken\n" if n % 50 == 49 else json.dumps(case) + "\n")
    return DataSet(paths=(str(path),))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(str(tmp_path / "runs.db"))
    yield opened
    opened.close()


def _run() -> Run:
    return create_run(source="cases", judge=JUDGE, fingerprint="all")


def _locally(data: DataSet, keeping: RunRecorder) -> Iterator[Result]:
    return keeping.record(
        judge_locally(keeping.iter_tasks(data), _judging(), keeping.find_known_verdicts, 1)
    )


def _expected(data: DataSet) -> list[Result]:
    with RunRecorder(open_store("none"), _run()) as keeping:
        return _same(_locally(data, keeping))


def _on_ray(data: DataSet, keeping: RunRecorder, **how: Any) -> Iterator[Result]:
    job = replace(RayJob(data=data, make_evaluator=_judging, workers=2, concurrency=1), **how)
    return keeping.record(judge_on_ray(job, keeping.merge_stored_results))


def _same(results: Iterable[Result]) -> list[Result]:
    """The results without how long they took."""
    return [replace(result, seconds=0.0) for result in results]


def test_verdicts_are_those_of_the_engine_on_this_machine(store: Store) -> None:
    examples = DataSet(paths=(f"{EXAMPLES}/*/trace.*",))
    # Without an address a cluster is started here, and stopped.
    with RunRecorder(store, _run()) as keeping:
        results = _same(_on_ray(examples, keeping))
    assert len(results) > 10
    assert results == _expected(examples)
    ray: Any = import_module("ray")
    assert not ray.is_initialized()


def test_workers_that_are_killed_cost_nothing_and_double_nothing(
    cluster: str, data: DataSet, store: Store, tmp_path: Path
) -> None:
    noted = tmp_path / "noted"
    noted.mkdir()
    run = _run()
    with RunRecorder(store, run) as keeping:
        results = _on_ray(
            data, keeping, address=cluster, make_evaluator=partial(_make_waiting_evaluator, noted)
        )
        found = list(islice(results, 20))
        wait_until(lambda: len(list(noted.iterdir())) == 2)
        killed = [int(path.name) for path in noted.iterdir()]
        for process in killed:
            os.kill(process, signal.SIGKILL)
        (noted / "gate").touch()
        found += results
    # Others took the place of the two.
    assert len(list(noted.iterdir())) > len(killed) + 1
    expected = _expected(data)
    assert _same(found) == expected
    assert _same(store.iter_results(run.id)) == expected
    assert store.find_run(run.id).state is RunState.FINISHED

    # What is judged is not judged again.
    known = {"store": str(tmp_path / "runs.db"), "fingerprint": "all"}
    with RunRecorder(store, _run()) as keeping:
        again = list(_on_ray(data, keeping, address=cluster, **known))
    assert {result.seconds for result in again} == {0.0}
    assert _same(again) == expected


def test_a_run_that_was_broken_off_goes_on(cluster: str, data: DataSet, store: Store) -> None:
    run = _run()
    with suppress(KeyboardInterrupt), RunRecorder(store, run) as keeping:
        for n, _ in enumerate(_locally(data, keeping)):
            if n == 100:
                raise KeyboardInterrupt
    broken = store.find_run(run.id)
    assert (broken.state, broken.cases) == (RunState.INTERRUPTED, 101)
    with RunRecorder(store, broken) as keeping:
        results = list(_on_ray(data, keeping, address=cluster, done_count=broken.cases))
    expected = _expected(data)
    assert _same(results) == expected
    assert _same(store.iter_results(run.id)) == expected


def test_errors_in_a_file_are_the_same_as_locally(
    cluster: str, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with (
        pytest.raises(InvalidInput, match="there is no column `execution_trace`"),
        RunRecorder(store, _run()) as keeping,
    ):
        list(_on_ray(DataSet(paths=(str(path),)), keeping, address=cluster))


@pytest.mark.parametrize(
    ("places", "message"),
    [(("-",), "can't be read by the workers"), (("x.jsonl",), "the cluster can't be reached")],
)
def test_a_run_that_cannot_start_is_an_error(
    places: tuple[str, ...], message: str, store: Store
) -> None:
    with pytest.raises(PlanproofError, match=message), RunRecorder(store, _run()) as keeping:
        list(_on_ray(DataSet(paths=places), keeping, address="127.0.0.1:1"))
