"""Read spans into a trace builder: the actions of agents, models and tools."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.trace import UNVERIFIED, EventStatus, Kind
from planproof.core.vocabulary import Vocabulary
from planproof.readers.toolkit.code_fences import split_facts_and_plan, split_thought_and_code
from planproof.readers.toolkit.handoffs import Handoffs, get_receiver, normalize_name
from planproof.readers.toolkit.nested_messages import MessagePart
from planproof.readers.toolkit.repeated_prompts import PromptHistory
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.span_conventions import (
    AGENT_NAMES,
    CALL_IDS,
    INPUTS,
    OUTPUTS,
    TOOL_NAMES,
    classify_span,
    find_planning_calls,
    find_step,
    parse_agent_task,
    parse_answer,
    parse_prompt,
)
from planproof.readers.toolkit.tool_calls import parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

TASK_ATTRIBUTE = "planproof.task"
PLAN_ATTRIBUTE = "planproof.plan"
"""Attributes in which any span may give the task and the plan."""
_AGENT = "assistant"
# Longer code is not written by an agent, and would be searched for each of its calls.
_MAX_CODE_LENGTH = 100_000
_VOCABULARY = Vocabulary()


class SpanWriter:
    """Reads spans in order of their start, parents first."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        # The kinds of model calls whose answers are notes, by the `id()` of the span.
        self._kinds: dict[int, Kind] = {}
        self._prompts = PromptReader(builder)
        self._handoffs = Handoffs()
        self._scope_by_agent: dict[int, AgentScope] = {}
        self._draft_by_span: dict[int, EventDraft] = {}
        self._answered_spans: set[int] = set()

    def add_spans(self, spans: Sequence[Span]) -> None:
        """Add the events of all spans."""
        self._kinds = find_planning_calls(spans)
        for span in spans:
            self._add_span(span)
        self._builder.parent = None
        self._drop_unrun_code()

    def _add_span(self, span: Span) -> None:
        above = span.parent
        if above is not None:
            span.agent = above if above.kind == "agent" else above.agent
            span.model = above if above.kind in ("model", "plan") else above.model
            span.enclosing_action = self._draft_by_span.get(id(above)) or above.enclosing_action
        self._builder.time = parse_time(span.start)
        self._builder.parent = span.enclosing_action
        if TASK_ATTRIBUTE in span.attributes or PLAN_ATTRIBUTE in span.attributes:
            self._add_task_and_plan(span)
        kind = span.kind = span.kind or classify_span(span)
        if kind == "tool":
            self._add_tool_span(span, self._get_scope(span.agent))
        elif kind == "model":
            self._add_model_span(span, self._get_scope(span.agent))
        elif kind == "agent":
            self._add_agent_span(span)
        elif kind == "plan":
            self._add_plan_span(span)
        elif kind == "handoff":
            self._add_handoff_span(span, self._get_scope(span.agent))
        elif kind == "guardrail":
            self._builder.begin_turn()
            pointer = span.pointer_to("name")
            self._builder.add_message(Kind.SYSTEM, span.attributes["name"], pointer, kind)

    def _drop_unrun_code(self) -> None:
        """Turn code in texts that was not run into messages.

        Where an agent makes calls, its text is none; where its code is run in steps, other code is
        not run.
        """
        dropped: dict[int, EventDraft] = {}
        for scope in self._scope_by_agent.values():
            dropped |= scope.code if scope.makes_calls else {}
            dropped |= scope.loose_code if scope.makes_calls or scope.code else {}
        for draft in dropped.values():
            draft.kind, draft.name, draft.recognition = Kind.MESSAGE, None, ""
            draft.output, draft.output_pointer, draft.status = "", None, EventStatus.UNKNOWN
        for draft in self._builder.drafts if dropped else ():
            while draft.parent is not None and id(draft.parent) in dropped:
                draft.parent = draft.parent.parent

    def _add_task_and_plan(self, span: Span) -> None:
        """Add the task and the plan given in attributes, whatever the kind of the span."""
        task, plan = span.attributes.get(TASK_ATTRIBUTE), span.attributes.get(PLAN_ATTRIBUTE)
        if isinstance(task, str) and task.strip():
            self._builder.begin_turn()
            self._builder.add_message(
                Kind.MESSAGE, task.strip(), span.pointer_to(TASK_ATTRIBUTE), "user"
            )
        if is_list(plan):
            plan = "\n".join(f"{n}. {step}" for n, step in enumerate(map(format_value, plan), 1))
        if isinstance(plan, str) and plan.strip():
            self._builder.begin_turn()
            parts = [MessagePart("text", "agent", plan, span.pointer_to(PLAN_ATTRIBUTE))]
            self._add_notes(parts, Kind.BOOKKEEPING, _AGENT)

    def _get_scope(self, agent: Span | None) -> AgentScope:
        return self._scope_by_agent.setdefault(id(agent), AgentScope())

    def _add_tool_span(self, span: Span, scope: AgentScope) -> None:
        name = text_at(span.attributes, *TOOL_NAMES) or span.name or "tool"
        name = name.removeprefix("execute_tool ")
        input_key = span.find_key(INPUTS)
        arguments, text = parse_arguments(
            span.attributes[input_key] if input_key is not None else None
        )
        arguments = _unwrap_arguments(arguments)
        outer = span.enclosing_action
        if outer is not None and span.parent is not None and span.parent.kind == "tool":
            if outer.name == name and (arguments is None or arguments == outer.arguments):
                # The same call again, as seen by the client of the tool's server.
                if outer.output_pointer is None:
                    span.copy_outcome_to(outer, OUTPUTS)
                return
        elif outer is not None and _is_in_code(outer, name, arguments):
            return
        scope.has_acted = True
        call_id = text_at(span.attributes, *CALL_IDS)
        draft = scope.take_requested_call(name, call_id, arguments)
        if draft is None:
            draft = self._make_action(span, name)
            draft.turn = self._choose_turn(span, scope)
            if id(outer) not in scope.code:
                scope.note_call(name)
            scope.recent_calls.append(self._builder.add_draft(draft))
        # Arguments that the model gave as JSON may be plain text in the tool's own span.
        if arguments or (text and not draft.arguments) or not (draft.arguments or draft.text):
            draft.pointer = span.get_call_pointer(input_key)
            draft.arguments, draft.text = arguments, text
        span.copy_outcome_to(draft, OUTPUTS)
        if call_id and draft.output_pointer is not None:
            scope.unanswered.pop(call_id, None)
        self._draft_by_span[id(span)] = draft

    def _choose_turn(self, span: Span, scope: AgentScope) -> int:
        around_agent = span.agent.enclosing_action if span.agent is not None else None
        if span.enclosing_action is not None and span.enclosing_action is not around_agent:
            return span.enclosing_action.turn
        if not scope.requested_calls:
            self._begin_turn(scope)
        return scope.turn

    def _begin_turn(self, scope: AgentScope) -> None:
        self._builder.begin_turn()
        scope.begin_turn(self._builder.turn)

    def _add_model_span(self, span: Span, scope: AgentScope) -> None:
        if span.model is not None and id(span.model) in self._answered_spans:
            return  # the same answer, as seen by another layer of the client
        step = find_step(span)
        self._prompts.add_prompt(parse_prompt(span), scope, span, is_scaffold=step is not None)
        parts = list(parse_answer(span))
        if not parts:
            if (error := span.find_error()) is not None:
                self._builder.begin_turn()
                self._builder.add_message(Kind.SYSTEM, *error, "system")
            return
        self._answered_spans.add(id(span))
        scope.has_acted = True
        self._begin_turn(scope)
        actor = self._get_actor(span.agent)
        kind = self._kinds.get(id(span)) or self._kinds.get(id(span.parent))
        if kind is not None:
            self._add_notes(parts, kind, actor)
            return
        calls = [part for part in parts if part.call is not None]
        for part in parts:
            if part.call is not None:
                draft = self._builder.add_call(part.call, part.pointer, actor)
                scope.add_requested_call(draft, part.call.id)
                scope.note_call(part.call.name)
                if step is not None and len(calls) == 1:
                    step.copy_outcome_to(draft, OUTPUTS)
            elif part.kind == "thought" or calls:
                self._builder.add_message(Kind.REASONING, part.text.strip(), part.pointer, actor)
            elif part.kind == "text" and not self._add_code(part, step, scope, actor):
                # An answer followed by more work inside the same span was not the final one.
                is_last = span.parent is None or span.parent.last_child is span
                is_thought = not is_last or part.text.lstrip().startswith("Thought:")
                kind = Kind.REASONING if is_thought else Kind.MESSAGE
                scope.last_message = self._builder.add_message(
                    kind, part.text.strip(), part.pointer, actor
                )

    def _add_code(
        self,
        part: MessagePart,
        step: Span | None,
        scope: AgentScope,
        actor: str,
    ) -> bool:
        split = split_thought_and_code(part.text)
        if split is None:
            return False
        thought, code = split
        self._builder.add_message(Kind.REASONING, thought, part.pointer, actor)
        draft = self._builder.add_draft(
            EventDraft(Kind.ACTION, part.pointer, "python", actor, code)
        )
        scope.recent_calls.append(draft)
        if step is None:
            draft.recognition = UNVERIFIED
            scope.loose_code[id(draft)] = draft
        else:
            scope.code[id(draft)] = draft
            self._draft_by_span[id(step)] = draft
            step.copy_outcome_to(draft, OUTPUTS)
        return True

    def _add_plan_span(self, span: Span) -> None:
        parts = list(parse_answer(span))
        if any(part.kind == "text" for part in parts):
            self._answered_spans.add(id(span))
            self._begin_turn(self._get_scope(span.agent))
            self._add_notes(parts, Kind.BOOKKEEPING, self._get_actor(span.agent))
        else:
            self._kinds[id(span)] = Kind.BOOKKEEPING  # the model call inside it has the plan

    def _add_notes(self, parts: list[MessagePart], kind: Kind, actor: str) -> None:
        for part in parts:
            facts, text = "", part.text.strip()
            if kind is Kind.BOOKKEEPING and part.kind == "text":
                facts, text = split_facts_and_plan(text)
                self._builder.add_message(Kind.REASONING, facts, part.pointer, actor)
            draft = self._builder.add_message(kind, text, part.pointer, actor)
            if draft is not None and kind is Kind.BOOKKEEPING:
                draft.name = "plan"

    def _add_agent_span(self, span: Span) -> None:
        if span.agent is not None:
            if span.enclosing_action in (None, span.agent.enclosing_action):
                self._link_agent_call(span, self._get_scope(span.agent))
        elif span.enclosing_action is None:
            name = text_at(span.attributes, *AGENT_NAMES)
            starter = self._handoffs.find_parent_call(name) if name else None
            if starter is not None:
                self._draft_by_span[id(span)] = span.enclosing_action = starter
                return
            inside = self._get_scope(span)
            task = parse_agent_task(span)
            if task is not None:
                self._prompts.add_task(task, inside)
            if span.last_child is None:
                self._add_model_span(span, inside)

    def _add_handoff_span(self, span: Span, scope: AgentScope) -> None:
        receiver = text_at(span.attributes, "to_agent") or ""
        draft = scope.find_handoff_call(receiver)
        if draft is None:
            draft = self._builder.add_draft(self._make_action(span, "handoff"))
            draft.turn = self._choose_turn(span, scope)
            given = span.attributes.items()
            draft.arguments = {k: v for k, v in given if k != "type" and v is not None}
        if receiver:
            self._handoffs.record_handoff(draft, receiver)
        span.copy_outcome_to(draft, OUTPUTS)

    def _link_agent_call(self, span: Span, scope: AgentScope) -> None:
        """Find the call by which one agent handed off to another, or add one."""
        name = text_at(span.attributes, *AGENT_NAMES) or span.name.removesuffix(".run")
        draft = scope.find_handoff_call(name)
        if draft is None and scope.has_acted:
            self._begin_turn(scope)
            draft = self._builder.add_draft(self._make_action(span, name))
        if draft is not None:
            self._draft_by_span[id(span)] = draft
            if draft.output_pointer is None:
                span.copy_outcome_to(draft, OUTPUTS)

    def _make_action(self, span: Span, name: str) -> EventDraft:
        actor = self._get_actor(span.agent)
        return EventDraft(Kind.ACTION, span.attributes_pointer, name, actor)

    def _get_actor(self, agent: Span | None) -> str:
        return (agent and text_at(agent.attributes, *AGENT_NAMES)) or _AGENT


