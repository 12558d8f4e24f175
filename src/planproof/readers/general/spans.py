"""Spans: what OpenTelemetry and its kin record of an agent, flat or nested."""

from __future__ import annotations

import re

from planproof.content import Json
from planproof.readers.general.span import Span, is_span, spans_of
from planproof.readers.pieces.calls import Call, arguments_of, as_call
from planproof.readers.pieces.fences import blocks
from planproof.readers.pieces.shapes import (
    embedded,
    is_list,
    is_object,
    key_with_text,
    text_at,
    time_of,
    written,
)
from planproof.readers.pieces.transcript import Draft, Transcript
from planproof.trace import Kind

_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "tool_name", "traceloop.entity.name", "name")
_INPUTS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "tool_arguments",
    "tool.arguments",
    "input.value",
    "traceloop.entity.input",
    "mlflow.spanInputs",
    "inputs",
    "input",
)
_OUTPUTS = (
    "gen_ai.tool.call.result",
    "gen_ai.output",
    "tool_response",
    "output.value",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
    "outputs",
    "output",
)
_ANSWERS = ("gen_ai.output.messages", *_OUTPUTS)
_FLAT = re.compile(r"(?:llm\.output_messages|gen_ai\.completion)\.(\d{1,4})\.(?:message\.)?(.+)")
_FLAT_CALL = re.compile(r"tool_calls\.(\d{1,4})\.(?:tool_call\.)?(?:function\.)?(\w+)")
_CODE_AGENT = re.compile(r"\bCode:\s{0,8}\n\s{0,8}```|```\s{0,8}<end_code>")


def read_spans(transcript: Transcript, entries: list[tuple[str, Json]]) -> None:
    """Write what the spans did, in the order in which they began."""
    for pointer, value in entries:
        if not is_span(value):
            transcript.skip(pointer, "is no span")
    reading = _Reading(transcript)
    for span in spans_of((pointer, value) for pointer, value in entries if is_span(value)):
        reading.take(span)
    transcript.parent = None


