"""A case and a judge in, a verdict out."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cache
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast, get_args

from planproof.checking.plan_periods import PlanPeriods, findings_required_error
from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.finding import Findings
from planproof.core.judge import PROMPT, AnyJudge, Judge, Judgement, ModelJudge
from planproof.core.model import Cause, ModelFailed
from planproof.core.plan import InForce, Plan
from planproof.core.trace import Trace
from planproof.core.verdict import Outcome, Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, PlanproofError, UnknownName, did_you_mean
from planproof.llm.judge_registry import DEFAULT_JUDGE, find_judge
from planproof.preparation import LoadedCase, ReadOptions, build_case, load_case
from planproof.readers.decoding.source import Source
from planproof.reasons import write_reason
from planproof.scoring import compute_score, find_nearest_better, floor_to_level

if TYPE_CHECKING:
    from planproof.core.async_bridge import LoopThrottle, OnePerLoop

_SHORT = 200_000
"""Characters of a trace that are read in some milliseconds."""
_log = logging.getLogger("planproof")


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
    plan_in_force: InForce = "first",
) -> Verdict:
    """Judge one case. A `str` is content, a `Path` is a file; parsed JSON and nouns do as well.

    Without a plan, the trace is searched for the one that was declared; without a task, it is the
    first thing that the user says there. Of several plans in a trace the first stays in force,
    unless `plan_in_force` is "latest": then each does until the next. A judge that asks a model
    does so on a loop of its own, so that this may be called anywhere.

    Raises `InvalidInput` for what can't be read at all; what can be read but not judged gives a
    verdict that says so, and so does a fault of planproof itself.
    """
    chosen = _judge(judge, vocabulary)
    check_in_force(plan_in_force, chosen, plan)
    try:
        case = build_case(task, plan, trace, id, metadata)
    except Exception as error:
        return internal_error_verdict(error, id=id, metadata=metadata)
    return _verdict(case, chosen, ReadOptions(reader, vocabulary, in_force=plan_in_force))


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
    plan_in_force: InForce = "first",
) -> Verdict:
    """Judge one case without blocking the event loop."""
    import asyncio  # noqa: PLC0415 - whoever awaits has it; the command line need not load it

    chosen = _judge(judge, vocabulary)
    check_in_force(plan_in_force, chosen, plan)
    given = (task, plan, trace, id, metadata)
    try:
        if any(isinstance(each, Path) for each in given):
            case = await asyncio.to_thread(build_case, *given)
        else:
            case = build_case(*given)
    except Exception as error:
        return internal_error_verdict(error, id=id, metadata=metadata)
    reading = ReadOptions(reader, vocabulary, in_force=plan_in_force)
    return await _awaited_verdict(case, chosen, reading)


def evaluate_case(
    case: Case, *, judge: str | AnyJudge | None = None, options: ReadOptions | None = None
) -> Verdict:
    """Judge one of many cases: what can't be read gives a verdict too."""
    try:
        return judge_case(case, judge=judge, options=options)
    except InvalidInput as error:
        return invalid_input_verdict(error, id=case.id, metadata=case.metadata)


def judge_case(
    case: Case, *, judge: str | AnyJudge | None = None, options: ReadOptions | None = None
) -> Verdict:
    """Judge one case; raise `InvalidInput` for one that can't be read."""
    how = options or ReadOptions()
    chosen = _judge(judge, how.vocabulary)
    check_in_force(how.in_force, chosen)
    return _verdict(case, chosen, how)


async def aevaluate_case(
    case: Case, *, judge: str | AnyJudge | None = None, options: ReadOptions | None = None
) -> Verdict:
    """Judge one of many cases without blocking the event loop."""
    how = options or ReadOptions()
    chosen = _judge(judge, how.vocabulary)
    check_in_force(how.in_force, chosen)
    try:
        return await _awaited_verdict(case, chosen, how)
    except InvalidInput as error:
        return invalid_input_verdict(error, id=case.id, metadata=case.metadata)