def skip_unread_spans(builder: TraceBuilder, spans: Iterable[Span]) -> None:
    """Skip the spans that only enclose others or repeat them, and those of other programs."""
    builder.skip_unread((span.pointer for span in spans), "span without an event of its own")


def _is_in_code(code: EventDraft, name: str, arguments: Json) -> bool:
    """Return whether the enclosing code contains this call, so that it is already covered."""
    if code.name != "python" or len(code.text) > _MAX_CODE_LENGTH or f"{name}(" not in code.text:
        return False
    values = _list_argument_values(arguments)
    if is_list(values[0] if values else None):
        values = [*values[0], *values[1:]]
    return all(isinstance(value, str) and value in code.text for value in values)


def _unwrap_arguments(arguments: Json) -> Json:
    if is_object(arguments) and is_object(arguments.get("kwargs")):
        if not arguments.get("args"):
            return arguments["kwargs"]
        return {"args": arguments["args"], **arguments["kwargs"]}
    return arguments


_MAX_RECENT_CALLS = 64


@dataclass(slots=True)
class AgentScope:
    """The state of one agent: its turn, its calls, its last message.

    `requested_calls` are the calls of the turn without a span so far, `recent_calls` all calls of
    the turn, `unanswered` those without a result, by call id. `makes_calls` is set by the first
    recorded call that is more than bookkeeping. `code` is the code in its texts that has a step of
    its own, `loose_code` the other code.
    """

    turn: int = 0
    has_acted: bool = False
    makes_calls: bool = False
    code: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    loose_code: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    requested_calls: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    recent_calls: deque[EventDraft] = field(default_factory=lambda: deque(maxlen=_MAX_RECENT_CALLS))
    unanswered: dict[str, EventDraft] = field(default_factory=dict[str, EventDraft])
    last_message: EventDraft | None = None
    _calls_by_name: dict[str | None, deque[EventDraft]] = field(
        default_factory=dict[str | None, "deque[EventDraft]"]
    )

    def begin_turn(self, turn: int) -> None:
        """Continue with another turn."""
        self.turn = turn
        self.last_message = None
        self.requested_calls.clear()
        self.recent_calls.clear()
        self._calls_by_name.clear()

    def note_call(self, name: str) -> None:
        """Note a recorded call, unless code of the agent makes it or it is only bookkeeping."""
        if not self.makes_calls:
            self.makes_calls = not (
                any(call.name == "python" and f"{name}(" in call.text for call in self.recent_calls)
                or _VOCABULARY.is_bookkeeping(name)
                or _VOCABULARY.is_closing(name)
            )

    def add_requested_call(self, draft: EventDraft, call_id: str | None) -> None:
        """Add a call that the model requested."""
        self.requested_calls[id(draft)] = draft
        self.recent_calls.append(draft)
        self._calls_by_name.setdefault(draft.name, deque()).append(draft)
        if call_id:
            self.unanswered[call_id] = draft

    def take_requested_call(
        self, name: str, call_id: str | None, arguments: Json
    ) -> EventDraft | None:
        """Return the requested call that a tool then ran; request and run are one action."""
        draft = self.unanswered.get(call_id) if call_id else None
        if draft is None and not call_id:
            draft = self._take_same_call(name, arguments)
        waiting = self._calls_by_name.get(name)
        while draft is None and waiting:
            draft = self.requested_calls.get(id(waiting.popleft()))
        if draft is not None:
            self.requested_calls.pop(id(draft), None)
        return draft

    def _take_same_call(self, name: str, arguments: Json) -> EventDraft | None:
        """Return the first unanswered call with the same arguments, of this turn or an earlier one.

        Calls of one answer may be recorded as several model calls, before the first tool ran.
        """
        for key, draft in islice(self.unanswered.items(), _MAX_RECENT_CALLS):
            if draft.name == name and draft.arguments == arguments and not draft.output_pointer:
                return self.unanswered.pop(key)
        return None

    def take_unanswered_call(self, call_id: str) -> EventDraft | None:
        """Return the call with this id, if it has no result yet."""
        draft = self.unanswered.pop(call_id, None)
        return draft if draft is not None and draft.output_pointer is None else None

    def find_handoff_call(self, agent: str) -> EventDraft | None:
        """Return the call of this turn that handed off to the agent with this name."""
        waiting = [draft for draft in self.recent_calls if id(draft) in self.requested_calls]
        for draft in (*waiting, *self.recent_calls):
            if agent in (draft.name, *_list_argument_values(draft.arguments)) or (
                (receiver := get_receiver(draft))
                and normalize_name(receiver) == normalize_name(agent)
            ):
                break
        else:
            # Some conventions give the class of the agent instead of its name.
            draft = waiting[0] if len(self.requested_calls) == len(waiting) == 1 else None
        if draft is not None:
            self.requested_calls.pop(id(draft), None)
        return draft


