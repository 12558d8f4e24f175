"""Cases for measuring a judge: the built-in ones, or a user's own, followed or labelled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from planproof.calibration.case_labels import Label
from planproof.calibration.variant import EventRecord, FollowedCase
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.judge import AnyJudge
from planproof.core.plan import Step
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.evaluation import LoadedCase, ReadOptions, invalid_input_verdict, load_case
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
    return _convert_case(loaded, case.id or id)


def build_labelled_case(
    case: Case,
    label: Label,
    judge: AnyJudge,
    options: ReadOptions,
    id: str,  # noqa: A002 - the name of the field
) -> FollowedCase | Verdict:
    """Convert a labelled case to the native form; return a verdict if it can't be judged."""
    try:
        loaded = load_case(case, judge, options)
    except InvalidInput as error:
        return invalid_input_verdict(error, id=case.id)
    if isinstance(loaded, Verdict):
        return loaded
    flawed_step = _find_flawed_step(label, loaded.timeline.last_plan.leaves, options.where)
    converted = _convert_case(loaded, case.id or id)
    return replace(converted, label=label, flawed_step=flawed_step)


def _convert_case(loaded: LoadedCase, id: str) -> FollowedCase:  # noqa: A002
    record = cast("dict[str, Any]", serialize_trace(loaded.timeline.trace))
    steps = tuple(step.text for step in loaded.timeline.last_plan.leaves)
    return FollowedCase(id, loaded.task, steps, tuple(record["events"]))


def _find_flawed_step(label: Label, steps: Sequence[Step], where: str | None) -> int | None:
    """Return the index of the step that a label names, if it names one."""
    if label.followed or not label.step:
        return None
    numbers = [step.number for step in steps]
    if label.step not in numbers:
        raise InvalidInput(
            f"the label names step {label.step}, which the plan does not have.",
            where=where,
            advice=f"The steps are {', '.join(numbers)}.",
        )
    return numbers.index(label.step)
