"""Verify a verdict against its trace, without any judge or model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from planproof.checking.confidence import estimate_level_confidence
from planproof.checking.contract_judge import (
    ContractJudge,
    bind_metadata,
    summarize_contract,
)
from planproof.checking.contract_verification import recheck_findings
from planproof.checking.effects import only_prints
from planproof.checking.event_text import QuoteLocator, format_call
from planproof.checking.plan_periods import judge_periods
from planproof.checking.rules import Rules
from planproof.checking.step_order import find_out_of_order
from planproof.contracts.text_values import contains_text
from planproof.core.content import Content, Json
from planproof.core.contract import Contract
from planproof.core.digests import plan_digest
from planproof.core.finding import (
    EQUATED,
    EQUATED_CONFIDENCE,
    Evidence,
    Extra,
    Findings,
    Status,
    StepFinding,
)
from planproof.core.json_values import is_object
from planproof.core.judge import PROMPT, Judge
from planproof.core.plan import InForce, Origin, Plan
from planproof.core.quotes import QuotableTexts, is_quote_in
from planproof.core.trace import Kind, Trace
from planproof.core.verdict import (
    ContractSummary,
    Measures,
    Outcome,
    PlanSummary,
    Verdict,
    validate_verdict,
)
from planproof.core.vocabulary import Vocabulary
from planproof.errors import PlanproofError
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_search import PlanSearch, summarize_plan
from planproof.planning.plan_timeline import PlanTimeline, build_timeline
from planproof.readers.decoding.source import Source
from planproof.readers.detect import mark_bookkeeping, read_trace
from planproof.readers.recognition import Reader
from planproof.readers.record_counts import (
    RECORDS,
    count_unread_characters,
    explain_not_understood,
)
from planproof.readers.records import classify_records
from planproof.reasons import check_reason, write_reason
from planproof.scoring import compute_measures, compute_score, find_nearest_better, floor_to_level

_PRESENT = frozenset({Status.EXECUTED, Status.PARTIAL, Status.OUT_OF_ORDER})
_NOT_READ = frozenset({Outcome.INVALID_INPUT, Outcome.JUDGE_FAILED})
_LOST = frozenset({Status.PARTIAL, Status.MISSING, Status.AMBIGUOUS})
_RULES, _CONTRACT, _AUDIT = "rules", "contract", "audit"
_PLAN_NEEDED = (
    "the plan was not passed, so the steps were not compared with it and the findings of `rules` "
    "were not reproduced"
)
_MODEL_FIELDS = ("cost", "rejected", "warnings", "samples", "panel")
"""Fields that only a judge that asked a model fills."""
_MODEL_COVERAGE = ("shown", "shortened", "windows")


def verify(
    verdict: Json,
    source: Source,
    *,
    plan: Plan | None = None,
    contract: Contract | None = None,
    variables: Mapping[str, str] | None = None,
    vocabulary: Vocabulary | None = None,
    profiles: Sequence[Reader] = (),
) -> tuple[str, ...]:
    """Return the errors in a verdict on this trace; empty if there are none.

    If `plan` is given, the steps are compared with it; a plan found in the trace is located again
    for the comparison. A verdict by a contract needs the `contract`, and the `variables` that were
    passed for judging: its conditions, extras and order are evaluated again. `vocabulary` and
    `profiles` must be those used for judging. The findings of `rules`, if the plan is known, and of
    `contract` are compared with those that these judges make now; the findings of others can't be
    reproduced.
    """
    parsed = validate_verdict(verdict)
    if isinstance(parsed, tuple):
        return parsed
    problems: tuple[str, ...]
    problems = (*_check_inputs(parsed, source), *_check_contract(parsed, contract))
    if contract is not None:
        plan = contract.to_plan()
    if parsed.outcome in _NOT_READ:
        return (*problems, *_check_unscored(parsed))
    reader = parsed.coverage.reader if parsed.coverage else None
    try:
        trace = read_trace(
            source, reader=reader, vocabulary=vocabulary or Vocabulary(), profiles=profiles
        )
    except PlanproofError as error:
        return (*problems, f"/coverage/reader: the trace can't be read with this reader: {error}")
    if reader == RECORDS and parsed.coverage and parsed.coverage.kinds:
        classified = classify_records(trace, parsed.coverage.kinds)
        trace = mark_bookkeeping(classified.trace, vocabulary or Vocabulary())
        problems += tuple(f"/coverage/kinds: {what}." for what in classified.objections)
        if not classified.objections and classified.kinds != parsed.coverage.kinds:
            problems += ("/coverage/kinds: the kinds do not fit the records.",)
    search = _find_plan(parsed, trace) if parsed.contract is None else None
    if search is None:
        timeline = PlanTimeline((plan or Plan(()),), trace)
    else:
        timeline = build_timeline(trace, search, _get_in_force(parsed))
        plan = timeline.merge_plans(_map_steps_to_plans(parsed, timeline))
    problems = (
        *problems,
        *_check_coverage(parsed, trace, source),
        *_check_plan_summary(parsed, search, timeline.last_plan),
    )
    problems = (*problems, *_check_understood(parsed, trace, plan_given=search is None))
    if parsed.outcome is not Outcome.SCORED:
        return (*problems, *_check_unscored(parsed), *_check_unjudgeable(parsed, trace))
    problems = (*problems, *_check_judge(parsed))
    if _has_no_findings(parsed):
        return (*problems, *_check_model_score(parsed))
    events = _Events(trace, source, timeline)
    quotes = QuoteLocator(trace, source.document)
    on_plan = _check_plan(parsed, plan) if plan is not None else ()
    judge: Judge | None = None
    if contract is None:
        unaccounted = _check_accounted(parsed, events)
        judge = Rules(vocabulary or Vocabulary()) if plan is not None else None
    else:
        known = bind_metadata(contract, _get_metadata(verdict), variables or {})
        judge = ContractJudge(contract, vocabulary or Vocabulary(), known)
        unaccounted = recheck_findings(
            contract, trace, parsed.steps, parsed.extras, judge.vocabulary, known, quotes
        )
    return (
        *problems,
        *on_plan,
        *_check_steps(parsed, events),
        *_check_extras(parsed, events),
        *unaccounted,
        *_check_score(parsed),
        *(_check_confidence(parsed) if "confidence" in verdict else ()),
        *(_check_measures(parsed, timeline.trace) if "measures" in verdict else ()),
        *_check_reproduced(parsed, judge, timeline, quotes),
    )


def explain_limits(verdict: Json, *, plan_given: bool) -> str | None:
    """Return what `verify` can't check about a scored verdict; None if it was reproduced.

    `plan_given` is true if the plan is passed to `verify`.
    """
    parsed = validate_verdict(verdict)
    if isinstance(parsed, tuple) or parsed.outcome is not Outcome.SCORED:
        return None
    name = _get_judge_name(parsed)
    if name == PROMPT:
        return "the score and the reason are a model's; only their form was checked"
    if name == _RULES:
        is_plan_known = plan_given or (parsed.plan is not None and parsed.plan.event is not None)
        return None if is_plan_known else _PLAN_NEEDED
    if name == _CONTRACT:
        return None
    return (
        f"the findings of the judge `{name}` can't be reproduced; only their evidence, order and "
        "score were checked"
    )


def _get_judge_name(verdict: Verdict) -> str | None:
    return verdict.judge and verdict.judge.name


def _check_judge(verdict: Verdict) -> Iterator[str]:
    """Check that the verdict has what its judge fills in, and nothing that only others do."""
    if verdict.judge is None:
        yield "/judge: missing; expected the judge that gave the verdict."
        return
    if verdict.cause is not None:
        yield _describe_difference("/cause", f"the outcome is {verdict.outcome}", None)
    name = verdict.judge.name
    if name == _RULES:
        filled = [field for field in _MODEL_FIELDS if getattr(verdict, field)]
        filled += ["judge/models"] if verdict.judge.models else []
        coverage = verdict.coverage
        filled += [
            f"coverage/{field}" for field in _MODEL_COVERAGE if getattr(coverage, field, None)
        ]
        yield from (f"/{field}: the judge `{name}` asks no model." for field in filled)
        if verdict.contract is not None:
            yield f"/contract: the judge `{name}` uses none."
    elif name in (PROMPT, _AUDIT):
        if not verdict.judge.models:
            yield f"/judge/models: missing; the judge `{name}` asks a model."
        if verdict.cost is None:
            yield f"/cost: missing; the judge `{name}` asks a model."
        if verdict.coverage is None or verdict.coverage.shown is None:
            yield f"/coverage/shown: missing; the judge `{name}` shows events to a model."
    elif name == _CONTRACT and verdict.contract is None:
        yield f"/contract: missing; the judge `{name}` uses one."


def _check_reproduced(
    verdict: Verdict, judge: Judge | None, timeline: PlanTimeline, quotes: QuoteLocator
) -> Iterator[str]:
    """Compare the findings with those that the judge makes now, if it is the verdict's."""
    if judge is None or judge.name != _get_judge_name(verdict):
        return
    expected = quotes.locate_findings(_judge_again(judge, timeline))
    is_same = True
    for name, found, again in (
        ("steps", verdict.steps, expected.steps),
        ("extras", verdict.extras, expected.extras),
    ):
        if len(found) != len(again):
            is_same = False
            yield _describe_difference(
                f"/{name}", f"{len(found)} findings", f"{len(again)} by `{judge.name}`"
            )
            continue
        for index, (one, other) in enumerate(zip(found, again, strict=True)):
            for field in fields(one):
                values = getattr(one, field.name), getattr(other, field.name)
                if not _are_equal(*values):
                    is_same = False
                    yield _describe_difference(
                        f"/{name}/{index}/{field.name}",
                        f"`{judge.name}` finds another value",
                        _shorten(str(values[1])),
                    )
    if not is_same and verdict.judge and verdict.judge.fingerprint != judge.fingerprint:
        yield (
            "/judge/fingerprint: the verdict is from another version of planproof, or was given "
            "with other settings; judge the case again."
        )