class _Reading:
    """Writes spans, in order of their start, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._asked: list[Draft] = []
        self._code: dict[int, Draft] = {}

    def take(self, span: Span) -> None:
        """Write one span."""
        self._transcript.time = time_of(span.start)
        self._transcript.parent = self._code_around(span)
        if span.runs_tool:
            self._tool(span)
        elif span.hands_over:
            self._transcript.begin_turn()
            name = text_at(span.attributes, "to_agent", "target") or "hand-off"
            actor = text_at(span.attributes, "from_agent", "source")
            self._transcript.add(Draft(Kind.ACTION, span.place, name, actor))
        elif span.asks_model:
            self._transcript.begin_turn()
            self._asked = []
            if not self._flat_answer(span):
                self._answer(span)

    def _code_around(self, span: Span) -> Draft | None:
        around = span.parent
        while around is not None and id(around) not in self._code:
            around = around.parent
        return self._code[id(around)] if around is not None else None

    def _tool(self, span: Span) -> None:
        name = text_at(span.attributes, *_TOOL_NAMES) or text_at(span.value, "name", "span_name")
        name = (name or "tool").removeprefix("execute_tool ")
        given = span.key_of(_INPUTS)
        arguments, text = arguments_of(span.attributes[given] if given is not None else None)
        arguments = _unwrapped(arguments)
        if self._is_in_code(name, arguments):
            return
        # What the model asked for and what then ran is one action.
        draft = next((asked for asked in self._asked if asked.name == name), None)
        if draft is not None:
            self._asked.remove(draft)
        else:
            if not self._asked and self._transcript.parent is None:
                self._transcript.begin_turn()
            draft = self._transcript.add(Draft(Kind.ACTION, span.place, name, "assistant"))
        draft.pointer = span.place
        if arguments is not None or text:
            draft.arguments, draft.text = arguments, text
        key = span.key_of(_OUTPUTS)
        if key is not None:
            draft.returned(written(span.attributes[key]), span.pointer_to(key))
        draft.status = span.status(draft.output if key is not None else None)
        why = key_with_text(span.value, ("status_message", "error"))
        if key is None and why is not None:
            draft.returned(span.value[why], f"{span.pointer}/{why}", draft.status)

    def _is_in_code(self, name: str, arguments: Json) -> bool:
        """Whether the code around it says just this call: then it is told already."""
        code = self._transcript.parent
        if code is None or f"{name}(" not in code.text:
            return False
        given = list(arguments.values()) if is_object(arguments) else []
        if is_list(given[0] if given else None):
            given = [*given[0], *given[1:]]
        return all(isinstance(value, str) and value in code.text for value in given)

    def _flat_answer(self, span: Span) -> bool:
        found = False
        calls: dict[str, dict[str, str]] = {}
        for key, value in span.attributes.items():
            match = _FLAT.fullmatch(key) if key.startswith(("llm.out", "gen_ai.com")) else None
            if match is None:
                continue
            found = True
            if match[2] == "content" and isinstance(value, str):
                self._said(value, span.pointer_to(key), span)
            call = _FLAT_CALL.fullmatch(match[2])
            if call is not None:
                calls.setdefault(f"{match[1]}.{call[1]}", {})[call[2]] = key
        for keys in calls.values():
            name = span.attributes[keys["name"]] if "name" in keys else None
            if isinstance(name, str):
                arguments, text = arguments_of(span.attributes.get(keys.get("arguments", "")))
                place = span.pointer_to(keys.get("arguments", keys["name"]))
                self._ask(Call(name, arguments, text), place)
        return found

    def _answer(self, span: Span) -> None:
        key = span.key_of(_ANSWERS)
        if key is None:
            return
        raw, place = span.attributes[key], span.pointer_to(key)
        value = embedded(raw) if isinstance(raw, str) else raw
        if not is_object(value) and not is_list(value):
            self._said(written(raw), place, span)
            return
        for item in value if is_list(value) else [value]:
            if is_object(item):
                self._message(item, place, span)

    def _message(self, item: dict[str, Json], place: str, span: Span) -> None:
        if "tool.name" in item:
            self._ask(as_call(item), place)
        content = item.get("content", item.get("parts"))
        if isinstance(content, str):
            self._said(content, place, span)
        for part in content if is_list(content) else []:
            if is_object(part) and part.get("type") in ("tool_call", "tool_use"):
                self._ask(as_call(part), place)
            elif is_object(part):
                self._said(text_at(part, "content", "text") or "", place, span)
        calls = item.get("tool_calls")
        for call in calls if is_list(calls) else []:
            self._ask(as_call(call), place)

    def _ask(self, call: Call | None, place: str) -> None:
        if call is not None:
            self._asked.append(self._transcript.call(call, place, "assistant"))

    def _said(self, text: str, place: str, span: Span) -> None:
        block = next(blocks(text), None) if _CODE_AGENT.search(text) else None
        if block is None:
            # What is followed by more work inside the same span was not the answer.
            around = span.parent
            is_answer = around is None or around.ends_with is span
            is_thought = not is_answer or text.lstrip().startswith("Thought:")
            kind = Kind.REASONING if is_thought else Kind.MESSAGE
            self._transcript.say(kind, text.strip(), place, "assistant")
            return
        thought = text[: block.start].strip().removesuffix("Code:").strip()
        self._transcript.say(Kind.REASONING, thought, place, "assistant")
        draft = Draft(Kind.ACTION, place, "python", "assistant", block.code)
        self._transcript.add(draft)
        step = span.parent
        if step is not None:
            self._code[id(step)] = draft
            output = step.attributes.get("output.value")
            if isinstance(output, str):
                draft.returned(output, step.pointer_to("output.value"))
            draft.status = step.status(draft.output if isinstance(output, str) else None)


def _unwrapped(arguments: Json) -> Json:
    if is_object(arguments) and is_object(arguments.get("kwargs")):
        if not arguments.get("args"):
            return arguments["kwargs"]
        return {"args": arguments["args"], **arguments["kwargs"]}
    return arguments
