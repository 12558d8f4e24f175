"""A run from its beginning, or from where it was broken off, to its end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TypeAlias

from planproof.core.verdict import JudgeSummary
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.local import Judged, Worker, judged_by, judged_locally
from planproof.runs.engines.row_transport import Merging
from planproof.runs.run_recorder import Keeping
from planproof.runs.run_records import Result, Run, RunState, new_run
from planproof.runs.store.store_protocol import Store

_LOOKED_AT = 100

Elsewhere: TypeAlias = Callable[[Merging], Generator[Judged, None, None]]
"""An engine that reads the data set itself, given what puts in the results that are there."""


def begun(
    store: Store,
    judging: Judging,
    *,
    source: str,
    models: tuple[str, ...] = (),
    tags: Mapping[str, str] | None = None,
    resume: bool = False,
) -> Run:
    """A new run; to `resume`, the newest over the same data, judged in the same way, if unfinished.

    A run that has results already is one that is gone on with.
    """
    fingerprint = judging.fingerprint
    if resume:
        for run in store.runs(limit=_LOOKED_AT):
            if (run.source, run.fingerprint) == (source, fingerprint):
                if run.state is RunState.FINISHED:
                    break
                return run
    judge = judging.judge
    summary = JudgeSummary(name=judge.name, fingerprint=judge.fingerprint, models=models)
    return new_run(source=source, judge=summary, fingerprint=fingerprint, tags=tags)


@contextmanager
def running(
    store: Store,
    run: Run,
    cases: Iterable[tuple[int, CaseLine]],
    judging: Judging,
    *,
    anew: bool = False,
    at_once: int | None = None,
    worker: Worker | None = None,
    elsewhere: Elsewhere | None = None,
) -> Generator[Iterator[Result], None, None]:
    """The results of a run, in the order of the cases, which come with their positions.

    Whoever leaves before they are all there has interrupted the run. A `worker` judges them in the
    place of this machine's processes. With `elsewhere` they are read and judged there.
    """
    with Keeping(store, run, anew=anew) as keeping:
        if elsewhere is not None:
            with closing(elsewhere(keeping.merged)) as judged:
                yield keeping.keep(judged)
            return
        tasks = keeping.tasks(cases)
        if worker is None:
            judged = judged_locally(tasks, judging, keeping.known, at_once)
        else:
            judged = judged_by(worker, tasks, judging, keeping.known)
        with closing(tasks), closing(judged):
            yield keeping.keep(judged)
