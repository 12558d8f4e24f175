"""Recognise calls that an agent wrote as text.

Known are XML-like tags, Thought/Action/Observation in its variants, fences that say that their
content is run, lines such as `Tool call: f({...})`, an action that is the whole text (`click[Buy]`,
`> go to shelf 1`), and transcripts of commands after a prompt (`> open drawer 1`). Used for chat
messages and for logs. A recognised call is only evidence if something else answers it: see
`TraceBuilder.reading_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from planproof.core.json_values import is_object, parse_embedded_json
from planproof.core.trace import DERIVED
from planproof.readers.toolkit.code_calls import parse_named_arguments, parse_written_arguments
from planproof.readers.toolkit.code_fences import CodeBlock, find_code_blocks, has_fence
from planproof.readers.toolkit.python_repr import parse_repr
from planproof.readers.toolkit.tool_calls import ToolCall, parse_call

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
    r"|(?P<action>action)|(?P<think>think|thinking|thought)"
    r"|(?P<result>observation|tool_response|function_results?|tool_results?|execution_result))>"
)
_CHILD = re.compile(r"<([a-z_]{1,40})>")
_PROGRESS = "task_progress"
_PARAMETER = re.compile(r"<parameter(?:=|\s+name=\")([\w.\-]{1,80})\"?>")
_LABEL = re.compile(
    r"^[ \t*#]{0,8}(?P<label>Thought|Action Input|Action|Act|Observation|Obs|Final Answer|Answer)"
    r"(?:[ \t]{0,4}\d{1,4})?[ \t]{0,4}(?::[ \t*]{0,8}|(?<=\d)[ \t]{0,4}$)",
    re.MULTILINE | re.IGNORECASE,
)
_LABEL_NAMES = {"Act": "Action", "Obs": "Observation"}
_LABEL_KINDS: dict[str, SegmentKind] = {
    "Observation": "result",
    "Thought": "thought",
    "Final Answer": "answer",
    "Answer": "answer",
}
_LABEL_PARTNERS = frozenset(("Thought", "Action Input", "Observation"))
_SIGNATURE = re.compile(r"([\w.\-]{1,80})[ \t]?[\[(](.*)[\])]", re.DOTALL)
_TAGGED = re.compile(r"<([a-z_]{1,40})>([^<]{0,4000})</\1>")
_MAX_NAME_LENGTH = 80
# Languages of fences that a program runs; other fences are code that somebody may run.
_RUN_LANGUAGES = {"mswea_bash_command": "bash", "bash_command": "bash", "tool_code": "python"}


@dataclass(slots=True)
class Segment:
    """A section of a text: prose, a call in it, or a labelled section."""

    start: int
    end: int
    kind: SegmentKind = "prose"
    call: ToolCall | None = None


def split_segments(text: str) -> list[Segment]:
    """Split a text into segments, in order; a single one if it contains no call."""
    for split in (_split_tags, _split_labels, _split_fences, _split_call_lines, _split_whole):
        parts = list(split(text))
        if parts and any(
            part.call or (split is _split_tags and part.kind == "result") for part in parts
        ):
            return parts
    return [Segment(0, len(text))]


def has_call(segments: Sequence[Segment]) -> bool:
    """Return whether one of the segments is a call."""
    return any(segment.call is not None for segment in segments)


def is_plain_text(text: str) -> bool:
    """Return whether a text is prose without code, that is, one segment."""
    return not has_fence(text) and [part.kind for part in split_segments(text)] == ["prose"]


def _split_tags(text: str) -> Iterator[Segment]:
    if "<" not in text:
        return
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
        is_strict = match["json"] or match["action"] or match["think"]
        if is_strict and (closing < 0 or text.find(match[0], match.end(), closing) >= 0):
            continue  # truncated, or only the last of several opening tags is closed
        body_end = len(text) if closing < 0 else closing
        end = len(text) if closing < 0 else closing + len(tag) + 3
        if match["result"] or match["think"]:
            segment = Segment(match.end(), body_end, "result" if match["result"] else "thought")
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
        return ToolCall(name, _parse_parameters(body), recognition="tag")
    if match["run"]:
        language = match["run"].removeprefix("execute").removeprefix("run_code").strip("_")
        return ToolCall(language or "python", text=body.strip("\n"), recognition="tag")
    call = _parse_strict(body.strip()) if match["action"] else None
    call = call or parse_call(parse_embedded_json(body))
    return None if call is None else _recognised(call, "tag")


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
    # Searching for plain words first takes a tenth of the time, and many texts have none.
    if not ("Action" in text or "action:" in text or "ACTION" in text or "Act " in text):
        return
    labels, names = _find_labels(text)
    if "Action" not in names:
        return
    # "Action:" alone occurs in many reports; with another label it is a call.
    is_certain = not _LABEL_PARTNERS.isdisjoint(names)
    if labels[0].start() > 0:
        yield Segment(0, labels[0].start())
    starts = [match.start() for match in labels] + [len(text)]
    is_thought = False
    for index, match in enumerate(labels):
        end = starts[index + 1]
        after_thought, is_thought = is_thought, False
        if names[index] == "Observation" and after_thought and _is_ok(text[match.end() : end]):
            continue
        if names[index] == "Action":
            action = text[match.end() : end].strip()
            if names[index + 1 : index + 2] == ["Action Input"]:
                end = starts[index + 2]
                call = _build_call(action, text[labels[index + 1].end() : end].strip())
            else:
                call = parse_action_text(action) if is_certain else _parse_strict(action)
            is_thought = call is not None and call.name.lower() == "think" and bool(call.text)
            if is_thought:
                yield Segment(match.end(), end, "thought")
            elif call is not None:
                yield Segment(match.start(), end, "call", _recognised(call, "react"))
            else:
                yield Segment(match.start(), end)
        elif names[index] != "Action Input" or names[index - 1 : index] != ["Action"]:
            yield Segment(match.end(), end, _LABEL_KINDS.get(names[index], "prose"))


def _find_labels(text: str) -> tuple[list[re.Match[str]], list[str]]:
    labels: list[re.Match[str]] = []
    names: list[str] = []
    for match in _LABEL.finditer(text):
        name = _LABEL_NAMES.get(told := match["label"].title(), told)
        # Observations have lines such as "Answer: 42" too; the agent answers after a thought.
        if name != "Answer" or names[-1:] == ["Thought"]:
            labels.append(match)
            names.append(name)
    return labels, names


def _is_ok(answer: str) -> bool:
    """Return whether this is all that an environment answers to a thought."""
    return answer.strip() in ("OK.", "OK")


def _split_fences(text: str) -> list[Segment]:
    """Split at fences that say that their content is run, or that hold one browser action."""
    if not has_fence(text):
        return []
    blocks = [b for b in find_code_blocks(text) if b.language in _RUN_LANGUAGES]
    if blocks:
        return split_blocks(text, blocks)
    inline = ((m, _parse_browser_action(m[1].strip())) for m in _INLINE_FENCE.finditer(text))
    calls = [(m.start(), m.end(), _recognised(call, "fence")) for m, call in inline if call]
    return _split_at(text, calls[-1:])


def split_blocks(text: str, blocks: list[CodeBlock], default: str = "python") -> list[Segment]:
    """Split a text at code blocks that were run; `default` runs those without a language."""
    calls: list[tuple[int, int, ToolCall]] = []
    for block in blocks:
        known = block.language and block.interpreter
        name = _RUN_LANGUAGES.get(block.language) or known or default
        calls.append((block.start, block.end, ToolCall(name, text=block.code, recognition="fence")))
    return _split_at(text, calls)


def _split_at(text: str, calls: list[tuple[int, int, ToolCall]]) -> list[Segment]:
    segments: list[Segment] = []
    position = 0
    for start, end, call in calls:
        if start > position:
            segments.append(Segment(position, start))
        segments.append(Segment(start, end, "call", call))
        position = end
    if position < len(text):
        segments.append(Segment(position, len(text)))
    return segments


_INLINE_FENCE = re.compile(r"```[ \t]{0,4}+([^`\n]{1,2000}+)```")
_CALL_WORDS = r"(?:tool|function)[ _]calls?|calling (?:tool|function)|(?:tool|function)[ _]use"
# Without the word tool or function, the name must be quoted: "Calling `search` with {...}".
_CALLING = r"(?:calling|invoking|using|executing|running)[ \t]{0,2}:?(?=[ \t]{0,2}[`'\"])"
_CALL_LINE = re.compile(
    rf"^[ \t>*\-]{{0,8}}(?:\[?(?:{_CALL_WORDS})\]?[ \t]{{0,4}}[:=]?|\[tool\]|{_CALLING})"
    r"[ \t*`'\"]{0,4}(?P<name>[A-Za-z_][\w.\-]{0,79})[ \t*`'\"]{0,4}"
    r"(?:with[ \t]{1,2}(?:(?:args|arguments|input|params|parameters)[ \t]{0,4}[:=]?[ \t]{0,4})?`?)?"
    r"(?P<given>[({].{0,20000})$",
    re.MULTILINE | re.IGNORECASE,
)
_RESULT_LINE = re.compile(
    r"^[ \t>*\-]{0,8}(?:\[(?:tool|function)[ _](?:result|output|response)s?\][ \t]{0,4}(?![:=(])"
    r"|\[?(?:tool|function)[ _](?:result|output|response)s?\]?"
    r"(?:[ \t]{0,4}\(?[`']?(?P<name>[A-Za-z_][\w.\-]{0,79})[`']?\)?)?[ \t]{0,4}[:=])[ \t]{0,4}",
    re.MULTILINE | re.IGNORECASE,
)


def parse_call_line(text: str) -> ToolCall | None:
    """Parse a line or log record that is a call: `tool_call: f(x)`, `[tool] f {"x": 1}`."""
    match = _CALL_LINE.match(text)
    if match is None:
        return None
    given = text[match.start("given") :].strip().rstrip("`* ")
    if given.startswith("(") and given.endswith(")"):
        given = given[1:-1].strip()
    elif not given.endswith("}"):
        return None
    call = _parse_browser_call(match["name"], given)
    return _recognised(call or _build_call(match["name"], given), "line")


def parse_result_line(text: str) -> tuple[str | None, str] | None:
    """Parse a line or log record that is a result: the tool, if named, and the output."""
    match = _RESULT_LINE.match(text)
    return None if match is None else (match["name"], text[match.end() :].strip())


def _split_call_lines(text: str) -> Iterator[Segment]:
    is_named = "call" in text or "Call" in text or "ool use" in text or "[tool]" in text
    if not is_named and not ("ing" in text and " with " in text):
        return
    position = 0
    for match in _CALL_LINE.finditer(text):
        call = parse_call_line(match[0])
        if call is None:
            continue
        yield from _split_results(text, position, match.start())
        yield Segment(match.start(), match.end(), "call", call)
        position = match.end()
    yield from _split_results(text, position, len(text))


def _split_results(text: str, start: int, end: int) -> Iterator[Segment]:
    """Split the text after a call into its result, up to the next blank line, and prose."""
    match = _RESULT_LINE.search(text, start, end) if start else None
    if match is not None and not text[start : match.start()].strip():
        blank = text.find("\n\n", match.end(), end)
        yield Segment(match.end(), blank if blank >= 0 else end, "result")
        start = blank if blank >= 0 else end
    if text[start:end].strip():
        yield Segment(start, end)


_WHOLE_BRACKETS = re.compile(r"[A-Za-z_]{2,40}\[[^\n]{0,2000}\]")
_BRACKET_VERBS = frozenset(
    "answer buy calculate calculator click finish lookup open query retrieve search think".split()
)
_ELEMENT_ACTION = re.compile(
    r"([A-Za-z_]{2,40})[ \t]\[([^\]\n]{1,2000})\](?:[ \t]{0,2};?[ \t]{0,2}(.{0,20000}))?", re.DOTALL
)
_ELEMENT = re.compile(r"[A-Za-z]{0,2}\d{1,6}|WINDOW")
_ELEMENT_VERBS = frozenset(
    "click type scroll hover press select clear goto stop tab_focus new_tab close_tab go_back "
    "go_forward focus check uncheck dblclick fill select_option note".split()
)
_BROWSER_CALL = re.compile(r"([a-z_]{2,40})\((.{0,20000})\)", re.DOTALL)
_BROWSER_PARAMETERS = {
    name: tuple(filter(None, parameters.split(",")))
    for name, _, parameters in (
        action.partition(":")
        for action in "check:element clear:element click:element,button dblclick:element,button "
        "drag_and_drop:element,to_element fill:element,text focus:element go_back go_forward "
        "goto:url hover:element keyboard_press:key keyboard_type:text new_tab noop "
        "press:element,key report_infeasible:text scroll select_option:element,option "
        "send_msg_to_user:text tab_close tab_focus uncheck:element upload_file:element,file".split()
    )
}
_QUOTED = re.compile(r"'((?:[^'\\]|\\.){0,20000})'|\"((?:[^\"\\]|\\.){0,20000})\"", re.DOTALL)
_GAME_VERBS = frozenset(
    "go take put open close use heat cool clean examine look inventory think think: toggle slice "
    "move get drop read unlock eat attack pick north south east west up down teleport pour mix "
    "activate deactivate connect focus wait inspect insert prepare cook chop dice turn".split()
)
_COMMAND = re.compile(r"> {0,2}([a-z][^\n]{0,300})")


def _split_whole(text: str) -> list[Segment]:
    bare = text.strip() if len(text) < 2000 else ""
    call = _parse_whole(bare) if bare and "\n" not in bare else None
    return [] if call is None else [Segment(0, len(text), "call", call)]


def _parse_whole(line: str) -> ToolCall | None:
    """Parse a line that is nothing but an action."""
    if line[0] == ">":
        command = _COMMAND.fullmatch(line)
        return _parse_command(command[1]) if command and _is_game_command(command[1]) else None
    if not line[0].isalpha() or (line[-1] not in "])" and "; " not in line):
        return None
    call = _parse_browser_action(line)
    if call is None:
        call = _parse_brackets(line)
        call = call if call and call.name.lower() in _BRACKET_VERBS else _parse_function(line)
    return None if call is None else _recognised(call, "action")


_BARE_COMMAND = re.compile(
    r"(?P<name>[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6})"
    r"(?:[ \t]{1,2}(?P<given>\S{1,80}(?: \S{1,40})?))?"
)


def parse_bare_command(text: str) -> ToolCall | None:
    """Parse a text that is nothing but the name of a tool and a value: `make_move e2e4`.

    It may also be an answer. It is a call only if somebody else named the tool before.
    """
    match = _BARE_COMMAND.fullmatch(text.strip()) if len(text) < 200 and "_" in text else None
    if match is None or (match["given"] or "").endswith((".", "?", "!", ":")):
        return None
    return _recognised(_build_call(match["name"], match["given"] or ""), "command")


def _parse_strict(action: str) -> ToolCall | None:
    """Parse an action that can't be prose: `search[x]`, `Click [5]`, `click('a51')`, JSON."""
    bare = _unfence(action)
    found = _parse_browser_action(bare) or _parse_brackets(bare)
    if found is None and is_object(value := parse_embedded_json(bare)):
        found = parse_call(value)
    return found


