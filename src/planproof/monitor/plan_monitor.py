"""The monitor: observes an agent's events one by one and reports deviations at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from planproof.checking.rules import Rules
from planproof.core.content import Content, Json
from planproof.core.finding import StepFinding
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, EventStatus, Kind
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate, read_json_or_text
from planproof.monitor.best_possible import DeviationProver
from planproof.monitor.deviation import Deviation, DeviationKey, OffPlan, RaiseOn
from planproof.monitor.outlook import IncrementalJudge
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.readers.native import parse_event, serialize_event


class Monitor:
    """Checks a run against its plan while it is running. A `Path` is a file, as in `evaluate`.

    `on_deviation` is called with each deviation when it first appears. With `raise_on`, `observe`
    raises `OffPlan` after recording the event: on any deviation ("minor"), on a major one
    ("major"), or only on a major one that nothing can undo ("proven").
    """

    def __init__(
        self,
        plan: str | Path | Plan | Json,
        task: str | Path | Content | Json = None,
        *,
        vocabulary: Vocabulary | None = None,
        on_deviation: Callable[[Deviation], object] | None = None,
        raise_on: RaiseOn | None = None,
    ) -> None:
        self._raw_plan = read_json_or_text(plan) if isinstance(plan, Path) else plan
        self._task = task
        self._vocabulary = vocabulary or Vocabulary()
        self._on_deviation = on_deviation
        self._raise_on: RaiseOn | None = raise_on
        self.plan = parse_given_plan(self._raw_plan)
        if not self.plan.steps:
            raise InvalidInput(
                "the plan has no steps.", where="plan", advice="Pass a plan with at least one step."
            )
        self._events: list[Json] = []
        self._event_indices: dict[str, int] = {}
        self._pending: dict[str, Event] = {}
        self._prover = DeviationProver(self.plan, self._vocabulary)
        self._incremental_judge = IncrementalJudge(self.plan, Rules(vocabulary=self._vocabulary))
        self._proven: dict[DeviationKey, Deviation] = {}
        self._reported: set[DeviationKey] = set()

    @property
    def ceiling(self) -> float:
        """The best score that any continuation could still reach; it never rises."""
        return self._prover.ceiling

    @property
    def next_steps(self) -> tuple[Step, ...]:
        """The steps that may come next according to the plan."""
        return self._incremental_judge.next_steps

    @property
    def steps(self) -> tuple[StepFinding, ...]:
        """The current finding on each step."""
        return self._incremental_judge.findings.steps

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """Proven deviations and those suspected now; a suspected one may disappear again."""
        suspected = (
            d for d in self._incremental_judge.suspected_deviations if d.key not in self._proven
        )
        return (*self._proven.values(), *suspected)

    def observe(self, event: Event | Json, *, pending: bool = False) -> tuple[Deviation, ...]:
        """Record the next event, an `Event` or its native form, and return the new deviations.

        `pending` marks a call without its result yet. Pass the event again, with its result and the
        same id, once it has one: until then little can be proven from it.
        """
        written = serialize_event(event) if isinstance(event, Event) else event
        read = self._read(written)
        index = self._event_indices.get(read.id)
        if index is None:
            self._event_indices[read.id] = len(self._events)
            self._events.append(written)
            proven = self._prover.observe(read, pending=pending)
            self._incremental_judge.observe(read)
        else:
            self._check_completion(read)
            self._events[index] = written
            proven = [] if pending else self._prover.complete(read)
            if self._incremental_judge.is_retained(read.id):
                self._incremental_judge.observe(read)
        if pending:
            self._pending[read.id] = read
        else:
            self._pending.pop(read.id, None)
        return self._report(proven)

    def finish(self) -> Verdict:
        """Return the verdict on the whole trace, as `evaluate` gives it."""
        return evaluate(
            task=self._task,
            plan=self._raw_plan,
            trace={"events": self._events},
            reader="native",
            vocabulary=self._vocabulary,
        )

    def _read(self, written: Json) -> Event:
        # Read as a separate source, so that limits and repairs are those of `evaluate`.
        source = Source.from_value([written], name="event")
        event = parse_event(source.document[0], "", f"e{len(self._events) + 1}", source.name)
        if event.kind is Kind.ACTION and self._vocabulary.is_bookkeeping(event.name):
            return structs.replace(event, kind=Kind.BOOKKEEPING)
        return event

    def _check_completion(self, event: Event) -> None:
        issued = self._pending.get(event.id)
        if issued is None:
            raise InvalidInput(
                f"the event {event.id!r} was already observed.",
                where=event.id,
                advice="Give each event a unique id; pass `pending=True` for a call that has no "
                "result yet.",
            )
        bare = {"output": "", "output_pointer": None, "status": EventStatus.UNKNOWN, "images": ()}
        if structs.replace(event, time=issued.time, **bare) != structs.replace(issued, **bare):
            raise InvalidInput(
                "a result may only add output, status, time and images to its call.",
                where=event.id,
                advice="Observe other changes as a separate event.",
            )

    def _report(self, proven: list[Deviation]) -> tuple[Deviation, ...]:
        new = proven + [
            d for d in self._incremental_judge.current_deviations if d.key not in self._reported
        ]
        new = list({deviation.key: deviation for deviation in reversed(new)}.values())[::-1]
        for deviation in proven:
            self._proven[deviation.key] = deviation
        self._reported.update(deviation.key for deviation in new)
        if self._on_deviation is not None:
            for deviation in new:
                self._on_deviation(deviation)
        if stopping := [deviation for deviation in new if deviation.should_stop(self._raise_on)]:
            raise OffPlan(stopping)
        return tuple(new)
