"""The case: a user task, the agent's plan and the execution trace, as they came in."""

from __future__ import annotations

from dataclasses import dataclass, field

from planproof.core.content import Content, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is to be judged. `plan` and `trace` are still raw: any shape that can be read.

    Without a plan, the one that was declared in the trace is meant; without a task, the first
    thing that the user says there.
    """

    task: Content | None
    plan: Json
    trace: Json
    id: str | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
