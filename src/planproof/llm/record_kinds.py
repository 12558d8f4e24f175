"""Ask a model which records of a trace are actions, messages or results.

For the reader `records`. The model sees no plan, so that it can't make the records fit one. What it
says is checked against the records; the judge then sees an ordinary trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from planproof.core.async_bridge import gather_or_cancel
from planproof.core.content import Content
from planproof.core.judge import AnyJudge, ModelJudge, ModelOptions
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import RecordKind, Trace
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.llm.answer_fields import Text
from planproof.llm.prompting.case_prompt import CaseWriter, count_characters
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.templates import compute_prompts_digest, render
from planproof.readers.records import ClassifiedRecords, classify_records

_MAX_NOTES = 5
_DEADLINE_SHARE = 0.5
_MIN_BUDGET = 4_000
"""Characters. The budget is halved after context-length errors, but not below this."""


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class RecordAnswer(BaseModel):
    """What one record, or a range of records, is."""

    model_config = ConfigDict(extra="ignore")

    records: Text = Field(description="Id of a record, or a range: e4, e7-e12.")
    kind: Literal["action", "result", "message", "reasoning", "user", "continuation", "other"]
    name: Text | None = Field(description="Of an action: tool or command, copied from the record.")
    of: Text | None = Field(description="Of a result: the id of its action.")


class RecordsAnswer(BaseModel):
    """The whole answer."""

    model_config = ConfigDict(extra="ignore")

    records: list[RecordAnswer]


@dataclass(frozen=True, slots=True)
class ReadRecords:
    """A trace whose records have kinds, the judge for the time that is left, notes and usage."""

    classified: ClassifiedRecords
    judge: ModelJudge
    notes: tuple[str, ...]
    usage: Usage


async def read_records(trace: Trace, judge: AnyJudge) -> ReadRecords:
    """Let the judge's model classify the records of a trace; of several models, the first."""
    known = _find_model(judge)
    if known is None:
        raise InvalidInput(f"the judge `{judge.name}` names no model that could classify records.")
    model, options = known
    began = monotonic()
    asker = _RecordsAsker(trace, model, options, began + options.deadline * _DEADLINE_SHARE)
    try:
        answers = await asker.ask()
    except ModelFailed as failed:
        raise ModelFailed(
            failed.cause, failed.detail, model=model.name, usage=asker.usage
        ) from failed
    classified = classify_records(trace, _list_kinds(answers))
    return ReadRecords(
        classified,
        _limit_deadline(judge, began),
        _write_notes(classified, model.name),
        asker.usage,
    )


class _RecordsAsker:
    """Asks one model about the records of one trace."""

    def __init__(self, trace: Trace, model: Model, options: ModelOptions, deadline: float) -> None:
        self._trace = trace
        self._model = model
        self._options = options
        self._deadline = deadline
        self.usage = Usage()

    async def ask(self) -> list[RecordsAnswer]:
        """Return the answers on all windows; shorter windows if the model finds them too long."""
        budget = self._options.budget
        while True:
            options = replace(self._options, budget=budget)
            questions = [*build_record_questions(self._trace, options, self._model)]
            try:
                return await gather_or_cancel(map(self._ask_window, questions))
            except ModelFailed as failed:
                budget = min(budget, max(map(count_characters, questions))) // 2
                if failed.cause is not Cause.TOO_LONG or budget < _MIN_BUDGET:
                    raise

    async def _ask_window(self, question: Question) -> RecordsAnswer:
        try:
            answer = await self._model.ask(question, deadline=self._deadline)
        except ModelFailed as failed:
            self.usage += failed.usage
            raise
        self.usage += answer.usage
        return cast("RecordsAnswer", answer.value)


def list_record_questions(trace: Trace, judge: AnyJudge) -> tuple[Question, ...]:
    """Return what the judge's model would be asked about the records of a trace."""
    known = _find_model(judge)
    return () if known is None else tuple(build_record_questions(trace, known[1], known[0]))


def build_record_questions(trace: Trace, options: ModelOptions, model: Model) -> Iterator[Question]:
    """Yield the questions about the records: one, or one for each window."""
    images = ImageRules(allow_urls=options.image_urls)
    writer = CaseWriter(Content(), Plan(()), trace, budget=options.budget, images=images)
    instructions = render("record_kinds.jinja", mark="")
    cases = writer.write_windows(instructions)
    if not all(case.within_budget for case in cases):
        message = f"even one line per record does not fit into {options.budget:,} characters"
        raise ModelFailed(Cause.TOO_LONG, message, model=model.name)
    for case in cases:
        yield Question(
            instructions, case.parts, RecordsAnswer, compute_prompts_digest(), options.sample
        )


def _list_kinds(answers: Sequence[RecordsAnswer]) -> Iterator[RecordKind]:
    """Yield the kinds of all windows. Windows overlap: of two kinds, the first counts."""
    for answer in answers:
        for item in answer.records:
            yield RecordKind(
                events="-".join(part.strip() for part in item.records.replace("–", "-").split("-")),
                kind=item.kind,
                name=item.name,
                of=item.of and item.of.strip(),
            )


def _write_notes(classified: ClassifiedRecords, model: str) -> tuple[str, ...]:
    counts = classified.trace.record_counts
    assert counts is not None
    notes = [f"{counts.read:,} of {counts.records:,} records were classified by {model}"]
    notes += classified.objections[:_MAX_NOTES]
    if len(classified.objections) > _MAX_NOTES:
        notes.append(f"and {len(classified.objections) - _MAX_NOTES} more")
    return tuple(notes)


def _find_model(judge: Any) -> tuple[Model, ModelOptions] | None:
    """Return the model and the options of a judge; of a panel or of samples, the first."""
    judges = getattr(judge, "judges", None)
    if judges:
        return _find_model(judges[0])
    model, options = getattr(judge, "model", None), getattr(judge, "options", None)
    return (model, options) if model is not None and isinstance(options, ModelOptions) else None


def _limit_deadline(judge: Any, began: float) -> Any:
    """Return the judge with the time that is left of its deadline."""
    if judges := getattr(judge, "judges", None):
        return replace(judge, judges=tuple(_limit_deadline(one, began) for one in judges))
    left = max(0.0, judge.options.deadline - (monotonic() - began))
    return replace(judge, options=replace(judge.options, deadline=left))
