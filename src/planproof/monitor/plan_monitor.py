"""The monitor: an agent's events in, one by one; deviations out, the moment they show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from planproof.checking.rules import Rules
from planproof.core.content import Content, Json
from planproof.core.finding import StepFinding
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, EventStatus, Kind
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate
from planproof.monitor.best_possible import Proof
from planproof.monitor.deviation import Deviation, Key, OffPlan, RaiseOn
from planproof.monitor.outlook import Outlook
from planproof.planning.given_plan import given_plan
from planproof.preparation import in_file
from planproof.readers.decoding.source import Source
from planproof.readers.native import event_of
from planproof.readers.write_native import written_event


class Monitor:
    """Holds a run against its plan while it goes on. A `Path` is a file, as for `evaluate`.

    `on_deviation` is called with each deviation when it first shows. With `raise_on`, `observe`
    raises `OffPlan` once it has taken the event in: on any deviation ("minor"), on a major one
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
        self._given = in_file(plan) if isinstance(plan, Path) else plan
        self._task = task
        self._vocabulary = vocabulary or Vocabulary()
        self._on_deviation = on_deviation
        self._raise_on: RaiseOn | None = raise_on
        self.plan = given_plan(self._given)
        if not self.plan.steps:
            raise InvalidInput(
                "the plan has no steps.", where="plan", advice="Give a plan with steps to hold to."
            )
        self._events: list[Json] = []
        self._places: dict[str, int] = {}
        self._pending: dict[str, Event] = {}
        self._proof = Proof(self.plan, self._vocabulary)
        self._outlook = Outlook(self.plan, Rules(vocabulary=self._vocabulary))
        self._proven: dict[Key, Deviation] = {}
        self._told: set[Key] = set()

    @property
    def ceiling(self) -> float:
        """The best score that any continuation could still reach; it never rises."""
        return self._proof.ceiling

    @property
    def expected(self) -> tuple[Step, ...]:
        """The steps that may come next if the plan is to be kept."""
        return self._outlook.expected

    @property
    def steps(self) -> tuple[StepFinding, ...]:
        """What has become of each step so far, as the judge sees it now."""
        return self._outlook.findings.steps

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """What is proven, and what is suspected now; a suspicion may go away again."""
        suspected = (d for d in self._outlook.suspected if d.key not in self._proven)
        return (*self._proven.values(), *suspected)

    def observe(self, event: Event | Json, *, pending: bool = False) -> tuple[Deviation, ...]:
        """Take in the next event, an `Event` or its native form; gives back what is new.

        `pending` says of a call that its result is yet to come. Give the event again, with its
        result and the same id, when it has: until then little can be proven by it.
        """
        written = written_event(event) if isinstance(event, Event) else event
        read = self._read(written)
        place = self._places.get(read.id)
        if place is None:
            self._places[read.id] = len(self._events)
            self._events.append(written)
            proven = self._proof.observe(read, pending=pending)
            self._outlook.see(read)
        else:
            self._check_completion(read)
            self._events[place] = written
            proven = [] if pending else self._proof.complete(read)
            if self._outlook.knows(read.id):
                self._outlook.see(read)
        if pending:
            self._pending[read.id] = read
        else:
            self._pending.pop(read.id, None)
        return self._tell(proven)

    def finish(self) -> Verdict:
        """The verdict on the whole trace: what `evaluate` says of it."""
        return evaluate(
            task=self._task,
            plan=self._given,
            trace={"events": self._events},
            reader="native",
            vocabulary=self._vocabulary,
        )

    def _read(self, written: Json) -> Event:
        # As a source of its own: limits and mendings are those that `evaluate` will apply.
        source = Source.of_value([written], name="event")
        event = event_of(source.document[0], "", f"e{len(self._events) + 1}", source.name)
        if event.kind is Kind.ACTION and self._vocabulary.keeps_books(event.name):
            return replace(event, kind=Kind.BOOKKEEPING)
        return event

    def _check_completion(self, event: Event) -> None:
        issued = self._pending.get(event.id)
        if issued is None:
            raise InvalidInput(
                f"the event {event.id!r} was observed before.",
                where=event.id,
                advice="Give each event an id of its own; say `pending` of a call whose result "
                "is yet to come.",
            )
        bare = {"output": "", "output_pointer": None, "status": EventStatus.UNKNOWN, "images": ()}
        if replace(event, time=issued.time, **bare) != replace(issued, **bare):
            raise InvalidInput(
                "a result may add output, status, time and images to its call, nothing else.",
                where=event.id,
                advice="Observe what differs as an event of its own.",
            )

    def _tell(self, proven: list[Deviation]) -> tuple[Deviation, ...]:
        new = proven + [d for d in self._outlook.current if d.key not in self._told]
        new = list({deviation.key: deviation for deviation in reversed(new)}.values())[::-1]
        for deviation in proven:
            self._proven[deviation.key] = deviation
        self._told.update(deviation.key for deviation in new)
        if self._on_deviation is not None:
            for deviation in new:
                self._on_deviation(deviation)
        if stopping := [deviation for deviation in new if deviation.stops(self._raise_on)]:
            raise OffPlan(stopping)
        return tuple(new)
