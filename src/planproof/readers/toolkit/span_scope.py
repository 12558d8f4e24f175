"""The work of one agent in spans: what it asked for, and what it was told in its prompts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.trace import Kind
from planproof.readers.toolkit.handoffs import get_receiver
from planproof.readers.toolkit.nested_messages import MessagePart
from planproof.readers.toolkit.repeated_prompts import PromptHistory
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_MAX_RECENT_CALLS = 64


@dataclass(slots=True)
class AgentScope:
    """What is under way in one agent: its turn, its calls, the last words that it said.

    `asked` are the calls of the turn that no span has told yet, `recent` all calls of the turn,
    `unanswered` those without a result, by the id of the call.
    """

    turn: int = 0
    has_acted: bool = False
    requested_calls: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    recent_calls: deque[EventDraft] = field(default_factory=lambda: deque(maxlen=_MAX_RECENT_CALLS))
    unanswered: dict[str, EventDraft] = field(default_factory=dict[str, EventDraft])
    last_message: EventDraft | None = None
    _calls_by_name: dict[str | None, deque[EventDraft]] = field(
        default_factory=dict[str | None, "deque[EventDraft]"]
    )

    def begin_turn(self, turn: int) -> None:
        """Go on to another turn."""
        self.turn = turn
        self.last_message = None
        self.requested_calls.clear()
        self.recent_calls.clear()
        self._calls_by_name.clear()

    def add_requested_call(self, draft: EventDraft, call_id: str | None) -> None:
        """Note a call that the model asked for."""
        self.requested_calls[id(draft)] = draft
        self.recent_calls.append(draft)
        self._calls_by_name.setdefault(draft.name, deque()).append(draft)
        if call_id:
            self.unanswered[call_id] = draft

    def take_requested_call(self, name: str, call_id: str | None) -> EventDraft | None:
        """The call that a tool then ran: asked for and run is one action."""
        draft = self.unanswered.get(call_id) if call_id else None
        waiting = self._calls_by_name.get(name)
        while draft is None and waiting:
            draft = self.requested_calls.get(id(waiting.popleft()))
        if draft is not None:
            self.requested_calls.pop(id(draft), None)
        return draft

    def take_unanswered_call(self, call_id: str) -> EventDraft | None:
        """The call that this id belongs to, if its result is still to come."""
        draft = self.unanswered.pop(call_id, None)
        return draft if draft is not None and draft.output_pointer is None else None

    def find_handoff_call(self, agent: str) -> EventDraft | None:
        """The call of this turn that gave the word to an agent of that name."""
        waiting = [draft for draft in self.recent_calls if id(draft) in self.requested_calls]
        for draft in (*waiting, *self.recent_calls):
            if agent in (draft.name, get_receiver(draft), *_argument_values(draft.arguments)):
                break
        else:
            # Some name the class of the agent, and not what it is called by.
            draft = waiting[0] if len(self.requested_calls) == len(waiting) == 1 else None
        if draft is not None:
            self.requested_calls.pop(id(draft), None)
        return draft


def _argument_values(arguments: Json) -> list[Json]:
    return list(arguments.values()) if is_object(arguments) else []


class PromptReader:
    """Takes from prompts what no span tells: the user's words, and results of calls."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._prompt_history = PromptHistory()
        self._has_task = False

    def add_task(self, task: MessagePart, scope: AgentScope) -> None:
        """Take the task from elsewhere: then no prompt holds anything new of the user."""
        self._has_task = True
        self._add_message("user", task.text, task.pointer, scope)

    def add_prompt(
        self, prompt: Iterable[MessagePart], scope: AgentScope, span: Span, *, is_scaffold: bool
    ) -> None:
        """Take what is new in the prompt of a model call.

        A scaffold turns results into words of the user; of its prompts only the task counts.
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
            scope.last_message.kind = (
                Kind.MESSAGE
            )  # the user answers it, so it was said to the user
            scope.last_message = None
        self._builder.add_message(Kind.MESSAGE, text, pointer, "user")