def _are_equal(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, abs_tol=1e-9)
    return one == other


def _judge_again(judge: Judge, timeline: PlanTimeline) -> Findings:
    if len(timeline.plans) == 1:
        return judge.judge(Content(""), timeline.last_plan, timeline.trace)

    async def judge_period(plan: Plan, trace: Trace) -> Findings:
        return judge.judge(Content(""), plan, trace)

    work = judge_periods(timeline, judge_period)
    try:
        work.send(None)
    except StopIteration as finished:
        return finished.value
    raise RuntimeError("a judge that is not asynchronous waited for something")


def _check_inputs(verdict: Verdict, source: Source) -> Iterator[str]:
    if verdict.inputs is not None:
        # A trace inside a case file has no text of its own: its canonical form was judged.
        if verdict.inputs.trace not in (source.digest, source.canonical_digest):
            yield _describe_difference(
                "/inputs/trace", "the digest does not match this trace", source.digest
            )
    elif verdict.outcome not in _NOT_READ:
        yield "/inputs: missing; expected the digests of task, plan and trace."


def _check_contract(verdict: Verdict, contract: Contract | None) -> Iterator[str]:
    """Check that the verdict was given by this contract."""
    if verdict.contract is None:
        if contract is not None:
            yield "/contract: missing; the verdict was not given by a contract."
    elif contract is None:
        yield "/contract: pass the contract to verify this verdict (--contract FILE)."
    else:
        expected = summarize_contract(contract)
        for field in fields(ContractSummary):
            value: object = getattr(expected, field.name)
            if getattr(verdict.contract, field.name) != value:
                yield _describe_difference(
                    f"/contract/{field.name}", "the verdict was given by another contract", value
                )