def _parse_function(line: str) -> ToolCall | None:
    """Parse a line such as `get_order(order_id=12)`, with a name that is no word of a language."""
    match = _SIGNATURE.fullmatch(line)
    is_function = match is not None and "_" in match[1] and line.endswith(")")
    return _build_signature(match) if match is not None and is_function else None


def _parse_brackets(action: str) -> ToolCall | None:
    if _WHOLE_BRACKETS.fullmatch(action) is None:
        return None
    name, _, given = action.partition("[")
    return _build_call(name, given[:-1])


def _parse_browser_action(action: str) -> ToolCall | None:
    found = _parse_element_action(action)
    if found is None and (match := _BROWSER_CALL.fullmatch(action)) is not None:
        found = _parse_browser_call(match[1], match[2])
    return found


def _unfence(action: str) -> str:
    """Return an action without the fence around it."""
    if not action.startswith("```"):
        return action
    inline = _INLINE_FENCE.fullmatch(action)
    if inline is not None:
        return inline[1].strip()
    block = next(find_code_blocks(action), None)
    is_plain = block is not None and block.language in ("", "json", "text", "python", "action")
    return block.code.strip() if block is not None and is_plain else action


def _parse_element_action(action: str) -> ToolCall | None:
    """Parse `Click [5]`, `Type [0]; text` or `type [164] [restaurants] [1]`."""
    match = _ELEMENT_ACTION.fullmatch(action)
    if match is None or match[1].lower() not in _ELEMENT_VERBS:
        return None
    rest = (match[3] or "").strip()
    if _ELEMENT.fullmatch(match[2]) is None:
        # The only thing in brackets is a text: `goto [https://...]`, `stop [answer]`.
        return None if rest and not rest.startswith("[") else ToolCall(match[1], text=match[2])
    arguments = {"element": match[2]}
    if rest.startswith("["):
        rest = rest[1:].partition("]")[0]
    return ToolCall(match[1], {**arguments, "text": rest} if rest else arguments)


