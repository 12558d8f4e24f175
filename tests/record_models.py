"""Models that say what the records of a trace are, for the reader `records`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planproof.core.model import Answer, Question
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import Event, Kind, RecordKind, Trace
from planproof.llm.record_kinds import RecordsAnswer
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.native import serialize_trace
from planproof.readers.records import classify_records
from tests.audit_models import honest
from tests.fake_model import FakeModel

_KINDS = {
    Kind.ACTION: "action",
    Kind.MESSAGE: "message",
    Kind.REASONING: "reasoning",
    Kind.BOOKKEEPING: "reasoning",
    Kind.OBSERVATION: "result",
    Kind.SYSTEM: "other",
}


def record_answer(
    records: str, kind: str, name: str | None = None, of: str | None = None
) -> dict[str, Any]:
    """What a model says of records."""
    return {"records": records, "kind": kind, "name": name, "of": of}


class RecordsModel(FakeModel):
    """Says of records what it was told to, and answers other questions like `judging`."""

    def __init__(self, records: list[dict[str, Any]], judging: FakeModel) -> None:
        super().__init__({"records": records})
        self.judging = judging

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        if question.answer is RecordsAnswer:
            return await super().ask(question, deadline=deadline)
        return await self.judging.ask(question, deadline=deadline)


def make_honest_model(source: Source, plan: list[str]) -> RecordsModel:
    """A model that knows the format, and then judges as the rules do."""
    records = [*_say_what_they_are(source)]
    kinds = [
        RecordKind(events=r["records"], kind=r["kind"], name=r["name"], of=r["of"]) for r in records
    ]
    classified = classify_records(read_trace(source, reader="records"), kinds)
    case = {"agent_plan": plan, "execution_trace": serialize_trace(classified.trace)}
    return RecordsModel(records, FakeModel(honest(case)))


def _say_what_they_are(source: Source) -> Iterator[dict[str, Any]]:
    """Yield for each record what the reader of its format makes of it."""
    known, records = read_trace(source), read_trace(source, reader="records")
    actions: dict[str, str] = {}
    for record in records.events:
        here = [event for event in known.events if _overlap(event.pointer, record.pointer)]
        action = next((event for event in here if event.kind is Kind.ACTION), None)
        returned = [
            e
            for e in known.events
            if e.output_pointer and _overlap(e.output_pointer, record.pointer)
        ]
        if action is not None and action.name and _holds(record, action.name):
            actions.setdefault(action.id, record.id)
            yield record_answer(record.id, "action", action.name)
        elif returned:
            yield record_answer(record.id, "result", of=actions.get(returned[0].id))
        else:
            kind = _KINDS[here[0].kind] if here and here[0].kind is not Kind.ACTION else "other"
            yield record_answer(record.id, "user" if here and here[0].actor == "user" else kind)


def _holds(record: Event, name: str) -> bool:
    return is_quote_in(name, to_searchable_text(record.arguments or record.text))


def _overlap(one: str, other: str) -> bool:
    """Return whether one pointer leads into what the other leads to."""
    if _get_lines(one) and _get_lines(other):
        (first, last), (start, end) = _get_lines(one), _get_lines(other)
        return start <= last and first <= end
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _get_lines(pointer: str) -> tuple[int, ...]:
    numbers = pointer.removeprefix("L").partition(":")[0].split("-")
    if not pointer.startswith("L") or not all(map(str.isdecimal, numbers)):
        return ()
    return int(numbers[0]), int(numbers[-1])


def plan_actions(trace: Trace, count: int) -> list[str]:
    """Return a plan that names the first few tools of a trace."""
    names = dict.fromkeys(e.name for e in trace.events if e.kind is Kind.ACTION and e.name)
    return [f"Call {name}" for name in [*names][:count]]
