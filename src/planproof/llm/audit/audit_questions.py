"""Asking a model to audit a case: whole or in windows, and once more about what did not stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import cast

from planproof.core.content import Content, Image
from planproof.core.gather import gather_or_cancel
from planproof.core.judge import ModelOptions
from planproof.core.judgement import PromptCoverage
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.llm.audit.audit_answers import (
    AuditAnswer,
    ClaimedExtra,
    Claims,
    merge_claims,
    parse_claims,
    revise_claims,
)
from planproof.llm.audit.audit_findings import ClaimVerifier, VerifiedClaims
from planproof.llm.audit.second_question import MIN_SECOND_QUESTION_CHARS, SecondQuestion
from planproof.llm.prompting.case_prompt import CasePrompt, CaseWriter
from planproof.llm.prompting.escaping import write_name
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.show_question import count_characters
from planproof.llm.prompting.templates import compute_prompts_digest, render

_MIN_BUDGET = 4_000
"""Characters: a budget that a context-length error may bring a request down to, by halves."""
_MIN_SECONDS_TO_REASK = 1.0
_REASK_BUDGET_DIVISOR = 20


@dataclass(frozen=True, slots=True)
class AuditScope:
    """What is asked about: some steps, by number, and some events.

    The other steps are `settled`, with the events that they cover, and so are some `extras`.
    """

    steps: tuple[str, ...]
    events: tuple[str, ...]
    settled_steps: Mapping[str, list[str]]
    settled_extras: Mapping[str, ClaimedExtra]

    def add_settled_extras(self, claims: Claims) -> Claims:
        """The claims, with the extras that nobody was asked about."""
        return Claims(claims.steps, {**self.settled_extras, **claims.extras})

    def render_prompt(self) -> str:
        """What a model is told of it."""
        return render("audit_only.jinja", steps=[*map(write_name, self.steps)])


@dataclass(frozen=True, slots=True)
class AuditResponse:
    """What a model claims, and how much it was shown."""

    claims: Claims
    usage: Usage
    shown: PromptCoverage
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Window:
    """A question, the events that it is about, and the characters that may be added to it.

    `mark` is that of the case, for what is added.
    """

    question: Question
    events: tuple[str, ...]
    spare_chars: int
    mark: str


@dataclass(frozen=True, slots=True)
class _AuditQuestions:
    """A case as questions, and what is shown of it."""

    windows: tuple[_Window, ...]
    shown: PromptCoverage
    notes: tuple[str, ...]

    @property
    def max_chars(self) -> int:
        """Characters of the longest question."""
        return max(count_characters(window.question) for window in self.windows)


class Auditor:
    """Asks one model about one case."""

    def __init__(
        self,
        model: Model,
        options: ModelOptions,
        case: tuple[Content, Plan, Trace],
        verifier: ClaimVerifier,
        scope: AuditScope | None = None,
    ) -> None:
        self._model = model
        self._options = options
        self._case = case
        self._verifier = verifier
        self._scope = scope
        self._deadline = monotonic() + options.deadline
        self._usage = Usage()
        self._warnings: list[str] = []

    async def ask(self) -> AuditResponse:
        """The claims on the whole of what is asked; `ModelFailed` if a part of it got no answer."""
        budget = self._options.budget
        try:
            while True:
                questions = self._build_questions(budget)
                try:
                    return await self._ask_windows(questions)
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
        """What is asked first, one question a window."""
        return tuple(
            window.question for window in self._build_questions(self._options.budget).windows
        )

    def verify_claims(self, claims: Claims) -> VerifiedClaims:
        """What is left of claims; what nobody was asked about stands as it is."""
        if self._scope is None:
            return self._verifier.verify(claims)
        return self._verifier.verify(
            self._scope.add_settled_extras(claims), self._scope.settled_steps
        )

    async def _ask_windows(self, questions: _AuditQuestions) -> AuditResponse:
        claims = await gather_or_cancel(map(self._ask_window, questions.windows))
        return AuditResponse(
            merge_claims(claims),
            self._usage,
            questions.shown,
            questions.notes,
            tuple(self._warnings),
        )

    def _build_questions(self, budget: int) -> _AuditQuestions:
        images = ImageRules(allow_urls=self._options.image_urls)
        ending = () if self._scope is None else (self._scope.render_prompt(),)
        # A part of the budget is for what a second question has to say of the first answer.
        case_budget = (
            budget
            - sum(map(len, ending))
            - max(MIN_SECOND_QUESTION_CHARS, budget // _REASK_BUDGET_DIVISOR)
        )
        writer = CaseWriter(*self._case, budget=case_budget, images=images)
        instructions = render("audit.jinja", images=writer.has_images, mark="")
        cases = self._write_cases(writer, instructions)
        if not all(case.within_budget for case in cases):
            words = f"not even a line an event fits into {budget:,} characters"
            raise ModelFailed(Cause.TOO_LONG, words, model=self._model.name)
        windows: list[_Window] = []
        for case in cases:
            question = self._build_question(instructions, (*case.parts, *ending))
            spare_chars = budget - count_characters(question)
            windows.append(_Window(question, case.events, spare_chars, writer.mark))
        return _AuditQuestions(tuple(windows), _count_shown(cases), writer.notes)

    def _write_cases(self, writer: CaseWriter, instructions: str) -> Sequence[CasePrompt]:
        return writer.write_windows(
            instructions, None if self._scope is None else self._scope.events
        )

    async def _ask_window(self, window: _Window) -> Claims:
        first = parse_claims(await self._ask_model(window.question), window.events)
        second_question = self._build_second_question(first, window)
        if not second_question or self._deadline - monotonic() < _MIN_SECONDS_TO_REASK:
            return first
        first_question = window.question
        addition = second_question.render_prompt(window.spare_chars, window.mark)
        try:
            second = await self._ask_model(
                self._build_question(first_question.instructions, (*first_question.parts, addition))
            )
        except ModelFailed as failed:
            # What was answered first is an answer still; what did not stand in it falls away.
            self._warnings.append(f"asked again, {self._model.name} gave no answer: {failed.cause}")
            return first
        return revise_claims(
            first,
            parse_claims(second, window.events),
            second_question.steps,
            second_question.extras,
        )

    def _build_second_question(self, claims: Claims, window: _Window) -> SecondQuestion:
        leaves = (step.number for step in self._case[1].leaves)
        step_numbers = leaves if self._scope is None else self._scope.steps
        return SecondQuestion(self.verify_claims(claims), window.events, step_numbers, claims)

    def _build_question(self, instructions: str, parts: tuple[str | Image, ...]) -> Question:
        sample = self._options.sample
        return Question(instructions, parts, AuditAnswer, compute_prompts_digest(), sample)

    async def _ask_model(self, question: Question) -> AuditAnswer:
        try:
            answer = await self._model.ask(question, deadline=self._deadline)
        except ModelFailed as failed:
            self._usage += failed.usage
            raise
        self._usage += answer.usage
        return cast("AuditAnswer", answer.value)


def _count_shown(cases: Sequence[CasePrompt]) -> PromptCoverage:
    events = {event for case in cases for event in case.events}
    return PromptCoverage(
        events=len(events),
        shortened=min(len(events), sum(case.shortened for case in cases)),
        windows=len(cases),
        images=max(case.image_count for case in cases),
    )
