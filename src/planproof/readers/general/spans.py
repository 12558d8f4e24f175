"""Spans: what OpenTelemetry and its kin record of an agent, flat or nested."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from planproof.content import Json
from planproof.pointer import escape
from planproof.readers.calls import Call, arguments_of, as_call
from planproof.readers.outcomes import outcome_of, stated
from planproof.readers.shapes import embedded, is_list, is_object, text_at, time_of, written
from planproof.readers.transcript import Draft, Transcript
from planproof.trace import EventStatus, Kind

_ATTRIBUTES = ("attributes", "span_attributes", "spanAttributes")
_CHILDREN = ("child_spans", "children", "child_runs", "spans")
_STARTS = ("start_time", "startTimeUnixNano", "start_time_unix_nano", "timestamp", "startTime")
_KINDS = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "traceloop.span.kind",
    "span.type",
    "mlflow.spanType",
    "logfire.span_type",
)
_TOOL_KINDS = frozenset(("tool", "execute_tool", "function"))
_MODEL_KINDS = frozenset(
    (
        "llm",
        "chat",
        "call_llm",
        "chat_model",
        "completion",
        "text_completion",
        "generate_content",
        "generation",
    )
)
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "tool_name", "traceloop.entity.name")
_TOOL_INPUTS = (
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
_MESSAGES = ("gen_ai.output.messages", "gen_ai.output", "output.value", "outputs", "output")
_FLAT = re.compile(r"(?:llm\.output_messages|gen_ai\.completion)\.(\d{1,4})\.(?:message\.)?(.+)")
_FLAT_CALL = re.compile(r"tool_calls\.(\d{1,4})\.(?:tool_call\.)?(?:function\.)?(\w+)")
_CODE = re.compile(r"```(?:py|python)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_CODE_AGENT = re.compile(r"\bCode:\s*\n\s*```|<end_code>")


@dataclass(slots=True)
class _Span:
    """A span with its place, its attributes and the span that it is in."""

    value: dict[str, Json]
    pointer: str
    attributes: dict[str, Json]
    place: str
    kind: str
    parent: _Span | None = None
    start: Json = None
    children: list[_Span] = field(default_factory=list["_Span"])


def is_span(value: Json) -> bool:
    """Whether this is a span: attributes together with an id or a time."""
    if not is_object(value):
        return False
    if "run_type" in value:
        return True
    return any(key in value for key in _ATTRIBUTES) and any(
        key in value for key in ("span_id", "spanId", "context", *_STARTS)
    )


def read_spans(transcript: Transcript, entries: list[tuple[str, Json]]) -> None:
    """Write what the spans did, in the order in which they began."""
    spans: list[_Span] = []
    for pointer, value in entries:
        if is_span(value):
            _flatten(value, pointer, None, spans)
        else:
            transcript.skip(pointer, "is no span")
    _link(spans)
    Spans(transcript).read(_in_time(spans))


class Spans:
    """Writes spans, in order of their start, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._asked: list[Draft] = []
        self._code: dict[int, Draft] = {}

    def read(self, spans: list[_Span]) -> None:
        """Take all spans."""
        for span in spans:
            self._transcript.time = time_of(span.start)
            self._transcript.parent = self._code_around(span)
            if span.kind in _TOOL_KINDS:
                self._tool(span)
            elif span.kind in _MODEL_KINDS:
                self._model(span)
        self._transcript.parent = None

    def _code_around(self, span: _Span) -> Draft | None:
        around = span.parent
        while around is not None:
            if id(around) in self._code:
                return self._code[id(around)]
            around = around.parent
        return None

    def _tool(self, span: _Span) -> None:
        name = text_at(span.attributes, *_TOOL_NAMES) or text_at(span.value, "name", "span_name")
        name = (name or "tool").removeprefix("execute_tool ")
        arguments, text = arguments_of(_first(span.attributes, _TOOL_INPUTS))
        draft = next((d for d in self._asked if d.name == name), None)
        if draft is not None:
            self._asked.remove(draft)
        else:
            if not self._asked:
                self._transcript.begin_turn()
            draft = self._transcript.add(Draft(Kind.ACTION, span.place, name))
        draft.pointer = span.place
        draft.arguments = _unwrapped(arguments) if arguments is not None else draft.arguments
        draft.text = text or draft.text
        key = next((key for key in _OUTPUTS if span.attributes.get(key) is not None), None)
        if key is not None:
            draft.output = written(span.attributes[key])
            draft.output_pointer = _at(span, key)
        draft.status = _status(span, draft.output if key is not None else None)

    def _model(self, span: _Span) -> None:
        self._transcript.begin_turn()
        self._asked = []
        if not self._flat_output(span):
            self._whole_output(span)

    def _flat_output(self, span: _Span) -> bool:
        found = False
        calls: dict[str, dict[str, tuple[str, Json]]] = {}
        for key, value in span.attributes.items():
            match = _FLAT.fullmatch(key) if key.startswith(("llm.out", "gen_ai.comp")) else None
            if match is None:
                continue
            found = True
            if match[2] == "content" and isinstance(value, str):
                self._said(value, _at(span, key), span)
            call = _FLAT_CALL.fullmatch(match[2])
            if call is not None:
                calls.setdefault(call[1], {})[call[2]] = (_at(span, key), value)
        for parts in calls.values():
            name = parts.get("name", ("", None))[1]
            if isinstance(name, str):
                place, raw = parts.get("arguments", parts["name"])
                arguments, text = arguments_of(raw if "arguments" in parts else None)
                self._ask(Call(name, arguments, text), place)
        return found

    def _whole_output(self, span: _Span) -> None:
        for key in _MESSAGES:
            raw = span.attributes.get(key)
            if raw is None:
                continue
            value = embedded(raw) if isinstance(raw, str) else raw
            place = _at(span, key)
            if value is None:
                self._said(written(raw), place, span)
            else:
                self._output(value, place, span)
            return

    def _output(self, value: Json, place: str, span: _Span) -> None:
        for item in value if is_list(value) else [value]:
            if not is_object(item):
                continue
            content = item.get("content")
            if isinstance(content, str):
                self._said(content, place, span)
            parts = item.get("parts", content)
            for part in parts if is_list(parts) else []:
                if is_object(part):
                    text = text_at(part, "content", "text")
                    if part.get("type") == "tool_call":
                        self._ask(as_call(part), place)
                    elif text:
                        self._said(text, place, span)
            calls = item.get("tool_calls")
            for call in calls if is_list(calls) else []:
                self._ask(as_call(call), place)
            if "tool.name" in item:
                self._ask(as_call(item), place)

    def _ask(self, call: Call | None, place: str) -> None:
        if call is None:
            return
        draft = Draft(Kind.ACTION, place, call.name, "assistant", call.text, call.arguments)
        self._asked.append(self._transcript.call(draft, call.id))

    def _said(self, text: str, place: str, span: _Span) -> None:
        if not text.strip():
            return
        code = _CODE.search(text) if _CODE_AGENT.search(text) else None
        if code is None:
            kind = Kind.REASONING if text.lstrip().startswith("Thought:") else Kind.MESSAGE
            self._transcript.add(Draft(kind, place, actor="assistant", text=text.strip()))
            return
        thought = text[: code.start()].strip().removesuffix("Code:").strip()
        if thought:
            self._transcript.add(Draft(Kind.REASONING, place, actor="assistant", text=thought))
        draft = Draft(Kind.ACTION, place, "python", "assistant", code[1])
        step = span.parent
        if step is not None and isinstance(step.attributes.get("output.value"), str):
            draft.output = step.attributes["output.value"]
            draft.output_pointer = _at(step, "output.value")
        if step is not None:
            draft.status = _status(step, draft.output or None)
            self._code[id(step)] = draft
        self._transcript.add(draft)


