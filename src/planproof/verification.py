"""The independent checker of a verdict: no judge, no model, only the verdict and its trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields

from planproof.checking.effects import only_prints
from planproof.checking.step_order import out_of_order
from planproof.core.content import Json
from planproof.core.digests import plan_digest
from planproof.core.finding import Evidence, Extra, Status, StepFinding
from planproof.core.judgement import PROMPT
from planproof.core.plan import InForce, Origin, Plan
from planproof.core.pointer import resolve
from planproof.core.quotes import quotable, stands_in
from planproof.core.trace import Kind, Trace
from planproof.core.verdict import Outcome, PlanSummary, Verdict
from planproof.core.verdict_json import bare_verdict_of
from planproof.core.vocabulary import Vocabulary
from planproof.errors import PlanproofError
from planproof.planning.locate_plan import locate
from planproof.planning.located_plan import Located
from planproof.planning.plan_summary import summary_of
from planproof.planning.plan_timeline import Succession, succession_of
from planproof.readers.accounting import why_not_understood
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.reasons import check_reason, write_reason
from planproof.scoring import level_of, nearest_better, score

_PRESENT = frozenset({Status.EXECUTED, Status.PARTIAL, Status.OUT_OF_ORDER})
_NOT_READ = frozenset({Outcome.INVALID_INPUT, Outcome.JUDGE_FAILED})
_LOST = frozenset({Status.PARTIAL, Status.MISSING, Status.AMBIGUOUS})


def verify(
    verdict: Json,
    source: Source,
    *,
    plan: Plan | None = None,
    vocabulary: Vocabulary | None = None,
) -> tuple[str, ...]:
    """What is wrong with a verdict on this trace; empty when it can stand.

    With the plan at hand the steps are compared with it; so they are with one that was found in
    the trace, which is looked for again. `vocabulary` is the one that the trace was judged with,
    if tools were declared.
    """
    read = bare_verdict_of(verdict)
    if isinstance(read, tuple):
        return read
    checked = tuple(_inputs(read, source))
    if read.outcome in _NOT_READ:
        return (*checked, *_unscored(read))
    reader = read.coverage.reader if read.coverage else None
    try:
        trace = read_trace(source, reader=reader, vocabulary=vocabulary or Vocabulary())
    except PlanproofError as error:
        return (*checked, f"/coverage/reader: the trace can't be read so: {error}")
    located = _located(read, trace)
    if located is None:
        held = Succession((plan or Plan(()),), trace)
    else:
        held = succession_of(trace, located, _in_force(read))
        plan = held.merged(_beginnings(read, held))
    checked = (*checked, *_coverage(read, trace), *_summary(read, located, held.last))
    checked = (*checked, *_understanding(read, trace, plan_given=located is None))
    if read.outcome is not Outcome.SCORED:
        return (*checked, *_unscored(read), *_nothing_to_judge(read, trace))
    if _gives_no_findings(read):
        return (*checked, *_model_score(read))
    events = _Events(trace, source, held)
    on_plan = _plan(read, plan) if plan is not None else ()
    return (*checked, *on_plan, *_steps(read, events), *_extras(read, events), *_scored(read))


def _inputs(verdict: Verdict, source: Source) -> Iterator[str]:
    if verdict.inputs is not None:
        # A trace that stood in a case has no text of its own: there its canonical form was judged.
        if verdict.inputs.trace not in (source.digest, source.canonical_digest):
            yield _differs("/inputs/trace", "this is the digest of another trace", source.digest)
    elif verdict.outcome not in _NOT_READ:
        yield "/inputs: the digests of what was judged are missing."


def _coverage(verdict: Verdict, trace: Trace) -> Iterator[str]:
    if verdict.coverage is None:
        yield "/coverage: it is not said how much of the trace was read."
        return
    if verdict.coverage.events != len(trace.events):
        yield _differs("/coverage/events", "the trace has other events", len(trace.events))
    kinds = dict(sorted(Counter(event.kind.value for event in trace.events).items()))
    if verdict.coverage.by_kind != kinds:
        yield _differs("/coverage/by_kind", "the trace has events of other kinds", kinds)


def _understanding(verdict: Verdict, trace: Trace, *, plan_given: bool) -> Iterator[str]:
    if verdict.outcome is Outcome.NO_PLAN and plan_given:
        return  # a plan without steps is found out before anything is read
    claimed = verdict.outcome is Outcome.NOT_UNDERSTOOD
    understood = why_not_understood(trace) is None
    if claimed and understood:
        yield "/outcome: the trace was understood."
    elif not claimed and not understood:
        expected = Outcome.NOT_UNDERSTOOD.value
        yield _differs("/outcome", "the trace was not understood", expected)


def _unscored(verdict: Verdict) -> Iterator[str]:
    for name in ("score", "level", "nearest_better"):
        if getattr(verdict, name) is not None:
            yield _differs(f"/{name}", f"the outcome is {verdict.outcome}", None)
    if verdict.steps or verdict.extras:
        place = "/steps" if verdict.steps else "/extras"
        yield f"{place}: the outcome is {verdict.outcome}, so there can be no findings."


def _nothing_to_judge(verdict: Verdict, trace: Trace) -> Iterator[str]:
    if verdict.outcome is Outcome.NO_EVENTS and trace.events:
        yield f"/outcome: the trace has {len(trace.events)} events."
    if verdict.outcome is Outcome.NO_PLAN and verdict.plan and verdict.plan.steps:
        yield f"/outcome: the plan has {verdict.plan.steps} steps."


def _located(verdict: Verdict, trace: Trace) -> Located | None:
    """The plan in the trace, for a verdict that was given none."""
    given = verdict.inputs is None or verdict.inputs.plan != plan_digest(None)
    return None if given else locate(trace)


def _in_force(verdict: Verdict) -> InForce:
    return "first" if verdict.plan is None else verdict.plan.in_force or "first"


def _beginnings(verdict: Verdict, held: Succession) -> dict[str, int]:
    """During which plan each step began; what had not when it was left behind is asked no more."""
    began: dict[str, int] = {}
    for step in verdict.steps:
        events = (*(one.event for one in step.evidence), *step.covers)
        if events and events[0] in held.homes:
            began[step.number] = held.homes[events[0]]
    return began


def _summary(verdict: Verdict, located: Located | None, plan: Plan) -> Iterator[str]:
    """Whether what is said of the plan is what the trace shows."""
    if verdict.plan is None:
        yield "/plan: it is not said which plan the trace was held against."
        return
    steps = verdict.plan.steps
    if located is None:
        origin = Origin.GIVEN if verdict.plan.origin not in set(Origin) else verdict.plan.origin
        expected = PlanSummary(origin=origin, steps=steps)
    else:
        expected = summary_of(plan, located, _in_force(verdict))
        if verdict.outcome is Outcome.NO_PLAN and plan.steps:
            yield f"/outcome: a plan is declared at {expected.event}."
        if verdict.outcome is Outcome.SCORED and not plan.steps:
            yield "/outcome: no plan was given and none is declared in the trace."
    for field in fields(PlanSummary):
        there: object = getattr(expected, field.name)
        if getattr(verdict.plan, field.name) != there:
            yield _differs(f"/plan/{field.name}", "the plan is another", there)


def _plan(verdict: Verdict, plan: Plan) -> Iterator[str]:
    """Whether the findings are on the steps of the plan, all of them, as they are written."""
    if len(verdict.steps) != len(plan.steps):
        yield _differs(
            "/steps", f"there are {len(verdict.steps)}", f"{len(plan.steps)}, as planned"
        )
    parents = {step.parent for step in plan.steps}
    for place, (found, step) in enumerate(zip(verdict.steps, plan.steps, strict=False)):
        # Only what counts has a place in the order.
        placed = () if step.number in parents else ("free_order",)
        for name in ("number", "text", "parent", *placed):
            planned: object = getattr(step, name)
            if getattr(found, name) != planned:
                yield _differs(f"/steps/{place}/{name}", "the plan has another", repr(planned))
        if found.waived and not step.optional:
            yield f"/steps/{place}/waived: the plan does not let this step be left out."


class _Events:
    """The events of the trace by id, with the text that each of their pointers leads to."""

    def __init__(self, trace: Trace, source: Source, held: Succession) -> None:
        self.trace = trace
        self.held = held
        self.index = {event.id: place for place, event in enumerate(trace.events)}
        self._document = source.document
        self._texts: dict[str, str] = {}

    def position(self, event: str) -> tuple[int, int]:
        place = self.index[event]
        return place, self.trace.events[place].turn

    def untimely(self, event: str, step: str | None) -> Iterator[str]:
        """Whether an event came when nothing, or another plan than the step's, was in force."""
        planned = self.held.stands.get(step or "")
        if event not in self.held.trace.by_id:
            yield f"{event} came before the plan."
        elif planned is not None and self.held.homes[event] not in planned:
            yield f"step {step} was not planned when {event} came."

    def problems(
        self, cited: Evidence | Extra, where: str, step: str | None = None
    ) -> Iterator[str]:
        """What is wrong with a citation: its event, its pointer or its quote."""
        event = self.trace.by_id.get(cited.event)
        if event is None:
            yield f"{where}/event: the trace has no event {cited.event!r}."
            return
        yield from (f"{where}/event: {why}" for why in self.untimely(event.id, step))
        places = [event.pointer]
        if event.output_pointer is not None:
            places.append(event.output_pointer)
        if cited.pointer not in places:
            yield _differs(f"{where}/pointer", f"{event.id} stands elsewhere", " or ".join(places))
        elif not stands_in(cited.quote, self._text(cited.pointer)):
            yield f"{where}/quote: {_short(cited.quote)} does not stand at {cited.pointer!r}."

    def _text(self, pointer: str) -> str:
        if pointer not in self._texts:
            self._texts[pointer] = quotable(resolve(self._document, pointer))
        return self._texts[pointer]


