"""Decide which labelled actions are calls, and which tool each of them names.

Labels are sentences of a careful reader with a verbatim excerpt of the trace, the anchor; they do
not say which actions are calls. An action counts as a call if the anchor is written like one
(`Action: Search[...]`, `"arguments": ...`, code, a query, a command after a prompt, the id of a
call), or if the sentence says so ("Runs the tests") or begins with the name of a tool (`get_order
#W1`). Final answers and thoughts in the same notation do not count, nor does what a program prints
when it runs a call that was written before.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_IDENTIFIER = r"[A-Za-z]\w*(?:[._-]\w+)*"
# Written as identifiers are: `get_order`, `readFile`, `calendar.search_events`.
_TOOL = r"[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|[a-z_]+\.[a-z_]+"
_NOT_CALLS = frozenset("think thought answer finish final solution terminate stop none".split())
_QUOTED = r"\\?['\"]? ?[=:] ?\\?['\"]"
_NAMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bAction(?: \d+)?: ?(?P<name>{_IDENTIFIER}(?: [A-Z][a-z]+){{0,3}}) ?(?:[\[(;:]|$)",
        rf"\b(?:tool|tool_name|recipient_name){_QUOTED}(?P<name>{_IDENTIFIER})\\?['\"]",
        rf"\b(?:name|description){_QUOTED}(?-i:(?P<name>{_TOOL}))\\?['\"]",
        rf"\bcall_\w+\): (?P<name>{_IDENTIFIER})",
        r"^\W{0,4}(?P<name>[A-Za-z_]{3,40})\[[^\]]",
        rf"^\W{{0,4}}(?P<name>{_IDENTIFIER})\(\{{",
        r"^<(?P<name>[a-z_]{3,40})>",
    )
)
# A name that begins a sentence may also be that of the agent: "news_analyst writes a summary".
_AGENT_VERBS = "|".join(
    "agent argues asks calls decides executes is passes relays reports says suggests tells "
    "transfers writes".split()
)
_NAMED_FIRST = re.compile(
    r"(?:(?:[\w-]+ )?(?:calls?|uses?|suggests|executes) )?"
    rf"(?P<name>{_TOOL})\b(?! (?:{_AGENT_VERBS})\b)"
)
_CALL_VERBS = re.compile(
    r"(?:\w+ )?(?:runs?|executes?|calls?|clicks?|types?|scrolls?) ", re.IGNORECASE
)
# What a program prints while it runs code or a function that a message before it contains.
_NOTICES = re.compile(r"\bEXECUTING \w+|^exitcode:", re.IGNORECASE)
_PROGRAMS = "cd|ls|cat|grep|find|git|pip|curl|sed|mkdir|rm|cp|mv|touch|wc|echo"
_CALL_SHAPES = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"\bAction(?: Input)?(?: \d+)?:", re.IGNORECASE),
        (r"\b(?:arguments|tool_input|tool_calls?|parameters)\\?['\"]? ?[=:]", 0),
        (r"Suggested (?:tool|function) call", re.IGNORECASE),
        (r"^\W{0,3}(?:call|toolu|chatcmpl-tool)_\w{8,}|^[0-9a-f]{24,}$", 0),
        (r"^\W{0,4}\{\\?['\"]\w+\\?['\"] ?:", 0),
        (r"^> [a-z]", 0),
        (r"^\W{0,8}(?:SELECT|SHOW TABLES|DESCRIBE|DESC|INSERT INTO|UPDATE|DELETE FROM) ", 0),
        (r"^\W{0,4}(?:import|from) \w+|^\W{0,4}def \w+\(|\bprint\(", 0),
        (r"^\W{0,4}(?:\w+ ?= ?)?(?:\w+\.){0,4}\w+\((?:['\"\w]|\)$)", 0),
        (r"^[a-z_]\w* ?= ?[\w'\"\[{(]", 0),
        (rf"^\W{{0,4}}(?:{_PROGRAMS}) [-\w/.'\"~]", 0),
    )
)


class LabelledCall(NamedTuple):
    """A labelled action that is a call: its anchor, and the tool if one is named."""

    anchor: str
    tool: str | None = None

    def is_call_of(self, name: str | None, code: str) -> bool:
        """Return whether a call of this name, or the code that it runs, calls the tool."""
        if self.tool is None:
            return False
        wanted, given = fold_name(self.tool), fold_name(name or "")
        last = fold_name((name or "").rpartition(".")[2])
        is_cut = self.anchor.endswith(self.tool) and given.startswith(wanted)
        in_code = re.search(rf"\b{re.escape(self.tool)}\s?\(", code)
        return wanted in (given, last) or is_cut or in_code is not None


def find_labelled_call(action: str, anchor: str) -> LabelledCall | None:
    """Return the call that a labelled action is; None for a message or a thought."""
    if _NOTICES.search(anchor):
        return None
    tool = _find_tool(action, anchor)
    if tool is not None:
        return None if tool.lower() in _NOT_CALLS else LabelledCall(anchor, tool)
    is_call = _CALL_VERBS.match(action) or any(shape.search(anchor) for shape in _CALL_SHAPES)
    return LabelledCall(anchor) if is_call else None


def _find_tool(action: str, anchor: str) -> str | None:
    """Return the tool that the anchor names, or that the sentence begins with."""
    matches = (pattern.search(anchor) for pattern in _NAMES)
    match = next(filter(None, matches), None) or _NAMED_FIRST.match(action)
    return None if match is None else match["name"]


def fold_name(name: str) -> str:
    """Return the name of a tool without case, blanks and punctuation."""
    return re.sub(r"[\W_]", "", name).lower()