def _get_metadata(verdict: Json) -> Mapping[str, object]:
    return verdict["metadata"] if is_object(verdict.get("metadata")) else {}


def _check_coverage(verdict: Verdict, trace: Trace, source: Source) -> Iterator[str]:
    if verdict.coverage is None:
        yield "/coverage: missing; expected how much of the trace was read."
        return
    if verdict.coverage.events != len(trace.events):
        yield _describe_difference("/coverage/events", "wrong number of events", len(trace.events))
    kinds = dict(sorted(Counter(event.kind.value for event in trace.events).items()))
    if verdict.coverage.by_kind != kinds:
        yield _describe_difference("/coverage/by_kind", "wrong number of events by kind", kinds)
    unread = count_unread_characters(source, trace)
    if verdict.coverage.unread_characters != unread:
        yield _describe_difference(
            "/coverage/unread_characters", "wrong number of characters without an event", unread
        )


def _check_understood(verdict: Verdict, trace: Trace, *, plan_given: bool) -> Iterator[str]:
    if verdict.outcome is Outcome.NO_PLAN and plan_given:
        return  # a plan without steps is detected before the trace is read
    claimed = verdict.outcome is Outcome.NOT_UNDERSTOOD
    understood = explain_not_understood(trace) is None
    if claimed and understood:
        yield "/outcome: not_understood, but at least half of the trace was read."
    elif not claimed and not understood:
        expected = Outcome.NOT_UNDERSTOOD.value
        yield _describe_difference("/outcome", "less than half of the trace was read", expected)