def _steps(verdict: Verdict, events: _Events) -> Iterator[str]:
    parents = {step.parent for step in verdict.steps}
    left_behind = events.held.stands.keys() - events.held.numbers[-1].keys()
    leaves = [s for s in verdict.steps if s.number not in parents and s.number not in left_behind]
    if verdict.plan is None or verdict.plan.steps != len(leaves):
        yield _differs("/plan/steps", "the findings are on another plan", len(leaves))
    for number, times in Counter(step.number for step in verdict.steps).items():
        if times > 1:
            yield f"/steps: step {number!r} is there {times} times."
    known = True
    for place, step in enumerate(verdict.steps):
        problems = [*_step(step, f"/steps/{place}", events, is_parent=step.number in parents)]
        known = known and not any("/event:" in problem for problem in problems)
        yield from problems
    yield from _parents(verdict)
    if known:
        yield from _order(verdict, events)


def _step(step: StepFinding, where: str, events: _Events, *, is_parent: bool) -> Iterator[str]:
    if step.status in _PRESENT and not (step.evidence or step.waived or is_parent):
        yield f"{where}/evidence: step {step.number} is {step.status} without evidence."
    for place, evidence in enumerate(step.evidence):
        yield from events.problems(evidence, f"{where}/evidence/{place}", step.number)
    for place, event in enumerate(step.covers):
        if event not in events.index:
            yield f"{where}/covers/{place}: the trace has no event {event!r}."
        else:
            came = events.untimely(event, step.number)
            yield from (f"{where}/covers/{place}: {why}" for why in came)
    cited = [events.index[one.event] for one in step.evidence if one.event in events.index]
    if cited != sorted(cited) and not is_parent:
        yield f"{where}/evidence: the evidence is not in the order of the events."