def _flatten(
    value: dict[str, Json], pointer: str, parent: _Span | None, spans: list[_Span]
) -> None:
    waiting: list[tuple[dict[str, Json], str, _Span | None]] = [(value, pointer, parent)]
    while waiting:
        value, pointer, parent = waiting.pop()
        span = _span(value, pointer, parent)
        spans.append(span)
        key = next((key for key in _CHILDREN if is_list(value.get(key))), None)
        if key is not None:
            children = [
                (child, f"{pointer}/{key}/{index}", span)
                for index, child in enumerate(value[key])
                if is_object(child)
            ]
            waiting.extend(reversed(children))


def _span(value: dict[str, Json], pointer: str, parent: _Span | None) -> _Span:
    key = next((key for key in _ATTRIBUTES if key in value), None)
    raw = value.get(key) if key is not None else value
    place = f"{pointer}/{key}" if key is not None else pointer
    attributes = raw if is_object(raw) else _from_list(raw) if is_list(raw) else {}
    kind = text_at(attributes, *_KINDS) or text_at(value, "run_type", "span_type", "type") or ""
    start = next((value[k] for k in _STARTS if value.get(k) is not None), None)
    return _Span(value, pointer, attributes, place, kind.lower(), parent, start)


def _from_list(entries: list[Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for entry in entries:
        if is_object(entry) and isinstance(entry.get("key"), str):
            value = entry.get("value")
            found[entry["key"]] = next(iter(value.values()), None) if is_object(value) else value
    return found


def _link(spans: list[_Span]) -> None:
    by_id: dict[Json, _Span] = {}
    for span in spans:
        context = span.value.get("context")
        own = (
            span.value.get("span_id")
            or span.value.get("spanId")
            or (context.get("span_id") if is_object(context) else None)
        )
        if isinstance(own, (str, int)):
            by_id.setdefault(own, span)
    for span in spans:
        parent = (
            span.value.get("parent_span_id")
            or span.value.get("parentSpanId")
            or (span.value.get("parent"))
        )
        if is_object(parent):
            parent = parent.get("span_id")
        if span.parent is None and isinstance(parent, (str, int)):
            span.parent = by_id.get(parent)
    for span in spans:
        seen = {id(span)}
        above = span.parent
        while above is not None:
            if id(above) in seen:
                span.parent = None
                break
            seen.add(id(above))
            above = above.parent


def _in_time(spans: list[_Span]) -> list[_Span]:
    starts = [span.start for span in spans]
    if all(isinstance(start, str) and not start.isdigit() for start in starts):
        return sorted(spans, key=lambda span: str(span.start))
    if all(isinstance(start, (int, str)) and str(start).isdigit() for start in starts):
        return sorted(spans, key=lambda span: int(span.start))
    return spans


def _first(attributes: dict[str, Json], keys: tuple[str, ...]) -> Json:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def _unwrapped(arguments: Json) -> Json:
    if is_object(arguments) and is_object(arguments.get("kwargs")):
        if not arguments.get("args"):
            return arguments["kwargs"]
        return {"args": arguments["args"], **arguments["kwargs"]}
    return arguments


def _at(span: _Span, key: str) -> str:
    raw = next((span.value[k] for k in _ATTRIBUTES if k in span.value), None)
    if is_list(raw):
        return span.place
    return f"{span.place}/{escape(key)}"


def _status(span: _Span, output: str | None) -> EventStatus:
    said = stated(span.value.get("status_code")) or stated(span.value.get("status"))
    if said is EventStatus.ERROR:
        return said
    if output is not None and outcome_of(output) is EventStatus.ERROR:
        return EventStatus.ERROR
    return said or (EventStatus.OK if output is not None else EventStatus.UNKNOWN)
