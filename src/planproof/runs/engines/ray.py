"""The engine on a cluster: Ray Data reads a data set, judges it and brings the results back.

One task reads, in the order of the data set, as far ahead as there is room; actors judge, and one
that dies is replaced and its cases judged again. Results come back in order to the one process that
keeps them, so that a case has one result, whatever was done twice on the way.
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
from planproof.runs.case_json import kept
from planproof.runs.datasets.data_set import DataSet
from planproof.runs.datasets.dataset_files import STANDARD_INPUT
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.local import Judged, Task, judged_locally
from planproof.runs.engines.process_pool import cores
from planproof.runs.engines.row_transport import (
    Arrived,
    Merging,
    Row,
    arrived,
    judged_row,
    task_of,
    task_row,
)
from planproof.runs.run_records import Result
from planproof.runs.store.open_store import open_store

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset

_BLOCK_BYTES = 1_000_000
"""How much of a data set makes a piece of work: small enough that all workers get some."""
_CASES_AT_ONCE = 64

# Nothing is sent anywhere, little is said, and workers get their share of a busy machine, unless
# whoever runs this wants it otherwise.
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
_TRIES = 3
_LONGEST_KNOCK = 10.0
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_worker_niceness": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RayJob:
    """What a cluster is asked to do.

    `judging` is called on every worker, for a judge that asks a model can't be sent. `done` is how
    many of the first cases have results. `store`, where workers can reach it, is asked for
    verdicts that another run of the same `fingerprint` came to. There are so many `workers`, and
    each asks a model about so many cases `at_once`.
    """

    data: DataSet
    judging: Callable[[], Judging]
    done: int = 0
    store: str | None = None
    fingerprint: str = ""
    address: str | None = None
    workers: int | None = None
    at_once: int | None = None


def judged_on_ray(job: RayJob, merged: Merging) -> Generator[Judged, None, None]:
    """The results of all cases, in the order of the data set; those that are there already pass."""
    if STANDARD_INPUT in job.data.places:
        raise InvalidInput(
            "can't be read by the workers of a cluster.",
            where="standard input",
            advice="Save it to a file that they can read, or leave out --engine ray.",
        )
    with closing(merged(_arriving(job))) as found:
        for each in found:
            if isinstance(each, Result):
                yield each, None
            elif each.judged is None:
                raise _lost(f"the result at position {each.position} is gone from the store.")
            else:
                yield each.judged


def _arriving(job: RayJob) -> Generator[Arrived, None, None]:
    last = -1
    with _connected(job) as workers:
        for row in _rows(_judged(job, workers)):
            back = arrived(row)
            # Ray keeps the order; should it ever not, a run must not be wrong in silence.
            if back.position <= last:
                raise _lost(f"the case at position {back.position} came back twice or too late.")
            last = back.position
            yield back


@contextmanager
def _connected(job: RayJob) -> Generator[int, None, None]:
    """A cluster, or one on this machine for as long as it is needed; how many workers it has."""
    # Before it is imported, for then they are read.
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
    workers = job.workers or cores()
    try:
        if job.address is None:
            _start_here(workers)
        else:
            _knock(job.address)
            ray.init(address=job.address, **_QUIET)
    except Exception as error:
        # Ray raises whatever it likes, down to `Exception` itself.
        told = (str(error) or type(error).__name__).splitlines()[0]
        raise RunFailed(
            f"the cluster can't be {'started' if job.address is None else 'reached'}: {told}",
            where=job.address or "--engine ray",
            advice="Check the address, that Ray is of the same version there, and whether the "
            "machine has room for it.",
        ) from error
    try:
        # One place is left to the task that reads.
        room = max(int(ray.cluster_resources().get("CPU", 2)) - 1, 1)
        yield min(room, job.workers or room)
    except Exception as error:
        raise _told(error) from error
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise an error at once where nobody answers: Ray would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), _LONGEST_KNOCK).close()


def _start_here(workers: int) -> None:
    import ray  # noqa: PLC0415

    for left in reversed(range(_TRIES)):
        try:
            ray.init("local", num_cpus=workers + 1, include_dashboard=False, **_QUIET)
        except Exception:
            # It gives up after half a minute, which a busy machine may need.
            ray.shutdown()
            if not left:
                raise
        else:
            return


def _judged(job: RayJob, workers: int) -> Dataset:
    import ray.data  # noqa: PLC0415

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    context.target_max_block_size = _BLOCK_BYTES
    cases = ray.data.read_datasource(_source(job.data, job.done), override_num_blocks=1)
    return cases.map_batches(
        _Judge,
        fn_constructor_args=(job.judging, job.store, job.fingerprint, job.at_once),
        batch_format="pyarrow",
        batch_size=_CASES_AT_ONCE,
        compute=ray.data.ActorPoolStrategy(size=workers),
    )


def _rows(judged: Dataset) -> Iterator[Mapping[str, Any]]:
    for batch in judged.iter_batches(batch_format="pyarrow", batch_size=None):
        yield from batch.to_pylist()


def _source(data: DataSet, done: int) -> Any:
    """The data set as a source of Ray Data. The class is made here, for its base is Ray's."""
    from ray.data import Datasource, ReadTask  # noqa: PLC0415
    from ray.data.block import BlockMetadata  # noqa: PLC0415

    folder = Path.cwd()

    class Cases(Datasource):
        """The cases of a data set, read by one task: what comes first is known only then."""

        def estimate_inmemory_data_size(self) -> int | None:
            return None

        def get_read_tasks(self, *_: object, **__: object) -> list[ReadTask]:
            unknown = BlockMetadata(None, None, None)
            return [ReadTask(lambda: _blocks(data, done, folder), unknown)]

    return Cases()


