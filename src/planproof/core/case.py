"""The case: a user task, the agent's plan and the execution trace, as given."""

from __future__ import annotations

from dataclasses import dataclass, field

from planproof.core.content import Content, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case to judge. `plan` and `trace` are raw, in any readable format.

    Without a plan, the one declared in the trace is used; without a task, the first user message.
    """

    task: Content | None
    plan: Json
    trace: Json
    id: str | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
