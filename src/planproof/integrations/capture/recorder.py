"""Record a running agent, check it against its plan, and write its trace to a file.

An adapter passes records in the form in which its framework exports them, so that the same reader
handles captured and exported runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import RLock

from planproof.core.content import Content, Json
from planproof.core.plan import Plan
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate, read_json_or_text
from planproof.monitor import Deviation, Monitor, OffPlan, RaiseOn
from planproof.monitor.trace_follower import TraceFollower
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace


class Recorder:
    """Checks one run against its plan while it is running.

    A `Path` is a file, as in `evaluate`. Without a plan, the one the run declares is used from then
    on. `on_deviation` and `raise_on` work as in `Monitor`. The trace so far is written to `file`,
    in the framework's format.
    """

    def __init__(
        self,
        plan: str | Path | Plan | Json = None,
        *,
        task: str | Path | Content | Json = None,
        file: str | Path | None = None,
        vocabulary: Vocabulary | None = None,
        on_deviation: Callable[[Deviation], object] | None = None,
        raise_on: RaiseOn | None = None,
    ) -> None:
        self._plan = read_json_or_text(plan) if isinstance(plan, Path) else plan
        self._task = task
        self._file = None if file is None else Path(file)
        self._vocabulary = vocabulary or Vocabulary()
        self._on_deviation = on_deviation
        self._raise_on: RaiseOn | None = raise_on
        if self._file is not None and not self._file.absolute().parent.is_dir():
            raise InvalidInput(
                "the folder does not exist.", where=str(file), advice="Create the folder first."
            )
        self._follower = TraceFollower(self._plan, reader=None, vocabulary=self._vocabulary)
        self._source = Source("trace", "json", [])
        self._reader: str | None = None
        self._unreadable: InvalidInput | None = None
        self._stop: OffPlan | None = None
        # Frameworks run tools in threads.
        self._lock = RLock()

    @property
    def monitor(self) -> Monitor | None:
        """The monitor that tracks the plan; None until there is a plan."""
        return self._follower.monitor

    def record(self, records: Sequence[Json], *, reader: str) -> None:
        """Read all records so far with this reader; raise `OffPlan` if the run has to stop.

        After that every call raises again, in case the exception was caught.
        """
        with self._lock:
            new = self._update(records, reader)
            if stopping := [
                deviation for deviation in new if deviation.should_stop(self._raise_on)
            ]:
                self._stop = self._stop or OffPlan(stopping)
            # A callback may raise; the run has to stop anyway.
            for deviation in new:
                if self._on_deviation is not None:
                    self._on_deviation(deviation)
            self.check()

    def check(self) -> None:
        """Raise `OffPlan` if the run has to stop; for adapters that can't raise while recording."""
        if self._stop is not None:
            raise self._stop

    def finish(self) -> Verdict:
        """Return the verdict of `evaluate` on the whole run; raise if it can't be read."""
        if self._unreadable is not None:
            raise self._unreadable
        return evaluate(
            task=self._task,
            plan=self._plan,
            trace=self._source,
            reader=self._reader,
            vocabulary=self._vocabulary,
        )

    def _update(self, records: Sequence[Json], reader: str) -> list[Deviation]:
        try:
            self._source, self._reader = Source.from_value(list(records)), reader
            self._write_file()
            trace = read_trace(self._source, reader=reader, vocabulary=self._vocabulary)
        except InvalidInput as error:
            # Incomplete records may become readable later; this is not an error of the run.
            self._unreadable = error
            return []
        self._unreadable = None
        return self._follower.follow_trace(trace)

    def _write_file(self) -> None:
        if self._file is None:
            return
        partial = self._file.with_name(f"{self._file.name}.partial")
        partial.write_text(json.dumps(self._source.document), encoding="utf-8")
        partial.replace(self._file)
