"""Ray engine: read a data set, judge it on a cluster and return the results in order.

One task reads in the order of the data set, as far ahead as memory allows. Actors judge; one that
dies is replaced and its cases are judged again. Results return in order to the one process that
stores them, so a case has one result even if it was judged twice.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput, PlanproofError, RunFailed
from planproof.runs.datasets.data_set import DataSet
from planproof.runs.datasets.dataset_files import STANDARD_INPUT
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import JudgeTask, ResultWithCase, judge_locally
from planproof.runs.engines.process_pool import count_cores
from planproof.runs.engines.row_transport import (
    MergeResults,
    ReturnedCase,
    TransportRow,
    add_result_to_row,
    parse_returned_row,
    row_to_task,
    task_to_row,
)
from planproof.runs.run_records import Result, serialize_case
from planproof.runs.store.open_store import open_store

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset

_BLOCK_BYTES = 1_000_000
"""Bytes of the data set in a block: small enough that all workers get some."""
_CASES_PER_BATCH = 64

# No telemetry, little logging, and no lowered priority for workers, unless the environment sets it
# otherwise.
_INIT_OPTIONS: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
_TRIES = 3
_REACHABLE_TIMEOUT_SECONDS = 10.0
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_worker_niceness": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RayJob:
    """A job for a cluster.

    `make_evaluator` is called on every worker, because a judge that asks a model can't be pickled.
    The first `done_count` cases already have results. `store`, if workers can reach it, is searched
    for verdicts of other runs with the same `fingerprint`. Each of the `workers` asks a model about
    `concurrency` cases at once.
    """

    data: DataSet
    make_evaluator: Callable[[], CaseEvaluator]
    done_count: int = 0
    store: str | None = None
    fingerprint: str = ""
    address: str | None = None
    workers: int | None = None
    concurrency: int | None = None


def judge_on_ray(job: RayJob, merge: MergeResults) -> Generator[ResultWithCase, None, None]:
    """Yield the results of all cases in the order of the data set, including stored ones."""
    if STANDARD_INPUT in job.data.paths:
        raise InvalidInput(
            "can't be read by the workers of a cluster.",
            where="standard input",
            advice="Save it to a file that the workers can read, or remove --engine ray.",
        )
    with closing(merge(_iter_returned(job))) as merged:
        for item in merged:
            if isinstance(item, Result):
                yield item, None
            elif item.result is None:
                raise _make_run_failed_error(
                    f"the result at position {item.position} is missing from the store."
                )
            else:
                yield item.result


def _iter_returned(job: RayJob) -> Generator[ReturnedCase, None, None]:
    last = -1
    with _connect(job) as workers:
        for row in _iter_rows(_build_pipeline(job, workers)):
            returned = parse_returned_row(row)
            # Ray keeps the order; if it ever does not, fail instead of storing wrong results.
            if returned.position <= last:
                raise _make_run_failed_error(
                    f"the case at position {returned.position} was returned twice or out of order."
                )
            last = returned.position
            yield returned


@contextmanager
def _connect(job: RayJob) -> Generator[int, None, None]:
    """Connect to a cluster or start a local one, and yield its number of workers."""
    # Before the import, which reads them.
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415 - heavy, and in an extra
    except ImportError as error:
        raise InvalidInput(
            "Ray is not installed.",
            where="--engine ray",
            advice="Install it with pip install 'planproof[ray]'.",
        ) from error
    workers = job.workers or count_cores()
    try:
        if job.address is None:
            _start_local_cluster(workers)
        else:
            _check_reachable(job.address)
            ray.init(address=job.address, **_INIT_OPTIONS)
    except Exception as error:
        # Ray raises arbitrary exceptions, down to `Exception` itself.
        message = (str(error) or type(error).__name__).splitlines()[0]
        raise RunFailed(
            f"the cluster can't be {'started' if job.address is None else 'reached'}: {message}",
            where=job.address or "--engine ray",
            advice="Check the address, that the cluster runs the same version of Ray, and that the "
            "machine has enough memory and disk space.",
        ) from error
    try:
        # Leave one CPU to the task that reads.
        available = max(int(ray.cluster_resources().get("CPU", 2)) - 1, 1)
        yield min(available, job.workers or available)
    except Exception as error:
        raise _find_planproof_error(error) from error
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise an error at once if the address does not respond: Ray would retry for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), _REACHABLE_TIMEOUT_SECONDS).close()


def _start_local_cluster(workers: int) -> None:
    import ray  # noqa: PLC0415

    for attempts_left in reversed(range(_TRIES)):
        try:
            ray.init("local", num_cpus=workers + 1, include_dashboard=False, **_INIT_OPTIONS)
        except Exception:
            # Ray gives up after half a minute, which may be too short on a busy machine.
            ray.shutdown()
            if not attempts_left:
                raise
        else:
            return


def _build_pipeline(job: RayJob, workers: int) -> Dataset:
    import ray.data  # noqa: PLC0415

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    context.target_max_block_size = _BLOCK_BYTES
    cases = ray.data.read_datasource(
        _make_datasource(job.data, job.done_count), override_num_blocks=1
    )
    return cases.map_batches(
        _JudgeActor,
        fn_constructor_args=(job.make_evaluator, job.store, job.fingerprint, job.concurrency),
        batch_format="pyarrow",
        batch_size=_CASES_PER_BATCH,
        compute=ray.data.ActorPoolStrategy(size=workers),
    )


def _iter_rows(dataset: Dataset) -> Iterator[Mapping[str, Any]]:
    for batch in dataset.iter_batches(batch_format="pyarrow", batch_size=None):
        yield from batch.to_pylist()


def _make_datasource(data: DataSet, done_count: int) -> Any:
    """Return the data set as a Ray datasource; the class is defined here as its base is Ray's."""
    from ray.data import Datasource, ReadTask  # noqa: PLC0415
    from ray.data.block import BlockMetadata  # noqa: PLC0415

    folder = Path.cwd()

    class Cases(Datasource):
        """The cases of a data set, read by one task, because their order is known only then."""

        def estimate_inmemory_data_size(self) -> int | None:
            return None

        def get_read_tasks(self, *_: object, **__: object) -> list[ReadTask]:
            unknown = BlockMetadata(None, None, None)
            return [ReadTask(lambda: _read_blocks(data, done_count, folder), unknown)]

    return Cases()