def _list_argument_values(arguments: Json) -> list[Json]:
    return list(arguments.values()) if is_object(arguments) else []


class PromptReader:
    """Reads from prompts what no span contains: user messages, and results of calls."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._prompt_history = PromptHistory()
        self._has_task = False

    def add_task(self, task: MessagePart, scope: AgentScope) -> None:
        """Add the task from another source; prompts then contain no new user messages."""
        self._has_task = True
        self._add_message("user", task.text, task.pointer, scope)

    def add_prompt(
        self, prompt: Iterable[MessagePart], scope: AgentScope, span: Span, *, is_scaffold: bool
    ) -> None:
        """Add the new messages and results in the prompt of a model call.

        A scaffold turns results into user messages; of its prompts only the task counts.
        """
        if is_scaffold and scope.has_acted:
            return
        has_task = self._has_task or span.enclosing_action is not None
        if has_task and not scope.unanswered:
            return
        messages: list[tuple[str, Json]] = []
        for part in prompt:
            if is_scaffold and part.role == "agent":
                break
            if part.kind == "result" and part.call_id:
                draft = scope.take_unanswered_call(part.call_id)
                if draft is not None:
                    draft.set_output(part.text, part.pointer)
            elif part.kind == "text" and (
                part.role == "user" or (part.role == "system" and not is_scaffold)
            ):
                messages.append((part.pointer, {"role": part.role, "content": part.text}))
        for pointer, message in self._prompt_history.iter_new([] if has_task else messages):
            self._add_message(message["role"], message["content"], pointer, scope)

    def _add_message(self, role: str, text: str, pointer: str, scope: AgentScope) -> None:
        self._builder.begin_turn()
        if role == "system":
            self._builder.add_message(Kind.SYSTEM, text, pointer, "system")
            return
        if scope.last_message is not None:
            # The user replies to it, so it was a message to the user.
            scope.last_message.kind = Kind.MESSAGE
            scope.last_message = None
        self._builder.add_message(Kind.MESSAGE, text, pointer, "user")
