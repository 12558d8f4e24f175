"""Read chats of several named agents in prose (speaker turns).

These count as actions: code that the next turn ran, a call in the text, a hand-off to another
agent, and what a program reports that it did. What an agent merely says it did is a message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from planproof.core.content import Json
from planproof.core.json_values import is_object, parse_embedded_json, text_at
from planproof.core.trace import Kind
from planproof.readers.toolkit.conversation import SYSTEM_ROLES, TOOL_ROLES, USER_ROLES
from planproof.readers.toolkit.entries import PointerFactory
from planproof.readers.toolkit.json_answers import add_structured_answer
from planproof.readers.toolkit.prose_actions import (
    CodeRuns,
    add_reported_action,
    is_browser_agent,
    is_executor,
    is_run_result,
    parse_reported_action,
)
from planproof.readers.toolkit.text_actions import (
    Segment,
    add_element_target,
    find_checklists,
    has_call,
    parse_bare_command,
    split_segments,
)
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

_STAGE_DIRECTION = re.compile(r"(?P<who>[^()]{1,80})\((?P<how>[^()]{1,80})\)\s{0,8}")
_THOUGHT_DIRECTIONS = frozenset(("thought", "thinking", "reasoning"))


def is_group_chat(messages: Sequence[dict[str, Json]]) -> bool:
    """Return whether messages with the usual roles are a group chat of named speakers."""
    names: set[str | None] = set()
    for message in messages:
        if "tool_responses" in message:
            return True
        if "name" in message and message.get("role") in ("user", "assistant"):
            names.add(text_at(message, "name"))
    return len(names - {None}) > 1


class _Speaker(NamedTuple):
    """The properties of a speaker implied by the name, and the stage direction after it."""

    who: str
    direction: str
    executes: bool
    browses: bool


@lru_cache(1_000)
def _parse_speaker(name: str) -> _Speaker:
    stage = _STAGE_DIRECTION.fullmatch(name)
    who, how = (stage["who"].strip(), stage["how"].strip()) if stage else (name, "")
    return _Speaker(who, how, is_executor(who), is_browser_agent(who))


class Speakers:
    """Adds the turns of named speakers in order to a trace builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self.code_runs = CodeRuns(builder)
        self._delegated_agents: set[str] = set()
        self._last_observation = ""
        self._caller = ""

    def flush(self) -> None:
        """Add what was deferred until the next turn."""
        self.code_runs.flush()

    def add_turn(self, text: str, pointer_for: PointerFactory, speaker: str) -> None:
        """Add one turn; a stage direction may follow the name: "Boss (thought)"."""
        known = _parse_speaker(speaker)
        who, role = known.who, known.who.lower()
        thinks = known.direction.lower() in _THOUGHT_DIRECTIONS
        whole = pointer_for(0, len(text))
        if known.executes or (is_run_result(text) and not self.code_runs.is_pending_by(who)):
            self.code_runs.add_report(text, whole, who)
            return
        self.flush()
        caller, self._caller = self._caller, ""
        if caller and caller != who:
            # A turn that is nothing but a call is answered by the next speaker.
            self._builder.add_result(ToolResult(text.strip(), whole, actor=who))
            return
        if role in TOOL_ROLES:
            self._builder.add_result(ToolResult(text.strip(), whole, actor="tool"))
            return
        self._builder.begin_turn()
        if role in USER_ROLES:
            self._builder.add_message(Kind.MESSAGE, text.strip(), whole, "user")
        elif role in SYSTEM_ROLES:
            self._builder.add_message(Kind.SYSTEM, text.strip(), whole, "system")
        elif known.direction.startswith("->"):
            self.add_handoff(known.direction[2:].strip(), text, whole, who)
        elif (thinks or "orchestrator" in role) and _LEDGER.match(text):
            add_ledger(self._builder, text, pointer_for, who)
        elif thinks:
            self._builder.add_message(Kind.REASONING, text.strip(), whole, who)
        else:
            self._add_agent_turn(
                text, pointer_for, who, by_program=known.browses and who in self._delegated_agents
            )

    def add_handoff(self, receiver: str, text: str, pointer: str, who: str) -> None:
        """Add a hand-off to another agent.

        The turns of the receiver are not its children: in one chat, each turn is as much a step of
        the work as the hand-off.
        """
        self._delegated_agents.add(receiver)
        self._builder.add_handoff(receiver, text, pointer, who)

    def _add_agent_turn(
        self, text: str, pointer_for: PointerFactory, who: str, *, by_program: bool
    ) -> None:
        whole = pointer_for(0, len(text))
        action = parse_reported_action(text, by_program=by_program)
        if action is not None and (is_browser_agent(who) or not has_call(split_segments(text))):
            with self._builder.reading_text(text, whole, who):
                add_reported_action(self._builder, action, whole, who)
            return
        value = parse_embedded_json(text)
        if is_object(value):
            with self._builder.reading_text(text, whole, who):
                if add_structured_answer(self._builder, value, whole, who):
                    return
        command = parse_bare_command(text)
        if command is not None and self._builder.is_mentioned(command.name, who):
            with self._builder.reading_text(text, whole, who):
                self._builder.add_call(command, whole, who)
            self._caller = who
            return
        # One report answers both code and calls: the calls count only if the code was not run.
        add_unrun = partial(self._add_unrun, text, pointer_for, who)
        if not self.code_runs.add_code(text, pointer_for, who, add_unrun):
            self.add_segments(split_segments(text), text, pointer_for, who)

    def _add_unrun(self, text: str, pointer_for: PointerFactory, who: str) -> None:
        segments = split_segments(text)
        if has_call(segments):
            self.add_segments(segments, text, pointer_for, who)
        else:
            self._builder.add_message(Kind.MESSAGE, text.strip(), pointer_for(0, len(text)), who)

    def add_segments(
        self, segments: list[Segment], text: str, pointer_for: PointerFactory, who: str
    ) -> None:
        """Add the segments of a turn, with the calls in it."""
        # A named agent speaks to others: its text is a message even next to a call.
        thinks = who == "assistant" and has_call(segments)
        with self._builder.reading_text(text, pointer_for(0, len(text)), who):
            for segment in segments:
                self._add_segment(segment, text, pointer_for, who, thinks=thinks)

    def _add_segment(
        self, segment: Segment, text: str, pointer_for: PointerFactory, who: str, *, thinks: bool
    ) -> None:
        pointer = pointer_for(segment.start, segment.end)
        if segment.call is not None:
            add_element_target(segment.call, self._last_observation)
            self._builder.add_text_call(segment.call, pointer, who)
        elif segment.kind == "result":
            result_text = self._last_observation = text[segment.start : segment.end].strip()
            # A result that no call waits for is the speaker's own text.
            source = "environment" if self._builder.has_unanswered_calls() else who
            self._builder.add_result(ToolResult(result_text, pointer, actor=source))
            # Only the results divide such a text: what follows was issued later.
            self._builder.begin_turn()
        else:
            if segment.kind == "thought" and self._builder.has_just_called():
                self._builder.begin_turn()
            thought = segment.kind == "thought" or (thinks and segment.kind == "prose")
            kind = Kind.REASONING if thought else Kind.MESSAGE
            self._add_text(kind, text, segment, pointer_for, who)

    def _add_text(
        self, kind: Kind, text: str, segment: Segment, pointer_for: PointerFactory, who: str
    ) -> None:
        """Add the text of a segment; the checklists in it are plans."""

        def add_prose(start: int, end: int) -> None:
            self._builder.add_message(kind, text[start:end].strip(), pointer_for(start, end), who)

        position = segment.start
        for start, end in find_checklists(text[segment.start : segment.end]):
            first, last = segment.start + start, segment.start + end
            add_prose(position, first)
            self._builder.add_plan(text[first:last].strip(), pointer_for(first, last), who)
            position = last
        add_prose(position, segment.end)


