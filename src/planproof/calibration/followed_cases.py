"""Cases for measuring a judge: the built-in ones, or a user's own whose plans were followed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, cast

from planproof.calibration.variant import EventRecord, FollowedCase
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.judge import AnyJudge
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.evaluation import ReadOptions, load_case
from planproof.readers.native import serialize_trace

BUILT_IN_NOTE = "The 16 built-in cases were used in development: expect lower figures on yours."
"""Note shown with all figures on the built-in cases."""


@cache
def load_built_in_cases() -> tuple[FollowedCase, ...]:
    """Load the built-in cases from `cases.jsonl`; their plans were followed exactly."""
    text = files("planproof.calibration").joinpath("cases.jsonl").read_text("utf-8")
    return tuple(_parse_built_in_case(json.loads(line)) for line in text.splitlines())


def _parse_built_in_case(line: dict[str, Any]) -> FollowedCase:
    events: list[EventRecord] = [{"kind": "message", "actor": "user", "text": line["task"]}]
    for record in line["events"]:
        if isinstance(record, str):
            events.append({"kind": "message", "actor": "assistant", "text": record})
        elif isinstance(record, dict):
            events.append({"kind": "reasoning", "actor": "assistant", "text": record["think"]})
        else:
            name, arguments, output = record
            events.append(
                {"kind": "action", "name": name, "arguments": arguments, "output": output}
            )
    numbered = tuple(
        {"id": f"e{number}", "turn": number, **event} for number, event in enumerate(events, 1)
    )
    return FollowedCase(line["id"], Content(line["task"]), tuple(line["plan"]), numbered)


def build_followed_case(case: Case, judge: AnyJudge, options: ReadOptions, id: str) -> FollowedCase:  # noqa: A002
    """Convert a user's case to the native form; its plan is assumed to have been followed."""
    loaded = load_case(case, judge, options)
    if isinstance(loaded, Verdict):
        raise InvalidInput(loaded.reason, where=options.where)
    record = cast("dict[str, Any]", serialize_trace(loaded.timeline.trace))
    steps = tuple(step.text for step in loaded.timeline.last_plan.leaves)
    return FollowedCase(case.id or id, loaded.task, steps, tuple(record["events"]))


_LABEL_ADVICE = 'Write labels as {"id": "case-1", "score": 0.75}.'


def read_labels(lines: Iterable[str], name: str) -> dict[str, float]:
    """Read labels: scores by case id."""
    labels: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            label: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                f"is not valid JSON: {error}.", where=where, advice=_LABEL_ADVICE
            ) from error
        fields = cast("dict[str, Any]", label) if isinstance(label, dict) else {}
        case, score = fields.get("id"), fields.get("score")
        if not isinstance(case, str) or isinstance(score, bool):
            raise InvalidInput("is not a valid label.", where=where, advice=_LABEL_ADVICE)
        if not isinstance(score, int | float) or not 0 <= score <= 1:
            raise InvalidInput("the score must be from 0 to 1.", where=where, advice=_LABEL_ADVICE)
        if case in labels:
            raise InvalidInput(
                f"`{case}` already has a label.", where=where, advice="Remove one of them."
            )
        labels[case] = float(score)
    return labels
