"""The work of one agent in spans: what it asked for, and what it was told in its prompts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.trace import Kind
from planproof.readers.toolkit.handoffs import receiver_of
from planproof.readers.toolkit.nested_messages import Spoken
from planproof.readers.toolkit.repeated_prompts import Told
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_RECENT = 64


@dataclass(slots=True)
class Scope:
    """What is under way in one agent: its turn, its calls, the last words that it said.

    `asked` are the calls of the turn that no span has told yet, `recent` all calls of the turn,
    `unanswered` those without a result, by the id of the call.
    """

    turn: int = 0
    acted: bool = False
    asked: dict[int, Draft] = field(default_factory=dict[int, Draft])
    recent: deque[Draft] = field(default_factory=lambda: deque(maxlen=_RECENT))
    unanswered: dict[str, Draft] = field(default_factory=dict[str, Draft])
    said: Draft | None = None
    _by_name: dict[str | None, deque[Draft]] = field(
        default_factory=dict[str | None, "deque[Draft]"]
    )

    def begin(self, turn: int) -> None:
        """Go on to another turn."""
        self.turn = turn
        self.said = None
        self.asked.clear()
        self.recent.clear()
        self._by_name.clear()

    def ask(self, draft: Draft, call_id: str | None) -> None:
        """Note a call that the model asked for."""
        self.asked[id(draft)] = draft
        self.recent.append(draft)
        self._by_name.setdefault(draft.name, deque()).append(draft)
        if call_id:
            self.unanswered[call_id] = draft

    def asked_for(self, name: str, call_id: str | None) -> Draft | None:
        """The call that a tool then ran: asked for and run is one action."""
        draft = self.unanswered.get(call_id) if call_id else None
        waiting = self._by_name.get(name)
        while draft is None and waiting:
            draft = self.asked.get(id(waiting.popleft()))
        if draft is not None:
            self.asked.pop(id(draft), None)
        return draft

    def answered(self, call_id: str) -> Draft | None:
        """The call that this id belongs to, if its result is still to come."""
        draft = self.unanswered.pop(call_id, None)
        return draft if draft is not None and draft.output_pointer is None else None

    def calling(self, agent: str) -> Draft | None:
        """The call of this turn that gave the word to an agent of that name."""
        waiting = [draft for draft in self.recent if id(draft) in self.asked]
        for draft in (*waiting, *self.recent):
            if agent in (draft.name, receiver_of(draft), *_values(draft.arguments)):
                break
        else:
            # Some name the class of the agent, and not what it is called by.
            draft = waiting[0] if len(self.asked) == len(waiting) == 1 else None
        if draft is not None:
            self.asked.pop(id(draft), None)
        return draft


def _values(arguments: Json) -> list[Json]:
    return list(arguments.values()) if is_object(arguments) else []


class Hearing:
    """Takes from prompts what no span tells: the user's words, and results of calls."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._told = Told()
        self._is_told = False

    def tell(self, task: Spoken, scope: Scope) -> None:
        """Take the task from elsewhere: then no prompt holds anything new of the user."""
        self._is_told = True
        self._say("user", task.text, task.pointer, scope)

    def hear(
        self, prompt: Iterable[Spoken], scope: Scope, span: Span, *, is_scaffold: bool
    ) -> None:
        """Take what is new in the prompt of a model call.

        A scaffold turns results into words of the user; of its prompts only the task counts.
        """
        if is_scaffold and scope.acted:
            return
        is_told = self._is_told or span.around is not None
        if is_told and not scope.unanswered:
            return
        said: list[tuple[str, Json]] = []
        for piece in prompt:
            if is_scaffold and piece.role == "agent":
                break
            if piece.sort == "result" and piece.call_id:
                draft = scope.answered(piece.call_id)
                if draft is not None:
                    draft.returned(piece.text, piece.pointer)
            elif piece.sort == "text" and (
                piece.role == "user" or (piece.role == "system" and not is_scaffold)
            ):
                said.append((piece.pointer, {"role": piece.role, "content": piece.text}))
        for pointer, message in self._told.new_in([] if is_told else said):
            self._say(message["role"], message["content"], pointer, scope)

    def _say(self, role: str, text: str, pointer: str, scope: Scope) -> None:
        self._transcript.begin_turn()
        if role == "system":
            self._transcript.say(Kind.SYSTEM, text, pointer, "system")
            return
        if scope.said is not None:
            scope.said.kind = Kind.MESSAGE  # the user answers it, so it was said to the user
            scope.said = None
        self._transcript.say(Kind.MESSAGE, text, pointer, "user")