def _parse_browser_call(name: str, given: str) -> ToolCall | None:
    """Parse an action of a browser as Python writes it: `fill('a51', 'Paris')`."""
    parameters = _BROWSER_PARAMETERS.get(name)
    if parameters is None or is_object(parse_embedded_json(given)):
        return None
    texts = [single or double for single, double in _QUOTED.findall(given)]
    if not parameters or not texts:
        return ToolCall(name, text=given.strip())
    return ToolCall(name, dict(zip(parameters, texts, strict=False)))


def _is_game_command(command: str) -> bool:
    return command.split(None, 1)[0] in _GAME_VERBS


def _parse_command(command: str) -> ToolCall:
    name = command.split(None, 1)[0].rstrip(":;,")[:_MAX_NAME_LENGTH]
    return ToolCall(name, text=command.strip(), recognition="command")


def is_command_transcript(text: str) -> bool:
    """Return whether a text is a transcript of commands at a prompt and what they answered."""
    if "\n> " not in text and "\n>\n" not in text:
        return False
    lines = text.split("\n")
    commands = known = answered = 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        match = _COMMAND.fullmatch(line.rstrip())
        if match is not None:
            commands += 1
            known += _is_game_command(match[1])
            answered += bool(following.strip()) and not following.startswith(">")
    return known > 1 and 2 * known > commands and 2 * answered > commands