_LEDGER = re.compile(
    r"\s{0,8}(?:(?:initial|updated|new|current) (?:plan|ledger|facts?)\b|next speaker\b"
    r"|we are working to address the following user request\b)",
    re.IGNORECASE,
)
_PLAN_INTRODUCTION = re.compile(r"Here is the plan to follow as best as possible:", re.IGNORECASE)
_PLAN_LABEL = re.compile(r"\s{0,8}(?:initial|updated|new|current) plan:", re.IGNORECASE)
# Warnings of the program's libraries may come after its own words.
_WARNING = re.compile(r"^/[^\s:]{1,400}:\d{1,7}: \w{0,40}Warning: ", re.MULTILINE)


def add_ledger(builder: TraceBuilder, text: str, pointer_for: PointerFactory, actor: str) -> None:
    """Add a ledger; a plan in it is a separate event."""
    # Searching for plain words first is much faster in long ledgers.
    marked = _PLAN_INTRODUCTION.search(text) if "as best as possible" in text else None
    marked = marked or _PLAN_LABEL.match(text)
    start = marked.end() if marked is not None else len(text)
    before = text[: marked.start() if marked is not None else start].strip()
    builder.add_message(Kind.BOOKKEEPING, before, pointer_for(0, start), actor)
    warning = _WARNING.search(text, start) if "Warning: " in text else None
    end = warning.start() if warning is not None else len(text)
    builder.add_plan(text[start:end].strip(), pointer_for(start, end), actor)