def _read_blocks(data: DataSet, done_count: int, folder: Path) -> Iterator[pa.Table]:
    if folder.is_dir():
        # Paths are reported as given, also when another process reads them.
        os.chdir(folder)
    rows = _iter_task_rows(data, done_count)
    while block := list(islice(rows, _CASES_PER_BATCH)):
        yield _to_arrow_table(block)


def _iter_task_rows(data: DataSet, done_count: int) -> Iterator[TransportRow]:
    for number, (position, line) in enumerate(data):
        task = JudgeTask(position, line, None if line.case is None else serialize_case(line.case))
        yield task_to_row(task, done=number < done_count)


class _JudgeActor:
    """Judges blocks of cases; lives as long as its worker."""

    def __init__(
        self,
        make_evaluator: Callable[[], CaseEvaluator],
        store: str | None,
        fingerprint: str,
        concurrency: int | None,
    ) -> None:
        self._evaluator = make_evaluator()
        self._fingerprint = fingerprint
        self._store = None if store is None else open_store(store)
        self._concurrency = concurrency

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Return the rows with verdicts, except for those already done."""
        rows = batch.to_pylist()
        tasks = (row_to_task(row) for row in rows if not row["done"])
        results = judge_locally(
            tasks, self._evaluator, self._find_known_verdicts, self._concurrency
        )
        return _to_arrow_table(
            [add_result_to_row(row, None if row["done"] else next(results)) for row in rows],
            judged=True,
        )

    def _find_known_verdicts(self, cases: Collection[str]) -> Mapping[str, Verdict]:
        if self._store is None or not cases:
            return {}
        return self._store.find_verdicts(cases, self._fingerprint)


def _to_arrow_table(rows: Iterable[TransportRow], *, judged: bool = False) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 - comes with Ray

    # Large strings: the texts of a block may exceed 2 GB together.
    text = pa.large_string()
    columns = {
        "position": pa.int64(),
        "hash": text,
        "done": pa.bool_(),
        "text": text,
        "line": text,
        **({"verdict": text, "seconds": pa.float64()} if judged else {}),
    }
    schema = pa.schema([pa.field(name, kind) for name, kind in columns.items()])
    return pa.Table.from_pylist(list(rows), schema=schema)


def _find_planproof_error(error: BaseException) -> BaseException:
    """Return the planproof error that a worker raised, or a `RunFailed` for any other."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PlanproofError):
            return cause
        cause = getattr(cause, "cause", None) or cause.__cause__
    return _make_run_failed_error(
        f"the cluster failed: {type(error).__name__}: {str(error).splitlines()[0]}"
    )


def _make_run_failed_error(what: str) -> RunFailed:
    return RunFailed(what, advice="Results so far are stored. Continue with --resume.")