def split_commands(text: str) -> list[Segment]:
    """Split a transcript into commands, thoughts, and what answered the commands.

    A command comes after the prompt, or, where a new part of the run begins, on the line below it.
    """
    segments: list[Segment] = []
    position = 0
    is_prompted = True
    opened: Segment | None = None
    for line in text.split("\n"):
        start, end = position, position + len(line)
        position = end + 1
        bare = line.strip()
        match = _COMMAND.fullmatch(line.rstrip())
        if bare == ">":
            is_prompted, opened = True, None
            continue
        command = match[1] if match is not None else None
        if command is None and is_prompted and line[:1] == " " and _is_game_command(bare or "?"):
            command = bare
        if command is not None:
            thought = command.partition(":")[2] if command.startswith("think:") else ""
            segments.append(
                Segment(end - len(thought.rstrip()), end, "thought")
                if thought
                else Segment(start, end, "call", _parse_command(command))
            )
            is_prompted, opened = False, None
        elif opened is not None:
            opened.end = end if bare else opened.end
        elif bare and not (segments and segments[-1].kind == "thought" and _is_ok(bare)):
            follows = bool(segments) and segments[-1].kind == "call"
            opened = Segment(start, end, "result" if follows else "prose")
            segments.append(opened)
    return segments


_EXAMPLES = re.compile(
    r"(?:here|below|following|these|see|with|given|some|few)\b.{0,80}\bexamples?\b"
    r"|examples?[ \d]{0,4}:",
    re.IGNORECASE,
)
_RUN_MARK = re.compile(
    r"\(?END OF EXAMPLES\)?|(?:now,? )?here is (?:the|your) (?:actual |real |new )?task\b|Begin!"
    r"|now (?:it is|it's) your turn\b|your turn\b",
    re.IGNORECASE,
)
_TASK_LINE = re.compile(r"(?:Question|Claim|Task|Instruction) ?:|You are in the middle of a room")
_MOST_PROMPT_LINES = 60


