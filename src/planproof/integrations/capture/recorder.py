"""The recorder: what a framework tells of a run, held against its plan and written down.

A host hands over the records in the very form in which its framework exports them, so that one
reader makes the events of a run that is captured and of one that was exported.
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
    """Holds one run against its plan while it goes on. A `Path` is a file, as for `evaluate`.

    Without a plan, the one that the run declares is taken as soon as it does. `on_deviation` and
    `raise_on` are as for a `Monitor`. The trace so far is kept in `file`, in the framework's form.
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
            raise InvalidInput("its folder does not exist.", where=str(file), advice="Make it.")
        self._follower = TraceFollower(self._plan, reader=None, vocabulary=self._vocabulary)
        self._source = Source("trace", "json", [])
        self._reader: str | None = None
        self._unreadable: InvalidInput | None = None
        self._stop: OffPlan | None = None
        # Frameworks run tools in threads.
        self._lock = RLock()

    @property
    def monitor(self) -> Monitor | None:
        """How the run stands to its plan; None before there is one."""
        return self._follower.monitor

    def record(self, records: Sequence[Json], *, reader: str) -> None:
        """Take in all records so far, for this reader; raises `OffPlan` when it is to stop.

        Once the run is to stop it is told so again with every record, in case somebody caught it.
        """
        with self._lock:
            new = self._update(records, reader)
            if stopping := [
                deviation for deviation in new if deviation.should_stop(self._raise_on)
            ]:
                self._stop = self._stop or OffPlan(stopping)
            # Who listens may fail; the run is to stop all the same.
            for deviation in new:
                if self._on_deviation is not None:
                    self._on_deviation(deviation)
            self.check()

    def check(self) -> None:
        """Raise `OffPlan` if the run is to stop; for hosts that can't where they record."""
        if self._stop is not None:
            raise self._stop

    def finish(self) -> Verdict:
        """The verdict on the whole run: what `evaluate` says of the trace, if it can be read."""
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
            # What can't be read yet may be readable once there is more; it is no fault of the run.
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
