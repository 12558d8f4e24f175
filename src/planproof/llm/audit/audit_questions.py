"""Ask a model to audit a case, whole or in windows, and ask again about rejected evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import cast

from planproof.core.async_bridge import gather_or_cancel
from planproof.core.content import Content, Image
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
    merge_claims,
    parse_claims,
    revise_claims,
)
from planproof.llm.audit.audit_findings import ClaimVerifier, VerifiedClaims
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

_MIN_BUDGET = 4_000
"""Characters. The budget is halved after context-length errors, but not below this."""
_MIN_SECONDS_TO_REASK = 1.0
_REASK_BUDGET_DIVISOR = 20


@dataclass(frozen=True, slots=True)
class AuditScope:
    """The steps (by number) and events that a model is asked about.

    `settled_steps` maps the other steps to the events that they cover; `settled_extras` are extras
    that need no question.
    """

    steps: tuple[str, ...]
    events: tuple[str, ...]
    settled_steps: Mapping[str, list[str]]
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
        """Ask all questions and return the claims; `ModelFailed` if one gets no answer."""
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
        """Return the first questions, one per window."""
        return tuple(
            window.question for window in self._build_questions(self._options.budget).windows
        )

    def verify_claims(self, claims: Claims) -> VerifiedClaims:
        """Verify claims; settled steps and extras are kept as they are."""
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
        # Reserve a part of the budget for the second question, which repeats the first answer.
        case_budget = (
            budget
            - sum(map(len, ending))
            - max(MIN_SECOND_QUESTION_CHARS, budget // _REASK_BUDGET_DIVISOR)
        )
        writer = CaseWriter(*self._case, budget=case_budget, images=images)
        instructions = render("audit.jinja", images=writer.has_images, mark="")
        cases = self._write_cases(writer, instructions)
        if not all(case.within_budget for case in cases):
            message = f"even one line per event does not fit into {budget:,} characters"
            raise ModelFailed(Cause.TOO_LONG, message, model=self._model.name)
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
            # The first answer is still valid; its rejected evidence is dropped.
            self._warnings.append(
                f"{self._model.name} gave no answer to the second question: {failed.cause}"
            )
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


MIN_SECOND_QUESTION_CHARS = 2_000
"""Characters needed for a second question: its rules and a part of the first answer."""
_MAX_NAMED = 40
_MAX_SHOWN = 3
_QUOTE_LENGTHS = (240, 80)
_MAX_ID_CHARS = 80


class SecondQuestion:
    """The contested part of a first answer, with the program's objections.

    `steps` are asked about again; `extras` are events whose claim to be extras is contested.
    """

    def __init__(
        self,
        verified: VerifiedClaims,
        events: Sequence[str],
        step_numbers: Iterable[str],
        claims: Claims,
    ) -> None:
        here = frozenset(events)
        self._unaccounted = [event for event in verified.unaccounted_actions if event in here]
        self._unanswered = [number for number in step_numbers if number not in claims.steps]
        self._rejected: dict[str | None, list[RejectedEvidence]] = {}
        for rejection in verified.rejected:
            self._rejected.setdefault(rejection.step, []).append(rejection)
        self._doubts = verified.doubts
        open_to_doubt = self._rejected.keys() | verified.doubts.keys()
        self._contested = [c for number, c in claims.steps.items() if number in open_to_doubt]
        self.steps = frozenset(claim.step for claim in self._contested).union(self._unanswered)
        self.extras = frozenset(rejection.event for rejection in self._rejected.get(None, ()))

    def __bool__(self) -> bool:
        """Return True if there is anything to ask."""
        return bool(self.steps or self.extras or self._unaccounted)

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
        for claim in self._contested:
            rejected = self._rejected.get(claim.step, ())
            yield _describe_step(claim, rejected, self._doubts.get(claim.step), longest)
        for rejection in self._rejected.get(None, ()):
            yield f"extra {_format_citation(rejection, longest)}\n{_describe_rejection(rejection)}"
        if self._unanswered:
            named = ", ".join(map(write_name, self._unanswered[:_MAX_NAMED]))
            yield f"steps that have no answer: {named}"
        if self._unaccounted:
            named = ", ".join(map(write_id, self._unaccounted[:_MAX_NAMED]))
            yield f"actions under no step and no extra: {named}"


def _render_entries(entries: Sequence[str], entry_count: int, mark: str) -> str:
    omitted = len(entries) - entry_count
    shown = [*entries[:entry_count], *([f"(and {omitted} more)"] if omitted else ())]
    return render("audit_again.jinja", told=wrap_in_fence("answer", "\n".join(shown), mark))


def _describe_step(
    claim: Claim, rejected: Sequence[RejectedEvidence], doubt: str | None, longest: int
) -> str:
    answer = claim.to_answer()
    answer["evidence"] = [
        {name: clip_middle(text, longest) for name, text in citation.items()}
        for citation in answer["evidence"][:_MAX_SHOWN]
    ]
    answer["events"] = [event[:_MAX_ID_CHARS] for event in answer["events"][: 3 * _MAX_SHOWN]]
    lines = [f"step {write_name(claim.step)}, you said: {to_compact_json(answer)}"]
    # The rejected quotes are already in the answer above, so they are shown shorter.
    lines += [
        f"{_describe_rejection(rejection)}: {_format_citation(rejection, longest // 2)}"
        for rejection in rejected[:_MAX_SHOWN]
    ]
    if len(rejected) > _MAX_SHOWN:
        lines.append(f"  (and {len(rejected) - _MAX_SHOWN} more not accepted)")
    if doubt is not None:
        doubt_text = escape_text(clip_middle(doubt, longest))
        lines.append(f"  not confirmed by a search for words and values: {doubt_text}")
    return "\n".join(lines)


def _describe_rejection(rejected: RejectedEvidence) -> str:
    return f"  not accepted, {escape_text(rejected.why)}"


def _format_citation(rejected: RejectedEvidence, longest: int) -> str:
    quote = wrap_in_guillemets(clip_middle(rejected.quote, longest))
    return f"{write_id(rejected.event[:_MAX_ID_CHARS])} {quote}"