def find_run_start(lines: Sequence[str]) -> int:
    """Return the index of the line at which the run begins, after a prompt with examples.

    It is 0 unless the text announces examples before the first action. Then the run begins after
    the line that says so, or with the last task.
    """
    announced = 0
    for number, line in enumerate(lines[:_MOST_PROMPT_LINES], 1):
        if announced or _LABEL.match(line) or line.startswith("> "):
            break
        announced = number if _EXAMPLES.search(line[:400]) else 0
    if not announced:
        return 0
    numbered = list(enumerate(lines[announced:], announced))
    marks = [number + 1 for number, line in numbered if _RUN_MARK.match(line.strip()[:80])]
    tasks = [number for number, line in numbered if _TASK_LINE.match(line)]
    return (marks or tasks or [0])[-1]


_LISTED = re.compile(
    r"\]?:?[ \t]{0,2}(?:<(?P<tag>[a-zA-Z]{1,20})[^>\n]{0,200}>|(?P<role>[A-Za-z]{2,30})(?= ['\"]))?"
    r"[ \t]{0,2}(?:\"(?P<double>[^\"\n]{0,300})\"|'(?P<single>[^'\n]{0,300})'"
    r"|(?P<plain>[^<>\[\]\n;]{1,300}))?"
)
_PAGE_URL = re.compile(r"\b(?:current )?URL ?: ?[\"']?(https?://[^\s\"']{1,2000})", re.IGNORECASE)


