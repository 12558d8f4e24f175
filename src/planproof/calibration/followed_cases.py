"""The cases that a judge is measured on: built-in ones, or a user's own that were followed."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, cast

from planproof.calibration.variant import EventRecord, FollowedCase
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.judge import AnyJudge
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.preparation import ReadOptions, load_case
from planproof.readers.write_native import serialize_trace

BUILT_IN_NOTE = "The 16 built-in cases were used to develop planproof: expect less on your own."
"""What to say wherever figures on the built-in cases are shown."""


@cache
def load_built_in_cases() -> tuple[FollowedCase, ...]:
    """The cases in the file beside this module, whose plans were followed exactly."""
    text = files("planproof.calibration").joinpath("cases.jsonl").read_text("utf-8")
    return tuple(_parse_built_in_case(json.loads(line)) for line in text.splitlines())


def _parse_built_in_case(line: dict[str, Any]) -> FollowedCase:
    events: list[EventRecord] = [{"kind": "message", "actor": "user", "text": line["task"]}]
    for written in line["events"]:
        if isinstance(written, str):
            events.append({"kind": "message", "actor": "assistant", "text": written})
        elif isinstance(written, dict):
            events.append({"kind": "reasoning", "actor": "assistant", "text": written["think"]})
        else:
            name, arguments, output = written
            events.append(
                {"kind": "action", "name": name, "arguments": arguments, "output": output}
            )
    numbered = tuple(
        {"id": f"e{number}", "turn": number, **event} for number, event in enumerate(events, 1)
    )
    return FollowedCase(line["id"], Content(line["task"]), tuple(line["plan"]), numbered)


def build_followed_case(case: Case, judge: AnyJudge, options: ReadOptions, id: str) -> FollowedCase:  # noqa: A002
    """A case of a user's, in the native form; its plan is taken to have been followed exactly."""
    loaded = load_case(case, judge, options)
    if isinstance(loaded, Verdict):
        raise InvalidInput(loaded.reason, where=options.where)
    written = cast("dict[str, Any]", serialize_trace(loaded.timeline.trace))
    steps = tuple(step.text for step in loaded.timeline.last_plan.leaves)
    return FollowedCase(case.id or id, loaded.task, steps, tuple(written["events"]))
