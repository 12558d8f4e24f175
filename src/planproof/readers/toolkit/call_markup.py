"""Parse calls written in an agent's text: XML-like tags and Thought/Action/Observation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from planproof.core.json_values import is_object, parse_embedded_json
from planproof.readers.toolkit.code_fences import find_code_blocks
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments, parse_call

SegmentKind: TypeAlias = Literal["prose", "call", "result", "thought", "answer"]

# Tools of Cline, Roo Code and Kilo Code: a tag of this name, with a tag for each parameter.
_TAG_TOOLS = (
    "execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content"
    "|search_and_replace|search_files|list_files|list_code_definition_names|codebase_search"
    "|browser_action|use_mcp_tool|access_mcp_resource|web_fetch|ask_followup_question"
    "|plan_mode_respond|attempt_completion|new_task|switch_mode|update_todo_list|fetch_instructions"
)
_OPENING = re.compile(
    r"<(?:function=(?P<function>[\w.\-]{1,80})"
    rf"|(?P<tool>{_TAG_TOOLS})"
    r"|invoke name=\"(?P<invoke>[\w.\-]{1,80})\""
    r"|(?P<json>tool_call|function_call|tool_use)"
    r"|(?P<run>execute(?:_[a-z]{1,20})?|bash|run_code)"
    r"|(?P<result>observation|tool_response|function_results?|tool_results?|execution_result))>"
)
_CHILD = re.compile(r"<([a-z_]{1,40})>")
_PROGRESS = "task_progress"
_PARAMETER = re.compile(r"<parameter(?:=|\s+name=\")([\w.\-]{1,80})\"?>")
_LABEL = re.compile(
    r"^[ \t*#]{0,8}(?P<label>Thought|Action Input|Action|Observation|Final Answer)"
    r"[ \t]{0,4}(?:\d{1,4}[ \t]{0,4})?:[ \t*]{0,8}",
    re.MULTILINE,
)
_SIGNATURE = re.compile(r"([\w.\-]{1,80})[ \t]?[\[(](.*)[\])]", re.DOTALL)
_MAX_NAME_LENGTH = 80
_LABEL_KINDS: dict[str, SegmentKind] = {
    "Observation": "result",
    "Thought": "thought",
    "Final Answer": "answer",
}


@dataclass(slots=True)
class Segment:
    """A section of a text: prose, a call in it, or a labelled section."""

    start: int
    end: int
    kind: SegmentKind = "prose"
    call: ToolCall | None = None


def split_segments(text: str) -> list[Segment]:
    """Split a text into segments, in order; a single one if it contains no call."""
    if "<" in text:
        parts = list(_split_tags(text))
        if any(part.kind != "prose" for part in parts):
            return parts
    if _may_be_labelled(text):
        parts = list(_split_labels(text))
        if any(part.kind == "call" for part in parts):
            return parts
    return [Segment(0, len(text))]


def is_plain_text(text: str) -> bool:
    """Return whether a quick check shows that a text is prose, that is, one segment."""
    return "<" not in text and not _may_be_labelled(text)


def _may_be_labelled(text: str) -> bool:
    # Searching for single letters first takes a tenth of the time, and many texts have none.
    return "A" in text and ":" in text and "Action" in text


def _split_tags(text: str) -> Iterator[Segment]:
    position = 0
    closed: dict[str, int] = {}
    for match in _OPENING.finditer(text):
        if match.start() < position:
            continue
        tag = match[0][1:-1].partition("=")[0].partition(" ")[0]
        # Searched once for each closing tag, not for each opening one.
        if closed.get(tag, 0) >= 0 and closed.get(tag, 0) < match.end():
            closed[tag] = text.find(f"</{tag}>", match.end())
        closing = closed[tag]
        if match["json"] and (closing < 0 or text.find(match[0], match.end(), closing) >= 0):
            continue  # truncated, or only the last of several opening tags is closed
        body_end = len(text) if closing < 0 else closing
        end = len(text) if closing < 0 else closing + len(tag) + 3
        if match["result"]:
            segment = Segment(match.end(), body_end, "result")
        else:
            call = _parse_tagged_call(match, text[match.end() : body_end])
            if call is None:
                continue
            segment = Segment(match.start(), end, "call", call)
        if match.start() > position:
            yield Segment(position, match.start())
        if match["tool"]:
            yield from _find_progress(text, match.end(), body_end)
        yield segment
        position = end
    if position < len(text):
        yield Segment(position, len(text))


def _parse_tagged_call(match: re.Match[str], body: str) -> ToolCall | None:
    if match["tool"]:
        parameters = _parse_children(body)
        parameters.pop(_PROGRESS, None)
        return ToolCall(match["tool"], parameters or None, "" if parameters else body.strip())
    name = match["function"] or match["invoke"]
    if name:
        return ToolCall(name, _parse_parameters(body))
    if match["run"]:
        language = match["run"].removeprefix("execute").removeprefix("run_code").strip("_")
        return ToolCall(language or "python", text=body.strip("\n"))
    return parse_call(parse_embedded_json(body))


def _parse_children(body: str) -> dict[str, str]:
    """Return the parameters of a tool, each in a tag of its own."""
    parameters: dict[str, str] = {}
    match = _CHILD.search(body)
    while match is not None:
        name, closing = match[1], f"</{match[1]}>"
        # The content of a file may contain the closing tag.
        find = body.rfind if name in ("content", "diff") else body.find
        end = find(closing, match.end())
        parameters[name] = body[match.end() : end if end >= 0 else len(body)].strip("\n")
        match = _CHILD.search(body, end + len(closing)) if end >= 0 else None
    return parameters


def _find_progress(text: str, start: int, end: int) -> Iterator[Segment]:
    """Yield the checklist that a call carries beside its parameters."""
    opening = text.find(f"<{_PROGRESS}>", start, end)
    closing = text.find(f"</{_PROGRESS}>", opening, end) if opening >= 0 else -1
    if closing >= 0:
        yield Segment(opening + len(_PROGRESS) + 2, closing, "thought")


def _parse_parameters(body: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    opened = list(_PARAMETER.finditer(body))
    for index, match in enumerate(opened):
        limit = opened[index + 1].start() if index + 1 < len(opened) else len(body)
        closing = body.find("</parameter>", match.end(), limit)
        parameters[match[1]] = body[match.end() : closing if closing >= 0 else limit].strip("\n")
    return parameters


def _split_labels(text: str) -> Iterator[Segment]:
    labels = list(_LABEL.finditer(text))
    names = [match["label"] for match in labels]
    # "Action:" alone occurs in many reports; with a thought or an input it is a call.
    if "Action" not in names or not ("Thought" in names or "Action Input" in names):
        return
    if labels[0].start() > 0:
        yield Segment(0, labels[0].start())
    starts = [match.start() for match in labels] + [len(text)]
    for index, match in enumerate(labels):
        end = starts[index + 1]
        if names[index] == "Action":
            action = text[match.end() : end].strip()
            if names[index + 1 : index + 2] == ["Action Input"]:
                end = starts[index + 2]
                call = _build_call(action, text[labels[index + 1].end() : end].strip())
            else:
                call = parse_action_text(action)
            yield Segment(match.start(), end, "call" if call is not None else "prose", call)
        elif names[index] != "Action Input" or names[index - 1 : index] != ["Action"]:
            yield Segment(match.end(), end, _LABEL_KINDS.get(names[index], "prose"))


def _build_call(name: str, raw: str) -> ToolCall:
    arguments, text = parse_arguments(raw)
    return ToolCall(name[:_MAX_NAME_LENGTH], arguments, text)


def parse_action_text(action: str) -> ToolCall | None:
    """Parse a call written as text: JSON, fenced code, `search[Paris]`, `f(x)`, or a command."""
    value = parse_embedded_json(action)
    if is_object(value):
        return parse_call(value)
    code = next(find_code_blocks(f"{action}\n```"), None) if action.startswith("```") else None
    if code is not None:
        return ToolCall(code.interpreter or code.language, text=code.code)
    match = _SIGNATURE.fullmatch(action)
    if match is not None:
        return _build_call(match[1], match[2])
    return ToolCall(action.split(None, 1)[0][:_MAX_NAME_LENGTH], text=action) if action else None
