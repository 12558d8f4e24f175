"""Start, resume and execute a run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TypeAlias

from planproof.core.verdict import JudgeSummary
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import ResultWithCase, Worker, judge_locally, judge_with_worker
from planproof.runs.engines.row_transport import MergeResults
from planproof.runs.run_recorder import RunRecorder
from planproof.runs.run_records import Result, Run, RunState, create_run
from planproof.runs.store.store_protocol import Store

_MAX_RUNS_SEARCHED = 100

RemoteEngine: TypeAlias = Callable[[MergeResults], Generator[ResultWithCase, None, None]]
"""An engine that reads the data set itself; its argument merges in results already stored."""


def start_or_resume_run(
    store: Store,
    evaluator: CaseEvaluator,
    *,
    source: str,
    models: tuple[str, ...] = (),
    tags: Mapping[str, str] | None = None,
    resume: bool = False,
) -> Run:
    """Create a run, or with `resume` return the newest unfinished one over the same data and judge.

    A run that already has results is a resumed one.
    """
    fingerprint = evaluator.fingerprint
    if resume:
        for run in store.list_runs(limit=_MAX_RUNS_SEARCHED):
            if (run.source, run.fingerprint) == (source, fingerprint):
                if run.state is RunState.FINISHED:
                    break
                return run
    judge = evaluator.judge
    summary = JudgeSummary(name=judge.name, fingerprint=judge.fingerprint, models=models)
    return create_run(source=source, judge=summary, fingerprint=fingerprint, tags=tags)


@contextmanager
def execute_run(
    store: Store,
    run: Run,
    cases: Iterable[tuple[int, CaseLine]],
    evaluator: CaseEvaluator,
    *,
    no_cache: bool = False,
    concurrency: int | None = None,
    worker: Worker | None = None,
    engine: RemoteEngine | None = None,
) -> Generator[Iterator[Result], None, None]:
    """Yield the results of a run in the order of the cases, which come with their positions.

    Leaving before the last result marks the run as interrupted. A `worker` judges the cases instead
    of this machine's processes; an `engine` reads and judges them itself.
    """
    with RunRecorder(store, run, no_cache=no_cache) as recorder:
        if engine is not None:
            with closing(engine(recorder.merge_stored_results)) as judged:
                yield recorder.record(judged)
            return
        tasks = recorder.iter_tasks(cases)
        if worker is None:
            judged = judge_locally(tasks, evaluator, recorder.find_known_verdicts, concurrency)
        else:
            judged = judge_with_worker(worker, tasks, evaluator, recorder.find_known_verdicts)
        with closing(tasks), closing(judged):
            yield recorder.record(judged)
