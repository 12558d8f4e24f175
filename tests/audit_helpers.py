"""Audits of hand-written events, by models that answer what a test writes down."""

from __future__ import annotations

import asyncio
from typing import Any

from planproof.core.content import Content
from planproof.core.finding import Status
from planproof.core.judge import Judgement, ModelOptions
from planproof.core.plan import Plan
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.trace_builders import trace


def step_answer(
    number: str,
    status: str,
    *cited: tuple[str, str],
    events: Any = (),
    same: Any = (),
    kind: str = "act",
) -> dict[str, Any]:
    """What a model says of a step.

    Its `kind`, or several with blanks between, is what it says when it is asked about the plan.
    """
    return {
        "step": number,
        "kind": kind.split(),
        "status": status,
        "evidence": [{"event": event, "quote": quote} for event, quote in cited],
        "events": [*events],
        "same": [*same],
    }


def audit_answer(*steps: dict[str, Any], extras: Any = ()) -> dict[str, Any]:
    """A whole answer."""
    return {"steps": [*steps], "extras": [*extras]}


def run_audit(model: Any, events: Any, plan: Plan, **asking: Any) -> Judgement:
    """The judgement of `audit` with this model on these events."""
    judge = Audit(Vocabulary(), model, ModelOptions(**asking))
    read = read_trace(Source.from_value(trace(*events)))
    return asyncio.run(judge.judge(Content("Tidy up."), plan, read))


def statuses(judgement: Judgement) -> list[Status]:
    """The status of each step, in plan order."""
    assert judgement.findings is not None
    return [found.status for found in judgement.findings.steps]
