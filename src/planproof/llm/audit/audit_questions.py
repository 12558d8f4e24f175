"""Ask a model to audit a case: kinds, claims by window, contested claims, equations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from time import monotonic
from typing import cast

from pydantic import BaseModel

from planproof.core.async_bridge import gather_or_cancel
from planproof.core.content import Content, Image
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.judge import ModelOptions, PromptCoverage
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import RejectedEvidence
from planproof.llm.audit.audit_answers import (
    AuditAnswer,
    Claim,
    ClaimedExtra,
    Claims,
    find_split_steps,
    merge_claims,
    parse_claims,
    revise_claims,
)
from planproof.llm.audit.audit_findings import ClaimVerifier, VerifiedClaims
from planproof.llm.audit.step_kinds import (
    STRICTEST,
    KindsAnswer,
    StepKinds,
    are_known,
    build_kinds_question,
    parse_kinds,
    read_contract_kinds,
)
from planproof.llm.audit.step_values import (
    Equation,
    EquationsAnswer,
    build_equations_question,
    select_equal,
)
from planproof.llm.plan_answers import AnswersByPlan
from planproof.llm.prompting.case_prompt import CasePrompt, CaseWriter, count_characters
from planproof.llm.prompting.escaping import (
    clip_middle,
    escape_text,
    to_compact_json,
    wrap_in_fence,
    wrap_in_guillemets,
    write_id,
    write_name,
)
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.templates import compute_prompts_digest, render
from planproof.scoring import compute_score

_MIN_BUDGET = 4_000
"""Characters. The budget is halved after context-length errors, but not below this."""
_MIN_SECONDS_TO_REASK = 1.0
_REASK_BUDGET_DIVISOR = 20


@dataclass(frozen=True, slots=True)
class AuditScope:
    """The steps (by number) and events that a model is asked about.

    `settled_steps` maps the other steps to their findings; `settled_extras` are extras that need
    no question.
    """

    steps: tuple[str, ...]
    events: tuple[str, ...]
    settled_steps: Mapping[str, StepFinding]
    settled_extras: Mapping[str, ClaimedExtra]

    def add_settled_extras(self, claims: Claims) -> Claims:
        """Return the claims with the settled extras added."""
        return Claims(claims.steps, {**self.settled_extras, **claims.extras})

    def render_prompt(self) -> str:
        """Render the part of the prompt that limits the question to these steps."""
        return render("audit_only.jinja", steps=[*map(write_name, self.steps)])


@dataclass(frozen=True, slots=True)
class AuditResponse:
    """A model's claims, and how much of the case it was shown."""

    claims: Claims
    usage: Usage
    shown: PromptCoverage
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Window:
    """A question, its events, and the number of characters that may be added to it.

    `mark` is the fence mark of the case, used for the added text.
    """

    question: Question
    events: tuple[str, ...]
    spare_chars: int
    mark: str


@dataclass(frozen=True, slots=True)
class _AuditQuestions:
    """The questions about a case, and how much of it they show."""

    windows: tuple[_Window, ...]
    shown: PromptCoverage
    notes: tuple[str, ...]

    @property
    def max_chars(self) -> int:
        """Number of characters of the longest question."""
        return max(count_characters(window.question) for window in self.windows)