def _parents(verdict: Verdict) -> Iterator[str]:
    """A step with refinements can't have been executed when one of them was not."""
    places = {step.number: place for place, step in enumerate(verdict.steps)}
    seen: set[int] = set()
    for step in verdict.findings.counted:
        above = places.get(step.parent or "") if step.status in _LOST else None
        while above is not None and above not in seen:
            seen.add(above)
            parent = verdict.steps[above]
            if parent.status is Status.EXECUTED:
                yield f"/steps/{above}/status: step {step.number} is {step.status}."
            above = places.get(parent.parent or "")


def _order(verdict: Verdict, events: _Events) -> Iterator[str]:
    """As many steps out of order as must be, and the others in plan order."""
    counted = {id(step) for step in verdict.findings.counted}
    placed = [
        (place, step, events.position(step.evidence[0].event))
        for place, step in enumerate(verdict.steps)
        if id(step) in counted and step.status in _PRESENT and step.evidence
        and not step.free_order
    ]  # fmt: skip
    moved = {place for place, step, _ in placed if step.status is Status.OUT_OF_ORDER}
    fewest = len(out_of_order([position for _, _, position in placed]))
    if len(moved) != fewest:
        yield _differs("/steps", f"{len(moved)} are out_of_order", f"{fewest} by their events")
    in_order = [(place, position) for place, _, position in placed if place not in moved]
    for misplaced in sorted(out_of_order([position for _, position in in_order])):
        place = in_order[misplaced][0]
        yield _differs(f"/steps/{place}/status", "it began out of plan order", "out_of_order")
    for place, step in enumerate(verdict.steps):
        if step.status is Status.OUT_OF_ORDER and step.free_order:
            yield f"/steps/{place}/status: the plan leaves the place of this step open."