def add_element_target(call: ToolCall, observation: str) -> None:
    """Add to the arguments label, role and page of the element, as an observation lists them."""
    arguments = call.arguments
    element = arguments.get("element") if is_object(arguments) else None
    found = observation.find(f"[{element}]") if isinstance(element, str) else -1
    listed = _LISTED.match(observation, found + len(str(element)) + 1) if found >= 0 else None
    label = (listed["double"] or listed["single"] or listed["plain"] or "") if listed else ""
    if listed is None or not label.strip():
        return
    page = _PAGE_URL.search(observation) if "://" in observation else None
    described = {
        "label": label.strip(),
        "role": (listed["tag"] or listed["role"] or "").lower(),
        "url": page[1] if page is not None else "",
    }
    target = {f"{DERIVED}{key}": value for key, value in described.items() if value}
    call.arguments = {**arguments, f"{DERIVED}target": target}


def _recognised(call: ToolCall, how: str) -> ToolCall:
    call.recognition = how
    return call


def _build_call(name: str, raw: str) -> ToolCall:
    arguments, text = parse_written_arguments(raw)
    return ToolCall(name[:_MAX_NAME_LENGTH], arguments, text)


def _build_signature(match: re.Match[str]) -> ToolCall:
    call = _build_call(match[1], match[2])
    named = parse_named_arguments(match[0]) if call.arguments is None else None
    return call if named is None else ToolCall(call.name, named)


