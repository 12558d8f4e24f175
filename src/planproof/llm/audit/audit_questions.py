"""Asking a model to audit a case: whole or in windows, and once more about what did not stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import cast

from planproof.core.content import Content, Image
from planproof.core.gather import together
from planproof.core.judge import Asking
from planproof.core.judgement import Shown
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.llm.audit.audit_answers import (
    AuditAnswer,
    ClaimedExtra,
    Claims,
    claims_in,
    mended,
    merged,
)
from planproof.llm.audit.audit_findings import Examination, Examined
from planproof.llm.audit.second_question import LEAST_ROOM, SecondQuestion
from planproof.llm.prompting.case_prompt import CaseWriter, WrittenCase
from planproof.llm.prompting.escaping import name_written
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.show_question import characters
from planproof.llm.prompting.templates import digest_of_prompts, render

_SMALLEST = 4_000
"""Characters: a budget that a context-length error may bring a request down to, by halves."""
_TIME_TO_ASK_AGAIN = 1.0
_SHARE_AGAIN = 20


@dataclass(frozen=True, slots=True)
class Scope:
    """What is asked about: some steps, by number, and some events.

    The other steps are `settled`, with the events that they cover, and so are some `extras`.
    """

    steps: tuple[str, ...]
    events: tuple[str, ...]
    settled: Mapping[str, list[str]]
    extras: Mapping[str, ClaimedExtra]

    def completed(self, claims: Claims) -> Claims:
        """The claims, with the extras that nobody was asked about."""
        return Claims(claims.steps, {**self.extras, **claims.extras})

    def in_words(self) -> str:
        """What a model is told of it."""
        return render("audit_only.jinja", steps=[*map(name_written, self.steps)])


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model claims, and how much it was shown."""

    claims: Claims
    usage: Usage
    shown: Shown
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Window:
    """A question, the events that it is about, and the characters that may be added to it.

    `mark` is that of the case, for what is added.
    """

    question: Question
    events: tuple[str, ...]
    room: int
    mark: str


@dataclass(frozen=True, slots=True)
class _Written:
    """A case as questions, and what is shown of it."""

    windows: tuple[_Window, ...]
    shown: Shown
    notes: tuple[str, ...]

    @property
    def longest(self) -> int:
        """Characters of the longest question."""
        return max(characters(window.question) for window in self.windows)


class Auditor:
    """Asks one model about one case."""

    def __init__(
        self,
        model: Model,
        asking: Asking,
        case: tuple[Content, Plan, Trace],
        examination: Examination,
        scope: Scope | None = None,
    ) -> None:
        self._model = model
        self._asking = asking
        self._case = case
        self._examination = examination
        self._scope = scope
        self._deadline = monotonic() + asking.deadline
        self._usage = Usage()
        self._warnings: list[str] = []

    async def asked(self) -> Asked:
        """The claims on the whole of what is asked; `ModelFailed` if a part of it got no answer."""
        budget = self._asking.budget
        try:
            while True:
                written = self._written(budget)
                try:
                    return await self._answered(written)
                except ModelFailed as failed:
                    # Half of what was too long, which may be far less than the budget.
                    budget = min(budget, written.longest) // 2
                    if failed.cause is not Cause.TOO_LONG or budget < _SMALLEST:
                        raise
        except ModelFailed as failed:
            raise ModelFailed(
                failed.cause, failed.words, model=failed.model, usage=self._usage
            ) from failed

    def questions(self) -> tuple[Question, ...]:
        """What is asked first, one question a window."""
        return tuple(each.question for each in self._written(self._asking.budget).windows)

    def examined(self, claims: Claims) -> Examined:
        """What is left of claims; what nobody was asked about stands as it is."""
        if self._scope is None:
            return self._examination.of(claims)
        return self._examination.of(self._scope.completed(claims), self._scope.settled)

    async def _answered(self, written: _Written) -> Asked:
        claims = await together(map(self._window, written.windows))
        return Asked(
            merged(claims), self._usage, written.shown, written.notes, tuple(self._warnings)
        )

    def _written(self, budget: int) -> _Written:
        images = ImageRules(allow_urls=self._asking.image_urls)
        ending = () if self._scope is None else (self._scope.in_words(),)
        # A part of the budget is for what a second question has to say of the first answer.
        room = budget - sum(map(len, ending)) - max(LEAST_ROOM, budget // _SHARE_AGAIN)
        writer = CaseWriter(*self._case, budget=room, images=images)
        instructions = render("audit.jinja", images=writer.has_images, mark="")
        cases = self._cases(writer, instructions)
        if not all(each.fits for each in cases):
            words = f"not even a line an event fits into {budget:,} characters"
            raise ModelFailed(Cause.TOO_LONG, words, model=self._model.name)
        windows: list[_Window] = []
        for each in cases:
            question = self._question(instructions, (*each.parts, *ending))
            left = budget - characters(question)
            windows.append(_Window(question, each.events, left, writer.mark))
        return _Written(tuple(windows), _shown(cases), writer.notes)

    def _cases(self, writer: CaseWriter, instructions: str) -> Sequence[WrittenCase]:
        return writer.windows(instructions, None if self._scope is None else self._scope.events)

    async def _window(self, window: _Window) -> Claims:
        first = claims_in(await self._answer(window.question), window.events)
        again = self._again(first, window)
        if not again or self._deadline - monotonic() < _TIME_TO_ASK_AGAIN:
            return first
        asked = window.question
        more = again.in_words(window.room, window.mark)
        try:
            second = await self._answer(self._question(asked.instructions, (*asked.parts, more)))
        except ModelFailed as failed:
            # What was answered first is an answer still; what did not stand in it falls away.
            self._warnings.append(f"asked again, {self._model.name} gave no answer: {failed.cause}")
            return first
        return mended(first, claims_in(second, window.events), again.steps, again.extras)

    def _again(self, claims: Claims, window: _Window) -> SecondQuestion:
        leaves = (step.number for step in self._case[1].leaves)
        wanted = leaves if self._scope is None else self._scope.steps
        return SecondQuestion(self.examined(claims), window.events, wanted, claims)

    def _question(self, instructions: str, parts: tuple[str | Image, ...]) -> Question:
        sample = self._asking.sample
        return Question(instructions, parts, AuditAnswer, digest_of_prompts(), sample)

    async def _answer(self, question: Question) -> AuditAnswer:
        try:
            answer = await self._model.ask(question, deadline=self._deadline)
        except ModelFailed as failed:
            self._usage += failed.usage
            raise
        self._usage += answer.usage
        return cast("AuditAnswer", answer.value)


def _shown(cases: Sequence[WrittenCase]) -> Shown:
    events = {event for each in cases for event in each.events}
    return Shown(
        events=len(events),
        shortened=min(len(events), sum(each.shortened for each in cases)),
        windows=len(cases),
        images=max(each.images for each in cases),
    )