def _check_unscored(verdict: Verdict) -> Iterator[str]:
    for name in ("score", "level", "confidence", "nearest_better", "measures"):
        if getattr(verdict, name) is not None:
            yield _describe_difference(f"/{name}", f"the outcome is {verdict.outcome}", None)
    if verdict.steps or verdict.extras:
        location = "/steps" if verdict.steps else "/extras"
        yield f"{location}: findings are not allowed with the outcome {verdict.outcome}."


def _check_unjudgeable(verdict: Verdict, trace: Trace) -> Iterator[str]:
    if verdict.outcome is Outcome.NO_EVENTS and trace.events:
        yield f"/outcome: no_events, but the trace has {len(trace.events)} events."
    if verdict.outcome is Outcome.NO_PLAN and verdict.plan and verdict.plan.steps:
        yield f"/outcome: no_plan, but the plan has {verdict.plan.steps} steps."


def _find_plan(verdict: Verdict, trace: Trace) -> PlanSearch | None:
    """Search the trace for the plan, for a verdict without a given plan."""
    is_plan_given = verdict.inputs is None or verdict.inputs.plan != plan_digest(None)
    return None if is_plan_given else find_declared_plan(trace)


def _get_in_force(verdict: Verdict) -> InForce:
    return "first" if verdict.plan is None else verdict.plan.in_force or "first"


def _map_steps_to_plans(verdict: Verdict, timeline: PlanTimeline) -> dict[str, int]:
    """Map each started step to the index of the plan in which it started.

    Steps that had not started when their plan was replaced are no longer required.
    """
    plan_index_by_step: dict[str, int] = {}
    for step in verdict.steps:
        events = (*(one.event for one in step.evidence), *step.covers)
        if events and events[0] in timeline.plan_index_by_event:
            plan_index_by_step[step.number] = timeline.plan_index_by_event[events[0]]
    return plan_index_by_step


def _check_plan_summary(verdict: Verdict, search: PlanSearch | None, plan: Plan) -> Iterator[str]:
    """Check that the plan summary matches the trace."""
    if verdict.plan is None:
        yield "/plan: missing; expected the plan that was judged."
        return
    steps = verdict.plan.steps
    if search is None:
        origin = Origin.GIVEN if verdict.plan.origin not in set(Origin) else verdict.plan.origin
        steps = len(plan.leaves) if plan.steps else steps
        expected = PlanSummary(origin=origin, steps=steps)
    else:
        expected = summarize_plan(plan, search, _get_in_force(verdict))
        if verdict.outcome is Outcome.NO_PLAN and plan.steps:
            yield f"/outcome: no_plan, but a plan is declared at {expected.event}."
        if verdict.outcome is Outcome.SCORED and not plan.steps:
            yield "/outcome: scored, but no plan was given and none is declared in the trace."
    for field in fields(PlanSummary):
        expected_value: object = getattr(expected, field.name)
        if getattr(verdict.plan, field.name) != expected_value:
            yield _describe_difference(
                f"/plan/{field.name}", "does not match the plan", expected_value
            )


