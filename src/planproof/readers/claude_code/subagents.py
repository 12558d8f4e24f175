"""Sub-agents: which call started the agent whose line this is."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.readers.toolkit.trace_builder import EventDraft


class Subagents:
    """Ties the lines of sub-agents to the calls that handed over to them.

    What ties them differs between versions: the id of the agent, which the result of the call
    names; the id of the call in the line; or only the prompt, with the lines that follow it.
    """

    def __init__(self) -> None:
        self._call_by_id: dict[str, EventDraft] = {}
        self._call_id_by_agent: dict[str, str] = {}
        self._agents_with_lines: set[str] = set()
        self._calls_by_prompt: dict[str, list[EventDraft]] = {}
        self._call_by_line: dict[str, EventDraft] = {}

    def index_line(self, line: dict[str, Json]) -> None:
        """Learn from a line, before any is read, which call started which agent."""
        agent = text_at(line, "agentId")
        if agent is not None:
            self._agents_with_lines.add(agent)
        twin = line.get("toolUseResult")
        agent = text_at(twin, "agentId") if is_object(twin) else None
        message = line.get("message")
        if agent is None or not is_object(message) or not is_list(message.get("content")):
            return
        for block in message["content"]:
            call = text_at(block, "tool_use_id") if is_object(block) else None
            if call is not None:
                self._call_id_by_agent[agent] = call

    def has_lines(self, agent: str | None) -> bool:
        """Whether the lines that this agent wrote itself are here."""
        return agent in self._agents_with_lines

    def add_call(self, identity: str | None, draft: EventDraft) -> None:
        """Remember a call, which may have started an agent."""
        if identity is not None:
            self._call_by_id[identity] = draft
        prompt = text_at(draft.arguments, "prompt") if is_object(draft.arguments) else None
        if prompt is not None:
            self._calls_by_prompt.setdefault(prompt, []).append(draft)

    def find_starter(self, line: dict[str, Json], content: Json) -> EventDraft | None:
        """The call that started the agent whose line this is; None where none is known."""
        agent = text_at(line, "agentId")
        call = text_at(line, "parent_tool_use_id", "parentToolUseID")
        if call is None and agent is not None:
            call = self._call_id_by_agent.get(agent)
        starter = self._call_by_id.get(call or "")
        if starter is None:
            starter = self._call_by_line.get(text_at(line, "parentUuid") or "")
        if starter is None:
            starter = self._match_prompt(content)
        own = text_at(line, "uuid")
        if starter is not None and own is not None:
            self._call_by_line[own] = starter
        return starter

    def _match_prompt(self, content: Json) -> EventDraft | None:
        if is_list(content) and len(content) == 1 and is_object(content[0]):
            content = content[0].get("text")
        waiting = self._calls_by_prompt.get(content) if isinstance(content, str) else None
        if not waiting:
            return None
        # Agents that were started with the same words begin in the order of their calls.
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]
