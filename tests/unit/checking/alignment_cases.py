"""Events, units and demands, made with no more than a test wants to say."""

from __future__ import annotations

from typing import Any

from planproof.checking.candidates import Candidate, build_candidates
from planproof.checking.requirements import Requirement, compile_steps
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary


def call(name: str | None, *, text: str = "", output: str = "", **arguments: Any) -> Event:
    """A call of a tool; one without arguments has none at all."""
    return Event(
        id="e",
        kind=Kind.ACTION,
        pointer="/0",
        name=name,
        text=text,
        arguments=arguments or None,
        output=output,
    )


def says(text: str, actor: str = "assistant") -> Event:
    return Event(id="e", kind=Kind.MESSAGE, pointer="/0", actor=actor, text=text)


def thinks(text: str) -> Event:
    return Event(id="e", kind=Kind.REASONING, pointer="/0", text=text)


def make_candidates(*events: Event) -> list[Candidate]:
    return build_candidates(Trace(events), Vocabulary())


def make_requirements(*texts: str) -> tuple[Requirement, ...]:
    steps = tuple(Step(number=str(n), text=text) for n, text in enumerate(texts, 1))
    return compile_steps(Plan(steps), Vocabulary())