def _check_plan(verdict: Verdict, plan: Plan) -> Iterator[str]:
    """Check that the findings cover all steps of the plan, as they are written."""
    if len(verdict.steps) != len(plan.steps):
        yield _describe_difference(
            "/steps", f"{len(verdict.steps)} steps", f"{len(plan.steps)}, as in the plan"
        )
    parents = {step.parent for step in plan.steps}
    for index, (finding, step) in enumerate(zip(verdict.steps, plan.steps, strict=False)):
        # Only counted steps have a position in the order.
        placed = () if step.number in parents else ("free_order",)
        for name in ("number", "text", "parent", *placed):
            planned: object = getattr(step, name)
            if getattr(finding, name) != planned:
                yield _describe_difference(
                    f"/steps/{index}/{name}", "does not match the plan", repr(planned)
                )
        if finding.waived and not step.optional:
            yield f"/steps/{index}/waived: this step is not optional in the plan."


class _Events:
    """The events of the trace by id, with the text at each of their pointers."""

    def __init__(self, trace: Trace, source: Source, timeline: PlanTimeline) -> None:
        self.trace = trace
        self.timeline = timeline
        self.index = {event.id: index for index, event in enumerate(trace.events)}
        self._texts = QuotableTexts(source.document)

    def position(self, event: str) -> tuple[int, int]:
        index = self.index[event]
        return index, self.trace.events[index].turn

    def check_timing(self, event: str, step: str | None) -> Iterator[str]:
        """Check that the step's plan was in force when the event happened."""
        planned = self.timeline.active_ranges.get(step or "")
        if event not in self.timeline.trace.by_id:
            yield f"{event} is from before the plan."
        elif planned is not None and self.timeline.plan_index_by_event[event] not in planned:
            yield f"step {step} was not in the plan at {event}."

    def check_citation(
        self, cited: Evidence | Extra, where: str, step: str | None = None
    ) -> Iterator[str]:
        """Check the event, the pointer and the quote of a citation."""
        event = self.trace.by_id.get(cited.event)
        if event is None:
            yield f"{where}/event: the trace has no event {cited.event!r}."
            return
        yield from (f"{where}/event: {why}" for why in self.check_timing(event.id, step))
        pointers = [event.pointer]
        if event.output_pointer is not None:
            pointers.append(event.output_pointer)
        if cited.pointer not in pointers:
            yield _describe_difference(
                f"{where}/pointer", f"not a pointer of {event.id}", " or ".join(pointers)
            )
        elif not is_quote_in(cited.quote, self._texts.get(cited.pointer)):
            yield f"{where}/quote: {_shorten(cited.quote)} not found at {cited.pointer!r}."

    def contains_words(self, event_id: str, words: str) -> bool:
        """Return whether an event of the trace contains these words."""
        event = self.trace.by_id.get(event_id)
        if event is None:
            return False
        texts = (event.actor or "", event.name or "", format_call(event), event.output)
        return any(contains_text(words, text) for text in texts if text)


def _check_steps(verdict: Verdict, events: _Events) -> Iterator[str]:
    parents = {step.parent for step in verdict.steps}
    left_behind = events.timeline.active_ranges.keys() - events.timeline.numbers[-1].keys()
    leaves = [s for s in verdict.steps if s.number not in parents and s.number not in left_behind]
    if verdict.plan is None or verdict.plan.steps != len(leaves):
        yield _describe_difference(
            "/plan/steps", "does not match the number of findings", len(leaves)
        )
    for number, times in Counter(step.number for step in verdict.steps).items():
        if times > 1:
            yield f"/steps: step {number!r} occurs {times} times."
    has_known_events = True
    for index, step in enumerate(verdict.steps):
        problems = [*_check_step(step, f"/steps/{index}", events, is_parent=step.number in parents)]
        has_known_events = has_known_events and not any(
            "/event:" in problem for problem in problems
        )
        yield from problems
    yield from _check_parents(verdict)
    if has_known_events:
        yield from _check_order(verdict, events)