def _extras(verdict: Verdict, events: _Events) -> Iterator[str]:
    for place, extra in enumerate(verdict.extras):
        yield from events.problems(extra, f"/extras/{place}")
    accounted = {extra.event for extra in verdict.extras}
    for step in verdict.steps:
        accounted.update(step.covers, (evidence.event for evidence in step.evidence))
    for event in events.held.trace.events:
        if event.kind is not Kind.ACTION or event.actor == "user" or event.id in accounted:
            continue
        if not only_prints(event):
            yield f"/extras: the action {event.id} is under no step and no extra."


def _scored(verdict: Verdict) -> Iterator[str]:
    """The score, its level, the nearest better outcome and the reason, from the findings."""
    if verdict.judge is None:
        yield "/judge: it is not said who judged."
    computed = score(verdict.findings)
    if verdict.score != computed:
        yield _differs("/score", "the findings give another", computed)
    if verdict.level != level_of(computed):
        yield _differs("/level", "the findings give another", level_of(computed))
    better = nearest_better(verdict.findings)
    if verdict.nearest_better != better:
        expected = better and f"{better.score} {better.change}"
        yield _differs("/nearest_better", "the findings give another", expected)
    reason = write_reason(verdict.findings, computed)
    if verdict.reason != reason:
        yield _differs("/reason", "the findings give another", reason)


def _gives_no_findings(verdict: Verdict) -> bool:
    """Whether a model gave the score itself, so that nothing but its form can be checked."""
    by_model = verdict.judge is not None and verdict.judge.name == PROMPT
    return by_model and not (verdict.steps or verdict.extras)


def _model_score(verdict: Verdict) -> Iterator[str]:
    if verdict.score is None or not 0 <= verdict.score <= 1:
        yield _differs("/score", "a scored verdict has a score", "a number from 0 to 1")
    elif verdict.level != level_of(verdict.score):
        yield _differs("/level", "the score is of another level", level_of(verdict.score))
    for problem in check_reason(verdict.reason):
        # What a model says wrongly can't be mended, but it must have been reported.
        if problem not in verdict.warnings:
            yield f"/reason: {problem}"


def _differs(where: str, what: str, expected: object) -> str:
    shown = "null" if expected is None else str(expected)
    return f"{where}: {what}; expected {shown.removesuffix('.')}."


def _short(quote: str) -> str:
    return repr(quote if len(quote) <= 80 else quote[:79] + "…")