class Auditor:
    """Asks one model about one case.

    `build_verifier` is called when there is an answer: cases that wait for one take less memory.
    `kinds_by_plan` is shared by all cases of a judge: the kinds of steps are asked for once for
    each plan.
    """

    def __init__(
        self,
        model: Model,
        options: ModelOptions,
        case: tuple[Content, Plan, Trace],
        build_verifier: Callable[[], ClaimVerifier],
        kinds_by_plan: AnswersByPlan[StepKinds],
        scope: AuditScope | None = None,
    ) -> None:
        self._model = model
        self._options = options
        self._case = case
        self._build_verifier = build_verifier
        self._kinds_by_plan = kinds_by_plan
        self._scope = scope
        self._deadline = monotonic() + options.deadline
        self._usage = Usage()
        self._warnings: list[str] = []
        self._kinds: StepKinds = (
            {} if options.contract is None else read_contract_kinds(options.contract)
        )
        self._equal: frozenset[Equation] | None = None
        self._last_verified: tuple[Claims, VerifiedClaims] | None = None

    async def ask(self) -> AuditResponse:
        """Ask all questions and return the claims; `ModelFailed` if one gets no answer."""
        budget = self._options.budget
        try:
            while True:
                questions = self._build_questions(budget)
                try:
                    return await self._ask_all(questions, budget)
                except ModelFailed as failed:
                    # Half of what was too long, which may be far less than the budget.
                    budget = min(budget, questions.max_chars) // 2
                    if failed.cause is not Cause.TOO_LONG or budget < _MIN_BUDGET:
                        raise
        except ModelFailed as failed:
            raise ModelFailed(
                failed.cause, failed.detail, model=failed.model, usage=self._usage
            ) from failed

    def questions(self) -> tuple[Question, ...]:
        """Return the first questions: about the plan, if its kinds are not known, and the trace."""
        windows = self._build_questions(self._options.budget).windows
        first = () if self._find_kinds() else (self._build_kinds_question(),)
        return (*first, *(window.question for window in windows))

    def verify_claims(self, claims: Claims) -> VerifiedClaims:
        """Verify claims; settled steps and extras are kept as they are."""
        # Most answers are verified three times: for a second question, equations, and the findings.
        # The result is the same unless it depends on equations, which are confirmed in between.
        if self._last_verified is not None:
            last, verified = self._last_verified
            if claims is last and not verified.equations:
                return verified
        verified = self._verify(claims)
        self._last_verified = claims, verified
        return verified

    @cached_property
    def _verifier(self) -> ClaimVerifier:
        return self._build_verifier()

    def _verify(self, claims: Claims) -> VerifiedClaims:
        if self._scope is None:
            return self._verifier.verify(claims, self._kinds, equal=self._equal)
        return self._verifier.verify(
            self._scope.add_settled_extras(claims),
            self._kinds,
            equal=self._equal,
            settled=self._scope.settled_steps,
        )

    async def _ask_all(self, questions: _AuditQuestions, budget: int) -> AuditResponse:
        self._equal = None
        windows = questions.windows
        answers = await self._ask_windows(windows)
        second_question = self._find_contested(merge_claims(answers))
        if second_question is not None and self._deadline - monotonic() >= _MIN_SECONDS_TO_REASK:
            pairs = zip(windows, answers, strict=True)
            answers = await gather_or_cancel(
                self._ask_again(window, answered, second_question) for window, answered in pairs
            )
        claims = await self._merge(answers, budget)
        await self._ask_equations(claims)
        return AuditResponse(
            claims,
            self._usage,
            questions.shown,
            questions.notes,
            tuple(self._warnings),
        )

    async def _ask_windows(self, windows: Sequence[_Window]) -> list[Claims]:
        """Ask about the trace, and at the same time for the kinds of the plan's steps.

        If one of the two fails, the other is still waited for: it may be billed.
        """
        about_trace = gather_or_cancel(map(self._ask_window, windows))
        if self._find_kinds():
            return await about_trace
        kinds, answers = await asyncio.gather(
            self._learn_kinds(), about_trace, return_exceptions=True
        )
        if isinstance(kinds, BaseException):
            raise kinds
        if isinstance(answers, BaseException):
            raise answers
        return answers

    def _find_kinds(self) -> bool:
        """Return whether the kinds of the plan's steps are known: by a contract or another case."""
        found = self._kinds_by_plan.find(self._case[1])
        if found is not None:
            self._kinds = {**found, **self._kinds}
        return found is not None or are_known(self._kinds, self._list_asked_steps())

    def _list_asked_steps(self) -> tuple[str, ...]:
        if self._scope is not None:
            return self._scope.steps
        return tuple(step.number for step in self._case[1].leaves)

    def _build_kinds_question(self) -> Question:
        plan, options = self._case[1], self._options
        return build_kinds_question(plan, options.catalogue, options.budget)

    async def _learn_kinds(self) -> None:
        """Ask for the kinds of the plan's steps, unless another case does."""

        async def ask() -> StepKinds:
            return parse_kinds(cast("KindsAnswer", await self._ask(self._build_kinds_question())))

        kinds, _ = await self._kinds_by_plan.get(self._case[1], ask, deadline=self._deadline)
        self._kinds = {**kinds, **self._kinds}

    async def _merge(self, claims: Sequence[Claims], budget: int) -> Claims:
        """Merge the claims of all windows; ask about steps that none of them shows as a whole.

        The question shows the events that the windows name for these steps. If they don't fit into
        one question, or there is no answer, the lowest status counts.
        """
        merged = merge_claims(claims)
        split = [number for number in find_split_steps(claims) if number in merged.steps]
        if not split or self._deadline - monotonic() < _MIN_SECONDS_TO_REASK:
            return merged
        named = {
            event
            for number in split
            for event in (
                *(e for e, _ in merged.steps[number].evidence),
                *merged.steps[number].covers,
            )
        }
        scope = AuditScope(tuple(split), tuple(named), {}, {})
        try:
            window, *others = self._build_questions(budget, scope).windows
            if others:
                return merged
            answer = cast("AuditAnswer", await self._ask(window.question))
        except ModelFailed as failed:
            self._warn(f"gave no answer about steps that several windows show: {failed.cause}")
            return merged
        return revise_claims(
            merged, parse_claims(answer, window.events), frozenset(split), frozenset()
        )

    async def _ask_equations(self, claims: Claims) -> None:
        """Ask whether words that a finding depends on mean the same; if not asked, they don't."""
        equations = self.verify_claims(claims).equations
        self._equal = frozenset()
        question = build_equations_question(equations, self._case[1], self._options.sample)
        if question is None:
            return
        try:
            answer = cast("EquationsAnswer", await self._ask(question))
        except ModelFailed as failed:
            self._warn(f"gave no answer on words that may mean the same: {failed.cause}")
            return
        self._equal = select_equal(equations, answer)

    def _warn(self, what: str) -> None:
        self._warnings.append(f"{self._model.name} {what}")

    def _build_questions(self, budget: int, scope: AuditScope | None = None) -> _AuditQuestions:
        scope = scope or self._scope
        images = ImageRules(allow_urls=self._options.image_urls)
        ending = () if scope is None else (scope.render_prompt(),)
        # Reserve a part of the budget for the second question, which repeats the first answer.
        case_budget = (
            budget
            - sum(map(len, ending))
            - max(MIN_SECOND_QUESTION_CHARS, budget // _REASK_BUDGET_DIVISOR)
        )
        writer = CaseWriter(*self._case, budget=case_budget, images=images)
        instructions = _render_instructions(images=writer.has_images)
        cases = writer.write_windows(instructions, None if scope is None else scope.events)
        if not all(case.within_budget for case in cases):
            message = f"even one line per event does not fit into {budget:,} characters"
            raise ModelFailed(Cause.TOO_LONG, message, model=self._model.name)
        windows: list[_Window] = []
        for case in cases:
            question = self._build_question(instructions, (*case.parts, *ending))
            spare_chars = budget - count_characters(question)
            windows.append(_Window(question, case.events, spare_chars, writer.mark))
        return _AuditQuestions(tuple(windows), _count_shown(cases), writer.notes)

    async def _ask_window(self, window: _Window) -> Claims:
        return parse_claims(cast("AuditAnswer", await self._ask(window.question)), window.events)

    async def _ask_again(
        self, window: _Window, first: Claims, second_question: SecondQuestion
    ) -> Claims:
        """Ask about the contested part of an answer; return the claims with the second answer."""
        here = second_question.select_window(window.events, first)
        if not here:
            return first
        addition = here.render_prompt(window.spare_chars, window.mark)
        instructions, parts = window.question.instructions, window.question.parts
        try:
            second = await self._ask(self._build_question(instructions, (*parts, addition)))
        except ModelFailed as failed:
            # The first answer is still valid; its rejected evidence is dropped.
            self._warn(f"gave no answer to the second question: {failed.cause}")
            return first
        return revise_claims(
            first,
            parse_claims(cast("AuditAnswer", second), window.events),
            here.steps,
            here.extras,
        )

    def _find_contested(self, claims: Claims) -> SecondQuestion | None:
        """Return what to ask again; None if the score does not depend on it."""
        verified = self.verify_claims(claims)
        question = SecondQuestion.from_claims(
            verified, self._list_asked_steps(), claims, self._kinds
        )
        return question if question and question.can_change_score(verified.findings) else None

    def _build_question(self, instructions: str, parts: tuple[str | Image, ...]) -> Question:
        sample = self._options.sample
        return Question(instructions, parts, AuditAnswer, compute_prompts_digest(), sample)

    async def _ask(self, question: Question) -> BaseModel:
        try:
            answer = await self._model.ask(question, deadline=self._deadline)
        except ModelFailed as failed:
            self._usage += failed.usage
            raise
        self._usage += answer.usage
        return answer.value


@cache
def _render_instructions(*, images: bool) -> str:
    return render("audit.jinja", images=images, mark="")


def _count_shown(cases: Sequence[CasePrompt]) -> PromptCoverage:
    events = {event for case in cases for event in case.events}
    return PromptCoverage(
        events=len(events),
        shortened=min(len(events), sum(case.shortened for case in cases)),
        windows=len(cases),
        images=max(case.image_count for case in cases),
    )


MIN_SECOND_QUESTION_CHARS = 3_000
"""Characters needed for a second question: its rules and a part of the first answer."""
_MAX_NAMED = 40
_MAX_SHOWN = 3
_QUOTE_LENGTHS = (240, 80)
_MAX_ID_CHARS = 80


@dataclass(frozen=True, slots=True)
class SecondQuestion:
    """The contested part of a first answer, with the program's objections.

    `contested` are claims on steps with rejected evidence or values that were not found,
    `unanswered` are steps without a claim, `unaccounted` are actions without one. `rejected` are
    the objections by step; those to extras are under None.
    """

    contested: tuple[Claim, ...]
    unanswered: tuple[str, ...]
    unaccounted: tuple[str, ...]
    rejected: Mapping[str | None, Sequence[RejectedEvidence]]
    absent_values: Mapping[str, str]
    kinds: StepKinds

    @classmethod
    def from_claims(
        cls, verified: VerifiedClaims, asked_steps: Sequence[str], claims: Claims, kinds: StepKinds
    ) -> SecondQuestion:
        """Return the question about everything that the program contests in these claims."""
        rejected: dict[str | None, list[RejectedEvidence]] = {}
        for rejection in verified.rejected:
            rejected.setdefault(rejection.step, []).append(rejection)
        contested = rejected.keys() | verified.absent_values.keys()
        return cls(
            tuple(claim for number, claim in claims.steps.items() if number in contested),
            tuple(number for number in asked_steps if number not in claims.steps),
            verified.unaccounted_actions,
            rejected,
            verified.absent_values,
            kinds,
        )

    def __bool__(self) -> bool:
        """Return True if there is anything to ask."""
        return bool(self.steps or self.extras or self.unaccounted)

    @property
    def steps(self) -> frozenset[str]:
        """The steps that are asked about again."""
        return frozenset(claim.step for claim in self.contested).union(self.unanswered)

    @property
    def extras(self) -> frozenset[str]:
        """The events whose claim to be extras is contested."""
        return frozenset(rejection.event for rejection in self.rejected.get(None, ()))

    def can_change_score(self, findings: Findings) -> bool:
        """Return whether the score differs if none of the objections to these findings hold."""
        claimed = {claim.step: claim.status for claim in self.contested}
        claimed |= dict.fromkeys(self.unanswered, Status.EXECUTED)
        best = Findings(
            tuple(
                step
                if step.status is Status.OUT_OF_ORDER
                else replace(step, status=claimed.get(step.number, step.status))
                for step in findings.steps
            ),
            tuple(extra for extra in findings.extras if extra.event not in self.unaccounted),
        )
        lost = [_count_extra(rejection) for rejection in self.rejected.get(None, ())]
        worst = Findings(findings.steps, (*findings.extras, *lost))
        return compute_score(best) != compute_score(worst)

    def select_window(self, events: Sequence[str], claims: Claims) -> SecondQuestion:
        """Return the part of the question that is about the answer on one window."""
        here = frozenset(events)
        own = (claims.steps.get(claim.step) for claim in self.contested)
        extras = [each for each in self.rejected.get(None, ()) if each.event in claims.extras]
        return replace(
            self,
            contested=tuple(c for c in own if c is not None and c.status is not Status.MISSING),
            unaccounted=tuple(event for event in self.unaccounted if event in here),
            rejected={**self.rejected, None: extras},
        )

    def render_prompt(self, max_chars: int, mark: str) -> str:
        """Return the question in at most `max_chars` characters, with as many entries as fit.

        The first answer is a model's output with quotes from the trace, so it is treated as data
        and fenced like the case.
        """
        longest, short = _QUOTE_LENGTHS
        entries = [*self._list_entries(longest)]
        entry_count = min(len(entries), _MAX_NAMED)
        prompt = _render_entries(entries, entry_count, mark)
        if len(prompt) > max_chars:
            entries = [*self._list_entries(short)]
            prompt = _render_entries(entries, entry_count, mark)
        while len(prompt) > max_chars and entry_count:
            entry_count -= 1
            prompt = _render_entries(entries, entry_count, mark)
        return prompt

    def _list_entries(self, longest: int) -> Iterator[str]:
        """Yield the contested items, with quotes of at most `longest` characters."""
        for claim in self.contested:
            yield _describe_step(
                claim,
                sorted(self.kinds.get(claim.step, STRICTEST)),
                self.rejected.get(claim.step, ()),
                self.absent_values.get(claim.step),
                longest,
            )
        for rejection in self.rejected.get(None, ()):
            yield f"extra {_format_citation(rejection, longest)}\n{_describe_rejection(rejection)}"
        if self.unanswered:
            named = ", ".join(map(write_name, self.unanswered[:_MAX_NAMED]))
            yield f"steps that have no answer: {named}"
        if self.unaccounted:
            named = ", ".join(map(write_id, self.unaccounted[:_MAX_NAMED]))
            yield f"actions under no step and no extra: {named}"


def _render_entries(entries: Sequence[str], entry_count: int, mark: str) -> str:
    omitted = len(entries) - entry_count
    shown = [*entries[:entry_count], *([f"(and {omitted} more)"] if omitted else ())]
    return render("audit_again.jinja", told=wrap_in_fence("answer", "\n".join(shown), mark))


def _count_extra(rejection: RejectedEvidence) -> Extra:
    """Return the extra that a rejected claim would be if its quote were right."""
    return Extra(
        event=rejection.event,
        pointer="",
        quote=rejection.quote,
        what="",
        severity=Severity.MAJOR,
        confidence=0.0,
    )


def _describe_step(
    claim: Claim,
    kinds: Sequence[str],
    rejected: Sequence[RejectedEvidence],
    absent: str | None,
    longest: int,
) -> str:
    answer = claim.to_answer()
    answer["evidence"] = [
        {name: clip_middle(text, longest) for name, text in citation.items()}
        for citation in answer["evidence"][:_MAX_SHOWN]
    ]
    answer["events"] = [event[:_MAX_ID_CHARS] for event in answer["events"][: 3 * _MAX_SHOWN]]
    answer["same"] = [
        {name: clip_middle(text, longest) for name, text in same.items()}
        for same in answer["same"][:_MAX_SHOWN]
    ]
    name = write_name(claim.step)
    lines = [f"step {name} ({', '.join(kinds)}), you said: {to_compact_json(answer)}"]
    # The rejected quotes are already in the answer above, so they are shown shorter.
    lines += [
        f"{_describe_rejection(rejection)}: {_format_citation(rejection, longest // 2)}"
        for rejection in rejected[:_MAX_SHOWN]
    ]
    if len(rejected) > _MAX_SHOWN:
        lines.append(f"  (and {len(rejected) - _MAX_SHOWN} more not accepted)")
    if absent is not None:
        lines.append(f"  not shown, {escape_text(clip_middle(absent, longest))}")
    return "\n".join(lines)


def _describe_rejection(rejected: RejectedEvidence) -> str:
    return f"  not accepted, {escape_text(rejected.why)}"


def _format_citation(rejected: RejectedEvidence, longest: int) -> str:
    quote = wrap_in_guillemets(clip_middle(rejected.quote, longest))
    return f"{write_id(rejected.event[:_MAX_ID_CHARS])} {quote}"
