"""Built-in knowledge of tool names: bookkeeping tools, closing tools and aliases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_THINKING = frozenset(
    "think thought thinking sequentialthinking sequential_thinking reflect scratchpad "
    "note_to_self".split()
)
_BOOKKEEPING = _THINKING | frozenset(
    "todowrite todoread write_todos read_todos update_todos update_todo todo_write todo_read "
    "manage_todo_list update_plan exitplanmode exit_plan_mode enterplanmode enter_plan_mode "
    "set_plan create_plan planning todolist settodolist set_todo_list update_todo_list "
    "report_intent update_topic "
    "taskcreate taskupdate tasklist taskget task_create task_update task_list "
    "task_tracker task_tracking".split()
)
_CLOSING = frozenset(
    "submit finish finished final_answer final_output final_result final_response task_complete "
    "task_completed complete_task attempt_completion goals_accomplished terminate stop end done "
    "exit quit conclude complete return_result return_control end_conversation stop_agent".split()
)
_MESSAGE_TOOLS = frozenset(
    "answer final answer_user reply respond response say tell message send_message message_user "
    "ask ask_user notify_user talk_to_user speak".split()
)
_SEPARATORS = re.compile(r"[\s\-.:/]+")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Built-in knowledge of tool names, extended by the user's declarations."""

    bookkeeping: frozenset[str] = _BOOKKEEPING
    closing: frozenset[str] = _CLOSING
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Maps a word of a step to the tool that it means."""

    @property
    def sorted_entries(self) -> tuple[object, ...]:
        """All entries in a stable order."""
        return sorted(self.bookkeeping), sorted(self.closing), sorted(self.aliases.items())

    def is_bookkeeping(self, tool: str | None) -> bool:
        """Return whether a call of this tool only records progress or thoughts."""
        return tool is not None and _matches_any(tool, self.bookkeeping)

    def is_thinking(self, tool: str | None) -> bool:
        """Return whether a call of this tool only records thoughts."""
        return tool is not None and _matches_any(tool, _THINKING)

    def is_closing(self, tool: str | None) -> bool:
        """Return whether a call of this tool only ends the run."""
        return tool is not None and _matches_any(tool, self.closing)

    def is_message_tool(self, tool: str | None) -> bool:
        """Return whether a call of this tool says something to somebody."""
        return tool is not None and (_matches_any(tool, _MESSAGE_TOOLS) or self.is_closing(tool))

    def with_declared(
        self,
        *,
        bookkeeping: frozenset[str] = frozenset(),
        closing: frozenset[str] = frozenset(),
        aliases: Mapping[str, str] | None = None,
    ) -> Vocabulary:
        """Return this vocabulary extended by the declarations of a configuration."""
        return Vocabulary(
            self.bookkeeping | {name.lower() for name in bookkeeping},
            self.closing | {name.lower() for name in closing},
            {**self.aliases, **(aliases or {})},
        )


def _matches_any(tool: str, names: frozenset[str]) -> bool:
    lowered = tool.lower()
    # "mcp__server__write_todos" and "functions.think" end in the tool's own name.
    return lowered in names or _SEPARATORS.split(lowered.replace("__", "."))[-1] in names