def _check_step(
    step: StepFinding, where: str, events: _Events, *, is_parent: bool
) -> Iterator[str]:
    if step.status in _PRESENT and not (step.evidence or step.waived or is_parent):
        yield f"{where}/evidence: step {step.number} is {step.status} without evidence."
    for index, evidence in enumerate(step.evidence):
        yield from events.check_citation(evidence, f"{where}/evidence/{index}", step.number)
    yield from _check_equations(step, where, events)
    for index, event in enumerate(step.covers):
        if event not in events.index:
            yield f"{where}/covers/{index}: the trace has no event {event!r}."
        else:
            came = events.check_timing(event, step.number)
            yield from (f"{where}/covers/{index}: {why}" for why in came)
    cited = [events.index[one.event] for one in step.evidence if one.event in events.index]
    if cited != sorted(cited) and not is_parent:
        yield f"{where}/evidence: the evidence is not in event order."


def _check_equations(step: StepFinding, where: str, events: _Events) -> Iterator[str]:
    """Check words that a model equated: both are where the verdict says, and each is used once.

    Whether they mean the same can't be checked, so the confidence is limited.
    """
    equated = [(n, check) for n, check in enumerate(step.checks) if check.path == EQUATED]
    if equated and step.confidence > EQUATED_CONFIDENCE:
        yield _describe_difference(
            f"{where}/confidence", "depends on equated words", f"at most {EQUATED_CONFIDENCE}"
        )
    for name in ("expected", "found"):
        used = Counter(getattr(check, name) for _, check in equated)
        yield from (
            f"{where}/checks: {_shorten(words)} is equated {times} times."
            for words, times in used.items()
            if times > 1
        )
    for number, check in equated:
        place = f"{where}/checks/{number}"
        if not contains_text(check.expected, step.text):
            yield f"{place}/expected: {_shorten(check.expected)} not found in the step."
        if check.event is None or check.event not in step.covers:
            yield f"{place}/event: not an event of step {step.number}."
        elif not events.contains_words(check.event, check.found):
            yield f"{place}/found: {_shorten(check.found)} not found in {check.event}."


def _check_parents(verdict: Verdict) -> Iterator[str]:
    """Check that no parent is executed while one of its sub-steps is not."""
    index_by_number = {step.number: index for index, step in enumerate(verdict.steps)}
    seen: set[int] = set()
    for step in verdict.findings.counted_steps:
        above = index_by_number.get(step.parent or "") if step.status in _LOST else None
        while above is not None and above not in seen:
            seen.add(above)
            parent = verdict.steps[above]
            if parent.status is Status.EXECUTED:
                problem = f"executed, but its sub-step {step.number} is {step.status}"
                yield f"/steps/{above}/status: {problem}."
            above = index_by_number.get(parent.parent or "")


def _check_order(verdict: Verdict, events: _Events) -> Iterator[str]:
    """Check that as few steps as possible are out of order, and the others in plan order."""
    counted = {id(step) for step in verdict.findings.counted_steps}
    placed = [
        (index, step, events.position(step.evidence[0].event))
        for index, step in enumerate(verdict.steps)
        if id(step) in counted and step.evidence and step.has_position
    ]
    moved = {index for index, step, _ in placed if step.status is Status.OUT_OF_ORDER}
    fewest = len(find_out_of_order([position for _, _, position in placed]))
    if len(moved) != fewest:
        yield _describe_difference(
            "/steps", f"{len(moved)} steps are out_of_order", f"{fewest} by event order"
        )
    in_order = [(index, position) for index, _, position in placed if index not in moved]
    for misplaced in sorted(find_out_of_order([position for _, position in in_order])):
        index = in_order[misplaced][0]
        yield _describe_difference(
            f"/steps/{index}/status", "started out of plan order", "out_of_order"
        )
    for index, step in enumerate(verdict.steps):
        if step.status is Status.OUT_OF_ORDER and step.free_order:
            yield f"/steps/{index}/status: out_of_order, but its order is free in the plan."