def parse_action_text(action: str) -> ToolCall | None:
    """Parse a call written as text: JSON, fenced code, `search[Paris]`, `f(x)`, or a command."""
    strict = _parse_strict(action)
    if strict is not None:
        return strict
    if is_object(parse_embedded_json(_unfence(action))):
        return None
    opening = _OBJECT.match(action)
    if opening is not None:
        return _parse_loose_object(action, opening.end())
    code = next(find_code_blocks(f"{action}\n```"), None) if action.startswith("```") else None
    if code is not None:
        return ToolCall(code.interpreter or code.language, text=code.code)
    match = _SIGNATURE.fullmatch(action)
    if match is not None:
        return _build_signature(match)
    tagged = _TAGGED.match(action) if action.startswith("<") else None
    if tagged is not None:
        return ToolCall(tagged[1], text=tagged[2].strip())
    bare = _unfence(action)
    if not bare:
        return None
    name, _, rest = bare.partition(" ")
    if name.endswith(";"):
        return ToolCall(name[:-1][:_MAX_NAME_LENGTH], text=rest.strip())
    return ToolCall(bare.split(None, 1)[0][:_MAX_NAME_LENGTH], text=bare)


_OBJECT = re.compile(r"(?:```[ \t]{0,4}(?:json|action)?\s{0,8})?(?=\{)", re.IGNORECASE)
_NAMED_TOOL = re.compile(
    r"""["'](?:action|tool|tool_name|name|function)["']\s{0,8}:\s{0,8}["']([\w.\- ]{1,80})["']"""
)


def _parse_loose_object(action: str, start: int) -> ToolCall | None:
    """Parse an object that is not valid JSON: followed by text, cut off, or as Python prints it.

    If only the name of the tool can be found, the rest is kept as text.
    """
    parsed = parse_repr(action, start)
    if parsed is not None and is_object(parsed.value):
        return parse_call(parsed.value)
    named = _NAMED_TOOL.search(action, start)
    return None if named is None else ToolCall(named[1], text=action[start:].rstrip("` \n"))


_MARK = r"(?:[ xX✓✔✗✘→>~!\-✅❌⏳]\ufe0f?|->|)"
_ITEM = rf"[ \t]{{0,40}}(?:\d{{1,3}}[.)]|[-*•])[ \t]{{1,8}}\[{_MARK}\][ \t]"
_CHECKLIST = re.compile(
    rf"^{_ITEM}[^\n]*+(?:\n(?:{_ITEM}|[ \t]{{2,40}}[^ \t\n])[^\n]*+)*+", re.MULTILINE
)


def find_checklists(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each checklist: steps with marks, printed as work proceeds."""
    # Searching for a single letter takes a fraction of the time.
    return (match.span() for match in (_CHECKLIST.finditer(text) if "]" in text else ()))


_PROGRAM_OUTPUT = re.compile(
    r"\s{0,8}(?:<[a-z_]{0,20}(?:output|return|exit|result|std(?:out|err)|observation)[a-z_]{0,20}>"
    r"|\[?(?:exit|return) ?code\b|observation\b|stdout\b|code output:|the script ran"
    r"|(?:command|execution|tool|program) (?:output|results?)\s{0,4}:|output\s{0,4}:)",
    re.IGNORECASE,
)


def is_program_output(text: str) -> bool:
    """Return whether a message that is attributed to the user is the output of a program."""
    return _PROGRAM_OUTPUT.match(text) is not None
