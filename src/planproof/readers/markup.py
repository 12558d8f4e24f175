"""Calls that an agent writes inside its text: XML-like tags and Thought/Action/Observation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planproof.readers.calls import Call, as_call
from planproof.readers.shapes import embedded, is_object

_OPENING = re.compile(
    r"<(?:function=(?P<function>[\w.\-]{1,80})"
    r"|invoke name=\"(?P<invoke>[\w.\-]{1,80})\""
    r"|(?P<json>tool_call|function_call|tool_use)"
    r"|(?P<run>execute(?:_[a-z]{1,20})?|bash|python_code|run_code)"
    r"|(?P<result>observation|tool_response|function_results?|tool_results?|execution_result))>"
)
_PARAMETER = re.compile(r"<parameter(?:=|\s+name=\")([\w.\-]{1,80})\"?>")
_REACT = re.compile(
    r"^[ \t*#]*(?P<label>Thought|Action Input|Action|Observation|Final Answer)\s*(?:\d+\s*)?"
    r":[ \t*]*",
    re.MULTILINE,
)
_NAMED_CALL = re.compile(r"\s*([\w.\-]{1,80})\s*[\[(](.*)[\])]\s*", re.DOTALL)


@dataclass(slots=True)
class Segment:
    """A stretch of a text: prose, a call that stands in it, or the result of one."""

    start: int
    end: int
    call: Call | None = None
    is_result: bool = False
    is_thought: bool = False


def segments(text: str) -> list[Segment]:
    """The stretches of a text in order; just one when there is no call in it."""
    if "<" in text:
        found = list(_tagged(text))
        if any(part.call is not None or part.is_result for part in found):
            return found
    if "Action" in text or "Observation" in text:
        found = list(_labelled(text))
        if any(part.call is not None or part.is_result for part in found):
            return found
    return [Segment(0, len(text))]


def _tagged(text: str) -> Iterator[Segment]:
    position = 0
    for match in _OPENING.finditer(text):
        if match.start() < position:
            continue
        tag = match[0][1:-1].partition("=")[0].partition(" ")[0]
        closing = text.find(f"</{tag}>", match.end())
        body_end = len(text) if closing < 0 else closing
        end = len(text) if closing < 0 else closing + len(tag) + 3
        body = text[match.end() : body_end]
        if match["result"]:
            segment = Segment(match.end(), body_end, is_result=True)
        else:
            call = _call_in(match, body)
            if call is None:
                continue
            segment = Segment(match.start(), end, call=call)
        if match.start() > position:
            yield Segment(position, match.start())
        yield segment
        position = end
    if position < len(text):
        yield Segment(position, len(text))


def _call_in(match: re.Match[str], body: str) -> Call | None:
    name = match["function"] or match["invoke"]
    if name:
        return Call(name, _parameters(body))
    if match["run"]:
        language = match["run"].removeprefix("execute").strip("_") or "python"
        return Call(language.removesuffix("_code").replace("run", "python"), text=body.strip("\n"))
    return as_call(embedded(body))


def _parameters(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    opened = list(_PARAMETER.finditer(body))
    for index, match in enumerate(opened):
        limit = opened[index + 1].start() if index + 1 < len(opened) else len(body)
        closing = body.find("</parameter>", match.end(), limit)
        found[match[1]] = body[match.end() : closing if closing >= 0 else limit].strip("\n")
    return found


def _labelled(text: str) -> Iterator[Segment]:
    labels = list(_REACT.finditer(text))
    if labels and labels[0].start() > 0:
        yield Segment(0, labels[0].start())
    index = 0
    while index < len(labels):
        match = labels[index]
        end = labels[index + 1].start() if index + 1 < len(labels) else len(text)
        label = match["label"]
        if label == "Action":
            has_input = index + 1 < len(labels) and labels[index + 1]["label"] == "Action Input"
            name = text[match.end() : end].strip()
            if has_input:
                index += 1
                start = labels[index].end()
                end = labels[index + 1].start() if index + 1 < len(labels) else len(text)
                yield Segment(match.start(), end, call=_given(name, text[start:end].strip()))
            else:
                yield Segment(match.start(), end, call=_parsed(name))
        else:
            yield Segment(
                match.end(), end, is_result=label == "Observation", is_thought=label == "Thought"
            )
        index += 1


def _given(name: str, raw: str) -> Call:
    value = embedded(raw)
    return Call(name[:80], value) if value is not None else Call(name[:80], text=raw)


def _parsed(action: str) -> Call | None:
    value = embedded(action)
    if is_object(value):
        return as_call(value)
    match = _NAMED_CALL.fullmatch(action[:20_000])
    if match is not None:
        return _given(match[1], match[2])
    return Call(action.split(None, 1)[0][:80], text=action) if action else None