def _check_extras(verdict: Verdict, events: _Events) -> Iterator[str]:
    for index, extra in enumerate(verdict.extras):
        yield from events.check_citation(extra, f"/extras/{index}")


def _check_accounted(verdict: Verdict, events: _Events) -> Iterator[str]:
    """Check that every action is covered by a step or an extra."""
    accounted = {extra.event for extra in verdict.extras}
    for step in verdict.steps:
        accounted.update(step.covers, (evidence.event for evidence in step.evidence))
    for event in events.timeline.trace.events:
        if event.kind is not Kind.ACTION or event.actor == "user" or event.id in accounted:
            continue
        if not only_prints(event):
            yield f"/extras: action {event.id} is neither covered by a step nor an extra."


def _check_score(verdict: Verdict) -> Iterator[str]:
    """Check score, level, nearest better outcome and reason against the findings."""
    computed = compute_score(verdict.findings)
    if verdict.score != computed:
        yield _describe_difference("/score", "does not follow from the findings", computed)
    if verdict.level != floor_to_level(computed):
        yield _describe_difference(
            "/level", "does not follow from the findings", floor_to_level(computed)
        )
    better = find_nearest_better(verdict.findings)
    if verdict.nearest_better != better:
        expected = better and f"{better.score} {better.change}"
        yield _describe_difference("/nearest_better", "does not follow from the findings", expected)
    reason = write_reason(verdict.findings, computed)
    if verdict.reason != reason:
        yield _describe_difference("/reason", "does not follow from the findings", reason)


def _check_confidence(verdict: Verdict) -> Iterator[str]:
    """Check the confidence of the level; verdicts of older versions have none."""
    score, judge = compute_score(verdict.findings), _get_judge_name(verdict)
    expected = estimate_level_confidence(verdict.findings, score, judge=judge)
    if not _are_equal(verdict.confidence, expected):
        yield _describe_difference("/confidence", "does not follow from the findings", expected)


def _check_measures(verdict: Verdict, trace: Trace) -> Iterator[str]:
    """Check the measures; verdicts of older versions have none."""
    expected = compute_measures(verdict.findings, trace)
    for field in fields(Measures):
        value: object = getattr(expected, field.name)
        if verdict.measures is None or not _are_equal(getattr(verdict.measures, field.name), value):
            yield _describe_difference(
                f"/measures/{field.name}", "does not follow from the findings", value
            )


def _has_no_findings(verdict: Verdict) -> bool:
    """Return whether a model gave the score itself, so that only its form can be checked."""
    by_model = verdict.judge is not None and verdict.judge.name == PROMPT
    return by_model and not (verdict.steps or verdict.extras)


def _check_model_score(verdict: Verdict) -> Iterator[str]:
    for name in ("confidence", "measures"):
        if getattr(verdict, name) is not None:
            yield _describe_difference(f"/{name}", "a model gave the score", None)
    if verdict.score is None or not 0 <= verdict.score <= 1:
        yield _describe_difference("/score", "not a valid score", "a number from 0 to 1")
    elif verdict.level != floor_to_level(verdict.score):
        yield _describe_difference(
            "/level", "does not match the score", floor_to_level(verdict.score)
        )
    for problem in check_reason(verdict.reason):
        # A model's wrong reason cannot be fixed, but it must have been reported.
        if problem not in verdict.warnings:
            yield f"/reason: {problem}"


def _describe_difference(where: str, what: str, expected: object) -> str:
    shown = "null" if expected is None else str(expected)
    return f"{where}: {what}; expected {shown.removesuffix('.')}."


def _shorten(quote: str) -> str:
    return repr(quote if len(quote) <= 80 else quote[:79] + "…")