def _blocks(data: DataSet, done: int, folder: Path) -> Iterator[pa.Table]:
    if folder.is_dir():
        # Names are told as they were given, also where another process reads.
        os.chdir(folder)
    rows = _out(data, done)
    while block := list(islice(rows, _CASES_AT_ONCE)):
        yield _table(block)


def _out(data: DataSet, done: int) -> Iterator[Row]:
    for number, (position, line) in enumerate(data):
        task = Task(position, line, None if line.case is None else kept(line.case))
        yield task_row(task, done=number < done)


class _Judge:
    """Judges blocks of cases; lives on a worker as long as that does."""

    def __init__(
        self,
        judging: Callable[[], Judging],
        store: str | None,
        fingerprint: str,
        at_once: int | None,
    ) -> None:
        self._judging = judging()
        self._fingerprint = fingerprint
        self._store = None if store is None else open_store(store)
        self._at_once = at_once

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The same rows with verdicts, but for those that are done."""
        rows = batch.to_pylist()
        tasks = (task_of(row) for row in rows if not row["done"])
        found = judged_locally(tasks, self._judging, self._known, self._at_once)
        return _table(
            [judged_row(row, None if row["done"] else next(found)) for row in rows], judged=True
        )

    def _known(self, cases: Collection[str]) -> Mapping[str, Verdict]:
        if self._store is None or not cases:
            return {}
        return self._store.judged(cases, self._fingerprint)


def _table(rows: Iterable[Row], *, judged: bool = False) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 - comes with Ray

    # Large: together the texts of a block may have more than 2 GB.
    text = pa.large_string()
    columns = {
        "position": pa.int64(),
        "hash": text,
        "done": pa.bool_(),
        "text": text,
        "told": text,
        **({"verdict": text, "seconds": pa.float64()} if judged else {}),
    }
    schema = pa.schema([pa.field(name, kind) for name, kind in columns.items()])
    return pa.Table.from_pylist(list(rows), schema=schema)


def _told(error: BaseException) -> BaseException:
    """What went wrong on a worker, as it was told there."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, PlanproofError):
            return seen
        seen = getattr(seen, "cause", None) or seen.__cause__
    return _lost(f"the cluster failed: {type(error).__name__}: {str(error).splitlines()[0]}")


def _lost(what: str) -> RunFailed:
    return RunFailed(what, advice="What was judged before is kept: go on with --resume.")