def internal_error_verdict(
    error: Exception,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Verdict:
    """Return the verdict on a case that an internal fault kept from being read.

    Raises the errors that are no fault of planproof: what is wrong with the input or its options.
    """
    if isinstance(error, PlanproofError):
        raise error
    _log.debug("reading a case failed", exc_info=error)
    return Verdict(
        outcome=Outcome.JUDGE_FAILED,
        reason="The case could not be read because of an internal error: "
        f"{type(error).__name__}: {error}. This is a fault in planproof; please report it.",
        id=id,
        metadata=metadata or {},
    )


def invalid_input_verdict(
    error: InvalidInput,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Verdict:
    """The verdict on a case that can't be read."""
    return Verdict(outcome=Outcome.INVALID_INPUT, reason=str(error), id=id, metadata=metadata or {})


def _prepared(case: Case, judge: AnyJudge, reading: ReadOptions) -> LoadedCase | Verdict:
    try:
        return load_case(case, judge, reading)
    except Exception as error:
        return internal_error_verdict(error, id=case.id, metadata=case.metadata)


def _verdict(case: Case, judge: AnyJudge, reading: ReadOptions) -> Verdict:
    ready = _prepared(case, judge, reading)
    if isinstance(ready, Verdict):
        return ready
    try:
        if is_async_judge(judge):
            from planproof.core.async_bridge import run_sync  # noqa: PLC0415 - loads asyncio

            return _scored(ready, run_sync(_asked(ready, judge)))
        episodes = PlanPeriods(ready.timeline)
        for plan, trace in episodes.iter_periods():
            episodes.add_findings(cast("Judge", judge).judge(ready.task, plan, trace))
        return _scored(ready, episodes.merge_findings())
    except Exception as error:
        return _failed(ready.draft, judge, error)


async def _awaited_verdict(case: Case, judge: AnyJudge, reading: ReadOptions) -> Verdict:
    import asyncio  # noqa: PLC0415 - whoever awaits has it

    if not is_async_judge(judge):
        return await asyncio.to_thread(_verdict, case, judge, reading)
    if isinstance(case.trace, str) and len(case.trace) <= _SHORT:
        # A thread would take the loop's time by turns, and the requests of others with it.
        await _turns().get().wait()
        ready = _prepared(case, judge, reading)
    else:
        ready = await asyncio.to_thread(_prepared, case, judge, reading)
    if isinstance(ready, Verdict):
        return ready
    try:
        return _scored(ready, await _asked(ready, judge))
    except Exception as error:
        return _failed(ready.draft, judge, error)


@cache
def _turns() -> OnePerLoop[LoopThrottle]:
    from planproof.core.async_bridge import LoopThrottle, OnePerLoop  # noqa: PLC0415 - loads asyncio

    return OnePerLoop(LoopThrottle)


async def _asked(ready: LoadedCase, judge: ModelJudge) -> Findings | Judgement:
    episodes = PlanPeriods(ready.timeline)
    for plan, trace in episodes.iter_periods():
        try:
            episodes.add_findings(await judge.judge(ready.task, plan, trace))
        except ModelFailed as failed:
            # What was asked about the plans before it was paid all the same.
            paid = episodes.usage + failed.usage
            raise ModelFailed(
                failed.cause, failed.detail, model=failed.model, usage=paid
            ) from failed
    return episodes.merge_findings()


def is_async_judge(judge: AnyJudge) -> TypeGuard[ModelJudge]:
    """Whether a judge has to be awaited, for it asks a model."""
    return iscoroutinefunction(judge.judge)


def _failed(unjudged: Verdict, judge: AnyJudge, error: Exception) -> Verdict:
    """A judge may be anybody's code, and a data set goes on after it: a failure is an outcome."""
    told = f"The judge `{judge.name}` failed: "
    unscored = replace(unjudged, outcome=Outcome.JUDGE_FAILED)
    if isinstance(error, ModelFailed):
        _log.debug("the judge %s failed: %s", judge.name, error)
        return replace(unscored, reason=f"{told}{error}", cause=error.cause.value, cost=error.usage)
    _log.debug("the judge %s failed", judge.name, exc_info=error)
    return replace(unscored, reason=f"{told}{type(error).__name__}: {error}")


def _scored(ready: LoadedCase, found: Findings | Judgement) -> Verdict:
    """Score and reason: computed from the findings, or as a model gave them."""
    if isinstance(found, Findings):
        return _by_table(_with_images_unseen(ready), found)
    unjudged = _told_how(ready.draft, found)
    if found.findings is not None:
        return _by_table(unjudged, found.findings)
    if found.score is None or not 0 <= found.score <= 1:
        raise ModelFailed(
            Cause.INVALID_ANSWER,
            f"the score {found.score} is no number from 0 to 1.",
            usage=found.usage,
        )
    return replace(
        unjudged,
        outcome=Outcome.SCORED,
        score=found.score,
        level=floor_to_level(found.score),
        reason=found.reason,
    )


def _by_table(unjudged: Verdict, findings: Findings) -> Verdict:
    number = compute_score(findings)
    return replace(
        unjudged,
        outcome=Outcome.SCORED,
        score=number,
        level=floor_to_level(number),
        reason=write_reason(findings, number),
        steps=findings.steps,
        extras=findings.extras,
        nearest_better=find_nearest_better(findings),
    )


def _told_how(unjudged: Verdict, found: Judgement) -> Verdict:
    """The verdict with what a judgement says of itself: who was asked, about what, at what cost."""
    assert unjudged.coverage is not None
    assert unjudged.judge is not None
    coverage = replace(unjudged.coverage, notes=(*unjudged.coverage.notes, *found.notes))
    if found.shown is not None:
        coverage = replace(
            coverage,
            shown=found.shown.events,
            shortened=found.shown.shortened,
            windows=found.shown.windows,
        )
    return replace(
        unjudged,
        coverage=coverage,
        judge=replace(unjudged.judge, models=found.models),
        cost=found.usage,
        rejected=found.rejected,
        warnings=found.warnings,
        samples=found.samples,
        panel=found.panel,
    )


def _with_images_unseen(ready: LoadedCase) -> Verdict:
    """The verdict of a judge that asks no model: it says that images were not looked at."""
    images = len(ready.task.images) + len(ready.timeline.last_plan.images)
    images += sum([len(event.images) for event in ready.timeline.trace.events])
    if not images:
        return ready.draft
    assert ready.draft.coverage is not None
    notes = (*ready.draft.coverage.notes, f"images were not looked at: {images}")
    return replace(ready.draft, coverage=replace(ready.draft.coverage, notes=notes))


def _judge(judge: str | AnyJudge | None, vocabulary: Vocabulary | None) -> AnyJudge:
    if judge is None:
        return _default_judge() if vocabulary is None else find_judge(vocabulary=vocabulary)
    return find_judge(judge, vocabulary=vocabulary) if isinstance(judge, str) else judge


def check_in_force(in_force: InForce, judge: AnyJudge, plan: object = None) -> None:
    """Raise an error where there is no such choice, a plan was given, or the judge can't do it."""
    if in_force not in get_args(InForce):
        raise UnknownName(
            f"there is no plan in force called {in_force!r}.",
            advice=did_you_mean(str(in_force), get_args(InForce)),
        )
    if in_force == "latest" and plan is not None:
        raise InvalidInput(
            "a plan was given, so none that is declared in the trace comes into force.",
            advice="Leave out the plan, or `latest`.",
        )
    if in_force == "latest" and judge.name == PROMPT:
        raise findings_required_error()


@cache
def _default_judge() -> AnyJudge:
    return find_judge(DEFAULT_JUDGE)
