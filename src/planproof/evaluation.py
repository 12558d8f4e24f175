"""Judge a case: read the trace, find the plan, ask the judge, compute the score, write the reason.

`_evaluate` is the whole pipeline. Everything else prepares its input or fills in the verdict.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import iscoroutinefunction
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, get_args

from planproof.checking.confidence import estimate_level_confidence
from planproof.checking.event_text import QuoteLocator
from planproof.checking.plan_periods import (
    JudgePeriod,
    findings_required_error,
    iter_independent_periods,
    judge_periods,
)
from planproof.contracts.terms import detect_other_language
from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.contract import Contract
from planproof.core.digests import plan_digest, task_digest
from planproof.core.finding import Findings
from planproof.core.judge import (
    PROMPT,
    AnyJudge,
    ContractChecker,
    Judgement,
    ModelJudge,
    WorkLimitExceeded,
)
from planproof.core.limits import Limits
from planproof.core.model import Cause, ModelFailed, Question
from planproof.core.plan import InForce, Plan
from planproof.core.trace import Kind, Trace
from planproof.core.usage import Usage
from planproof.core.verdict import (
    Coverage,
    Inputs,
    JudgeSummary,
    Outcome,
    PlanSummary,
    Verdict,
)
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, PlanproofError, UnknownName, did_you_mean
from planproof.llm.judge_registry import DEFAULT_JUDGE, find_judge
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_parser import parse_given_plan
from planproof.planning.plan_search import explain_missing_plan, summarize_plan
from planproof.planning.plan_timeline import PlanTimeline, build_timeline
from planproof.readers.decoding.json_parsing import describe_json_error
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.detect import mark_bookkeeping, read_trace
from planproof.readers.native import serialize_trace
from planproof.readers.profile_files import read_profiles
from planproof.readers.record_counts import (
    RECORDS,
    count_unread_characters,
    explain_not_understood,
)
from planproof.readers.task_content import find_task, read_task
from planproof.reasons import write_reason
from planproof.scoring import compute_measures, compute_score, find_nearest_better, floor_to_level

if TYPE_CHECKING:
    from planproof.core.async_bridge import LoopThrottle, OnePerLoop
    from planproof.readers.profile_reader import ProfileReader

_T = TypeVar("_T")
_Load: TypeAlias = "Callable[[Callable[[], LoadedCase | Verdict]], Awaitable[LoadedCase | Verdict]]"
_SHORT = 200_000
"""Characters of a trace that take a few milliseconds to read."""
_MAX_NOTES = 5
_SAMPLE = 1_000
"""Characters of a text by which its language is detected."""
_READING_JUDGES = frozenset({"audit", "cascade", PROMPT})
_NO_EVENTS = "The trace has no events, so no step can be judged."
_NO_STEPS = "The given plan has no steps, so there is nothing to judge."
_log = logging.getLogger("planproof")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a case. `where` is its position in a data set, for error messages.

    `profiles` are the user's own formats, which are asked before all other readers.
    """

    reader: str | None = None
    vocabulary: Vocabulary | None = None
    limits: Limits | None = None
    where: str | None = None
    in_force: InForce = "first"
    profiles: tuple[ProfileReader, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedCase:
    """A case that was read and can be judged; `draft` is its verdict without findings and score.

    `open_document` returns the source of the trace, in which quotes are looked up.
    """

    draft: Verdict
    task: Content
    timeline: PlanTimeline
    open_document: Callable[[], Json]


def evaluate(  # noqa: PLR0913 - all by name, nearly all with a default
    *,
    task: str | Path | Content | Json = None,
    plan: str | Path | Plan | Json = None,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
    judge: str | AnyJudge | None = None,
    reader: str | None = None,
    vocabulary: Vocabulary | None = None,
    profiles: Sequence[Path | ProfileReader] = (),
    plan_in_force: InForce = "first",
    contract: Path | Contract | None = None,
    variables: Mapping[str, str] | None = None,
    allow_drift: bool = False,
) -> Verdict:
    """Judge one case.

    A `str` is content and a `Path` is a file; parsed JSON and planproof's own classes work too.
    Without a plan, the plan that the agent declared in the trace is used; without a task, the first
    user message. If the trace declares several plans, the first stays in force, unless
    `plan_in_force` is "latest": then each one applies until the next.

    `judge` is a registered name or a judge object; the default is `rules`. `reader` is the name of
    a reader; by default the format is detected. `vocabulary` declares the roles of your own tools,
    `profiles` describe your own formats: files, folders of files, or what `read_profiles` returns.
    With a `contract`, the trace is checked against it and its steps are the plan; `variables` are
    values of its variables. A plan that differs from the contract's steps is an error unless
    `allow_drift` is true.
    `id` and `metadata` are copied to the verdict. Judges that ask a model run on a separate event
    loop, so this function can also be called while another loop is running.

    Raises `InvalidInput` if the input can't be read. If it can be read but not judged, or an
    internal error occurs, the verdict has no score and its `outcome` and `reason` say why.
    """
    chosen = _choose_judge(judge, vocabulary, contract, variables, allow_drift=allow_drift)
    check_in_force(plan_in_force, chosen, plan)
    try:
        own = read_profiles(profiles) if profiles else ()
        case = build_case(task, plan, trace, id, metadata, own)
    except Exception as error:
        return internal_error_verdict(error, id=id, metadata=metadata)
    options = ReadOptions(reader, vocabulary, in_force=plan_in_force, profiles=own)
    return _run(case, chosen, options)


async def aevaluate(  # noqa: PLR0913 - as above
    *,
    task: str | Path | Content | Json = None,
    plan: str | Path | Plan | Json = None,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
    judge: str | AnyJudge | None = None,
    reader: str | None = None,
    vocabulary: Vocabulary | None = None,
    profiles: Sequence[Path | ProfileReader] = (),
    plan_in_force: InForce = "first",
    contract: Path | Contract | None = None,
    variables: Mapping[str, str] | None = None,
    allow_drift: bool = False,
) -> Verdict:
    """Judge one case without blocking the event loop. Same arguments as `evaluate`."""
    import asyncio  # noqa: PLC0415 - not needed by the command line

    chosen = _choose_judge(judge, vocabulary, contract, variables, allow_drift=allow_drift)
    check_in_force(plan_in_force, chosen, plan)
    parts = (task, plan, trace)
    try:
        if any(isinstance(part, Path) for part in (*parts, *profiles)):
            own = await asyncio.to_thread(read_profiles, profiles)
            case = await asyncio.to_thread(build_case, *parts, id, metadata, own)
        else:
            own = read_profiles(profiles)
            case = build_case(*parts, id, metadata, own)
    except Exception as error:
        return internal_error_verdict(error, id=id, metadata=metadata)
    options = ReadOptions(reader, vocabulary, in_force=plan_in_force, profiles=own)
    return await _run_async(case, chosen, options)


def evaluate_case(
    case: Case, *, judge: str | AnyJudge | None = None, options: ReadOptions | None = None
) -> Verdict:
    """Judge one of many cases; input that can't be read gives a verdict too."""
    try:
        return judge_case(case, judge=judge, options=options)
    except InvalidInput as error:
        return invalid_input_verdict(error, id=case.id, metadata=case.metadata)


async def aevaluate_case(
    case: Case, *, judge: str | AnyJudge | None = None, options: ReadOptions | None = None
) -> Verdict:
    """Judge one of many cases without blocking the event loop."""
    read_options = options or ReadOptions()
    chosen = _choose_judge(judge, read_options.vocabulary)
    check_in_force(read_options.in_force, chosen)
    try:
        return await _run_async(case, chosen, read_options)
    except InvalidInput as error:
        return invalid_input_verdict(error, id=case.id, metadata=case.metadata)


def judge_case(
    case: Case, *, judge: str | AnyJudge | None = None, options: ReadOptions | None = None
) -> Verdict:
    """Judge one case; raise `InvalidInput` if it can't be read."""
    read_options = options or ReadOptions()
    chosen = _choose_judge(judge, read_options.vocabulary)
    check_in_force(read_options.in_force, chosen)
    return _run(case, chosen, read_options)


async def _evaluate(case: Case, judge: AnyJudge, options: ReadOptions, load: _Load) -> Verdict:
    """Run the pipeline: read the case, judge it, compute the score and write the reason.

    `load` calls a function here, or in a thread so that an event loop is not blocked.
    """
    try:
        if isinstance(judge, ContractChecker):
            judge = judge.bind(case.metadata)
        loaded = await load(partial(load_case, case, judge, options))
    except Exception as error:
        return internal_error_verdict(error, id=case.id, metadata=case.metadata)
    if isinstance(loaded, Verdict):
        return loaded
    if loaded.timeline.trace.reader == RECORDS:
        return await _evaluate_records(loaded, judge, options)
    return await _judge_loaded(loaded, judge)


async def _evaluate_records(loaded: LoadedCase, judge: AnyJudge, options: ReadOptions) -> Verdict:
    """Let the judge's model say what the records of a trace are, and then judge it."""
    from planproof.llm.record_kinds import read_records  # noqa: PLC0415 - needs pydantic

    try:
        records = await read_records(loaded.timeline.trace, judge)
    except Exception as error:
        return _judge_failed(loaded.draft, judge, error)
    assert loaded.draft.coverage is not None
    trace = mark_bookkeeping(records.classified.trace, options.vocabulary or Vocabulary())
    coverage = replace(
        loaded.draft.coverage,
        events=len(trace.events),
        by_kind=_count_kinds(trace),
        kinds=records.classified.kinds,
    )
    draft = _add_notes(replace(loaded.draft, coverage=coverage), records.notes)
    if why := explain_not_understood(trace):
        return replace(draft, outcome=Outcome.NOT_UNDERSTOOD, reason=why, cost=records.usage)
    timeline = PlanTimeline((loaded.timeline.last_plan,), trace)
    classified = replace(loaded, draft=draft, timeline=timeline)
    verdict = await _judge_loaded(classified, records.judge)
    return replace(verdict, cost=records.usage + (verdict.cost or Usage()))


async def _judge_loaded(loaded: LoadedCase, judge: AnyJudge) -> Verdict:
    """Judge a case that was read, compute the score and write the reason."""

    async def judge_period(plan: Plan, trace: Trace) -> Findings | Judgement:
        found = judge.judge(loaded.task, plan, trace)
        return found if isinstance(found, Findings) else await found

    trace = loaded.timeline.trace
    try:
        judged = await _judge_timeline(loaded.timeline, judge_period)
        if isinstance(judged, Findings):
            return _score(_note_limits(loaded), _locate_quotes(loaded, judged), trace)
        draft = _add_judgement(loaded.draft, judged)
        if judged.findings is not None:
            return _score(draft, _locate_quotes(loaded, judged.findings), trace)
        return _take_score(draft, judged)
    except Exception as error:
        return _judge_failed(loaded.draft, judge, error)


def _locate_quotes(loaded: LoadedCase, findings: Findings) -> Findings:
    return QuoteLocator(loaded.timeline.trace, loaded.open_document()).locate_findings(findings)


async def _judge_timeline(timeline: PlanTimeline, judge: JudgePeriod) -> Findings | Judgement:
    if len(timeline.plans) > 1:
        return await judge_periods(timeline, judge)
    return await judge(timeline.last_plan, timeline.trace)


def _run(case: Case, judge: AnyJudge, options: ReadOptions) -> Verdict:
    """Run the pipeline from synchronous code."""
    work = _evaluate(case, judge, options, _load_here)
    if not is_async_judge(judge):
        return _finish(work)
    from planproof.core.async_bridge import run_sync  # noqa: PLC0415 - imports asyncio

    return run_sync(work)


async def _run_async(case: Case, judge: AnyJudge, options: ReadOptions) -> Verdict:
    """Run the pipeline on an event loop; whatever computes for long runs in a thread."""
    import asyncio  # noqa: PLC0415 - already imported by the caller

    if not is_async_judge(judge):
        return await asyncio.to_thread(_run, case, judge, options)
    if isinstance(case.trace, str) and len(case.trace) <= _SHORT:
        # A thread would compete with the loop for the interpreter, and delay other requests.
        await _throttles().get().wait()
        return await _evaluate(case, judge, options, _load_here)
    return await _evaluate(case, judge, options, asyncio.to_thread)


async def _load_here(load: Callable[[], LoadedCase | Verdict]) -> LoadedCase | Verdict:
    return load()


def _finish(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never waits: without a model there is no need for an event loop."""
    try:
        work.send(None)
    except StopIteration as finished:
        return finished.value
    work.close()
    raise RuntimeError("a judge that is not asynchronous waited for something")


@cache
def _throttles() -> OnePerLoop[LoopThrottle]:
    from planproof.core.async_bridge import LoopThrottle, OnePerLoop  # noqa: PLC0415 - asyncio

    return OnePerLoop(LoopThrottle)


def shows_trace_to_model(judge: AnyJudge) -> bool:
    """Return whether a judge shows the trace to a model, which can then classify its records."""
    return judge.name in _READING_JUDGES and is_async_judge(judge)


def is_async_judge(judge: AnyJudge) -> TypeGuard[ModelJudge]:
    """Return whether a judge must be awaited because it asks a model."""
    return iscoroutinefunction(judge.judge)


def build_case(
    task: str | Path | Content | Json,
    plan: str | Path | Plan | Json,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
    profiles: Sequence[ProfileReader] = (),
) -> Case:
    """Build a case from the arguments of `evaluate`: read files, keep text and JSON."""
    return Case(
        task=task if isinstance(task, Content | None) else _read_task(task),
        plan=read_json_or_text(plan) if isinstance(plan, Path) else plan,
        trace=select_trace(Source.from_path(trace), profiles=profiles)
        if isinstance(trace, Path)
        else trace,
        id=id,
        metadata=metadata or {},
    )


def load_case(case: Case, judge: AnyJudge, options: ReadOptions) -> LoadedCase | Verdict:
    """Read the trace and find the plan; return a verdict without a score if that fails."""
    source, trace, task = read_trace_and_task(case, options)
    checker = judge if isinstance(judge, ContractChecker) else None
    contract = checker and checker.contract
    search = find_declared_plan(trace) if case.plan is None and contract is None else None
    if search is None:
        where = _name_field(options.where, "agent_plan")
        if checker is None or contract is None:
            plan = parse_named_plan(case.plan, where)
        else:
            plan = contract.to_plan()
            if case.plan is not None and not checker.allow_drift:
                _check_drift(contract, parse_named_plan(case.plan, where), where)
        timeline = PlanTimeline((plan,), trace)
        summary = PlanSummary(origin=plan.origin.value, steps=len(plan.leaves))
    else:
        timeline = build_timeline(trace, search, options.in_force)
        summary = summarize_plan(timeline.last_plan, search, options.in_force)
    draft = Verdict(
        outcome=Outcome.NO_PLAN,
        reason=explain_missing_plan(search) if search else _NO_STEPS,
        id=case.id,
        plan=summary,
        coverage=_measure_coverage(trace, source),
        judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
        contract=checker and checker.summary,
        inputs=Inputs(task=task_digest(task), plan=plan_digest(case.plan), trace=source.digest),
        metadata=case.metadata,
    )
    if search is None and not timeline.last_plan.steps:
        return draft
    if why := explain_not_understood(trace):
        if search is None and shows_trace_to_model(judge):
            if trace.reader == RECORDS:
                return LoadedCase(draft, task, timeline, lambda: source.document)
            if options.reader is None and not isinstance(case.trace, Trace):
                return load_case(case, judge, replace(options, reader=RECORDS))
        # Checked before a declared plan: the part that was not read may declare another one.
        return replace(draft, outcome=Outcome.NOT_UNDERSTOOD, reason=why)
    if not timeline.last_plan.steps:
        return draft
    if not trace.events:
        return replace(draft, outcome=Outcome.NO_EVENTS, reason=_NO_EVENTS)
    return LoadedCase(draft, task, timeline, _keep_document(case, source, judge, options))


def _keep_document(
    case: Case, source: Source, judge: AnyJudge, options: ReadOptions
) -> Callable[[], Json]:
    """Return how to get the parsed source when the findings are there.

    While a model is asked, hundreds of cases may wait. A short text is parsed again then, which
    takes less time than the garbage collector takes to go through what would wait.
    """
    text, name = case.trace, source.name
    if not is_async_judge(judge) or not isinstance(text, str) or len(text) > _SHORT:
        return lambda: source.document
    return lambda: _open_source(text, name, options.limits).document


def read_trace_and_task(case: Case, options: ReadOptions) -> tuple[Source, Trace, Content]:
    """Read the source, the trace and the task; without a task, use the first user message."""
    source = _open_source(case.trace, _name_field(options.where, "execution_trace"), options.limits)
    reader = "native" if isinstance(case.trace, Trace) else options.reader
    trace = read_trace(
        source,
        reader=reader,
        vocabulary=options.vocabulary or Vocabulary(),
        profiles=() if isinstance(case.trace, Trace) else options.profiles,
    )
    return source, trace, find_task(trace) if case.task is None else case.task


def build_questions(case: LoadedCase, judge: ModelJudge) -> tuple[Question, ...]:
    """Return what a model would be asked about a case, each plan on its own."""
    if judge.name == PROMPT and len(case.timeline.plans) > 1:
        raise findings_required_error()
    first: tuple[Question, ...] = ()
    if case.timeline.trace.reader == RECORDS:
        from planproof.llm.record_kinds import list_record_questions  # noqa: PLC0415 - as above

        first = list_record_questions(case.timeline.trace, judge)
    return first + tuple(
        question
        for plan, trace in iter_independent_periods(case.timeline)
        for question in judge.questions(case.task, plan, trace)
    )


def _open_source(trace: Source | Trace | Json, name: str, limits: Limits | None) -> Source:
    if isinstance(trace, Source):
        return trace
    value = serialize_trace(trace) if isinstance(trace, Trace) else trace
    return Source.from_value(value, name=name, limits=limits)


def parse_named_plan(raw: Json, where: str) -> Plan:
    """Parse a given plan; `where` names it in errors."""
    try:
        return parse_given_plan(raw)
    except InvalidInput as error:
        pointer = f"#{error.where}" if (error.where or "").startswith("/") else ""
        raise InvalidInput(error.what, where=f"{where}{pointer}", advice=error.advice) from error


def _check_drift(contract: Contract, plan: Plan, where: str) -> None:
    """Raise an error if a contract was compiled from another plan than the given one."""
    from planproof.contracts.contract_file import fold_step  # noqa: PLC0415 - only here

    compiled = [(step.number, fold_step(step.text)) for step in contract.steps]
    given = [(step.number, fold_step(step.text)) for step in plan.steps]
    if compiled == given:
        return
    pairs = zip_longest(compiled, given)
    number = next((new or old)[0] for old, new in pairs if old != new)
    raise InvalidInput(
        f"the plan is not the one that the contract was compiled from: step {number} differs.",
        where=where,
        advice="Compile the plan again, or pass --allow-drift (in Python, `allow_drift=True`) to "
        "judge by the contract's steps.",
    )


def _name_field(where: str | None, field: str) -> str:
    return field if where is None else f"{where}, {field}"


def _count_kinds(trace: Trace) -> dict[str, int]:
    kinds = Counter([event.kind for event in trace.events])
    return {kind.value: kinds[kind] for kind in sorted(kinds)}


def _measure_coverage(trace: Trace, source: Source) -> Coverage:
    # A reader may or may not pass on the parts that were skipped in parsing.
    skipped = tuple(dict.fromkeys((*source.skipped, *trace.skipped)))
    first_pointers = {part.why: part.pointer for part in reversed(skipped)}
    notes = [
        _describe_skipped(why, first_pointers[why], count)
        for why, count in Counter(part.why for part in skipped).items()
    ]
    if len(notes) > _MAX_NOTES:
        notes[_MAX_NOTES:] = [f"and {len(notes) - _MAX_NOTES} more"]
    return Coverage(
        reader=trace.reader,
        events=len(trace.events),
        by_kind=_count_kinds(trace),
        skipped=len(skipped),
        unread_characters=count_unread_characters(source, trace),
        notes=tuple(notes),
    )


def _describe_skipped(why: str, pointer: str, count: int) -> str:
    """Describe the parts that were skipped for one reason."""
    if count > 1:
        return f"{why} ({count:,} parts, first at {pointer or 'the document'})"
    return f"{pointer}: {why}" if pointer else why


def _read_task(task: str | Path | Json) -> Content:
    if isinstance(task, Path):
        return read_task(read_json_or_text(task), where=str(task))
    return Content(task) if isinstance(task, str) else read_task(task)


def read_json_or_text(path: Path) -> Json:
    """Read a file: JSON if its name ends in `.json`, otherwise text."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text) if path.suffix == ".json" else text
    except OSError as error:
        raise InvalidInput(f"can't be read: {error.strerror}.", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            describe_json_error(error),
            where=str(path),
            advice="Save the file as UTF-8 text.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            describe_json_error(error),
            where=str(path),
            advice="A file whose name ends in .json must be JSON; save text as .txt or .md.",
        ) from error


def _score(draft: Verdict, findings: Findings, trace: Trace) -> Verdict:
    """Complete a verdict with the score and the reason that follow from the findings."""
    score = compute_score(findings)
    if findings.notes:
        draft = _add_notes(draft, findings.notes)
    return replace(
        draft,
        outcome=Outcome.SCORED,
        score=score,
        level=floor_to_level(score),
        confidence=estimate_level_confidence(
            findings, score, judge=draft.judge and draft.judge.name
        ),
        reason=write_reason(findings, score),
        steps=findings.steps,
        extras=findings.extras,
        nearest_better=find_nearest_better(findings),
        measures=compute_measures(findings, trace),
    )


def _take_score(draft: Verdict, judgement: Judgement) -> Verdict:
    """Complete a verdict with the score and the reason that a model gave."""
    if judgement.score is None or not 0 <= judgement.score <= 1:
        raise ModelFailed(
            Cause.INVALID_ANSWER,
            f"the score {judgement.score} is not a number from 0 to 1.",
            usage=judgement.usage,
        )
    return replace(
        draft,
        outcome=Outcome.SCORED,
        score=judgement.score,
        level=floor_to_level(judgement.score),
        reason=judgement.reason,
    )


def _add_judgement(draft: Verdict, judgement: Judgement) -> Verdict:
    """Add what a judgement says about itself: models, cost, prompt coverage, warnings."""
    assert draft.coverage is not None
    assert draft.judge is not None
    coverage = replace(draft.coverage, notes=(*draft.coverage.notes, *judgement.notes))
    if judgement.shown is not None:
        coverage = replace(
            coverage,
            shown=judgement.shown.events,
            shortened=judgement.shown.shortened,
            windows=judgement.shown.windows,
        )
    return replace(
        draft,
        coverage=coverage,
        judge=replace(draft.judge, models=judgement.models),
        contract=judgement.contract or draft.contract,
        cost=judgement.usage,
        rejected=judgement.rejected,
        warnings=judgement.warnings,
        samples=judgement.samples,
        panel=judgement.panel,
    )


def _note_limits(loaded: LoadedCase) -> Verdict:
    """Note in the coverage what a judge without a model can't see: images, other languages."""
    notes: list[str] = []
    plan, events = loaded.timeline.last_plan, loaded.timeline.trace.events
    images = len(loaded.task.images) + len(plan.images)
    images += sum([len(event.images) for event in events])
    if images:
        notes.append(f"images ignored: {images}")
    said = " ".join([event.text[:_SAMPLE] for event in events if event.kind is Kind.MESSAGE][:4])
    for name, text in (("plan", " ".join([s.text for s in plan.steps[:20]])), ("trace", said)):
        if language := detect_other_language(text[:_SAMPLE]):
            notes.append(f"the {name} is in {language}: without a model, only English is compared")
    return _add_notes(loaded.draft, notes) if notes else loaded.draft


def _add_notes(draft: Verdict, notes: Sequence[str]) -> Verdict:
    assert draft.coverage is not None
    coverage = replace(draft.coverage, notes=(*draft.coverage.notes, *notes))
    return replace(draft, coverage=coverage)


def _judge_failed(draft: Verdict, judge: AnyJudge, error: Exception) -> Verdict:
    """Return a verdict for a judge that raised, so that a run continues with the next case."""
    prefix = f"The judge `{judge.name}` failed: "
    failed = replace(draft, outcome=Outcome.JUDGE_FAILED)
    if isinstance(error, ModelFailed):
        _log.debug("the judge %s failed: %s", judge.name, error)
        return replace(failed, reason=f"{prefix}{error}", cause=error.cause.value, cost=error.usage)
    if isinstance(error, WorkLimitExceeded):
        return replace(failed, reason=f"{prefix}{error}", cause=error.cause)
    _log.debug("the judge %s failed", judge.name, exc_info=error)
    return replace(failed, reason=f"{prefix}{type(error).__name__}: {error}")


def internal_error_verdict(
    error: Exception,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Verdict:
    """Return the verdict on a case that could not be read because of an internal error.

    Raises the error again if it is due to the input or the options, not to a bug in planproof.
    """
    if isinstance(error, PlanproofError):
        raise error
    _log.debug("reading a case failed", exc_info=error)
    return Verdict(
        outcome=Outcome.JUDGE_FAILED,
        reason="The case could not be read because of an internal error: "
        f"{type(error).__name__}: {error}. This is a bug in planproof; please report it.",
        id=id,
        metadata=metadata or {},
    )


def invalid_input_verdict(
    error: InvalidInput,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Verdict:
    """Return the verdict on a case that can't be read."""
    return Verdict(outcome=Outcome.INVALID_INPUT, reason=str(error), id=id, metadata=metadata or {})


def _choose_judge(
    judge: str | AnyJudge | None,
    vocabulary: Vocabulary | None,
    contract: Path | Contract | None = None,
    variables: Mapping[str, str] | None = None,
    *,
    allow_drift: bool = False,
) -> AnyJudge:
    if contract is not None:
        if judge not in (None, "contract"):
            raise InvalidInput(
                "a contract is checked by the judge `contract`, not by another one.",
                advice="Omit the judge, or omit the contract.",
            )
        from planproof.checking.contract_judge import ContractJudge  # noqa: PLC0415 - only here
        from planproof.contracts.contract_validation import (  # noqa: PLC0415 - as above
            read_valid_contract,
            require_valid,
        )

        if isinstance(contract, Path):
            known = read_valid_contract(contract)
        else:
            known = contract
            require_valid(known)
        return ContractJudge(
            known, vocabulary or Vocabulary(), variables or {}, allow_drift=allow_drift
        )
    if judge is None:
        return _default_judge() if vocabulary is None else find_judge(vocabulary=vocabulary)
    return find_judge(judge, vocabulary=vocabulary) if isinstance(judge, str) else judge


def check_in_force(in_force: InForce, judge: AnyJudge, plan: object = None) -> None:
    """Raise an error if `in_force` is unknown, or can't be used with this plan or judge."""
    if in_force not in get_args(InForce):
        raise UnknownName(
            f"unknown plan in force {in_force!r}.",
            advice=did_you_mean(str(in_force), get_args(InForce)),
        )
    if in_force == "latest" and plan is not None:
        raise InvalidInput(
            "`latest` applies only to plans declared in the trace, but a plan was given.",
            advice="Omit the plan, or use `first`.",
        )
    if in_force == "latest" and judge.name == PROMPT:
        raise findings_required_error()


@cache
def _default_judge() -> AnyJudge:
    return find_judge(DEFAULT_JUDGE)
