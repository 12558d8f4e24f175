"""The words of a convention for spans: which span is what, and where it says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from planproof.readers.toolkit.nested_messages import MessagePart
from planproof.readers.toolkit.span import Span

SpanKind: TypeAlias = Literal["tool", "model", "agent", "plan", ""]


def _find_no_step(_: Span) -> Span | None:
    return None


def _parse_no_task(_: Span) -> MessagePart | None:
    return None


@dataclass(frozen=True, slots=True)
class SpanConvention:
    """How one convention writes down what agents, models and tools do.

    `sort_of` tells what a span is, "" for one that only holds others, None for one that does not
    speak this dialect. `answer` is what a model said in a span; `prompt` is what it was given,
    which is mostly what was said before. `step_of` is the span around a model call that has what
    came back of the answer; `task` is what an agent's span says that the user asked of it.
    """

    classify: Callable[[Span], SpanKind | None]
    parse_answer: Callable[[Span], Iterator[MessagePart]]
    parse_prompt: Callable[[Span], Iterator[MessagePart]]
    tool_names: tuple[str, ...]
    call_ids: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    agent_names: tuple[str, ...]
    find_step: Callable[[Span], Span | None] = _find_no_step
    parse_task: Callable[[Span], MessagePart | None] = _parse_no_task
