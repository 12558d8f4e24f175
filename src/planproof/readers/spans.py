"""Read spans: OpenInference, OpenTelemetry, and the runs of Langfuse and LangSmith.

Input: OTLP as JSON or JSON Lines, flat exports of the SDKs, nested spans. A run has a type, a
parent, an input and an output; many frameworks report to these tools, each in its own form: the
messages may be those of any API, as JSON or as JSON inside a text, and the type of a run may be
given only by OpenTelemetry attributes in its metadata.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    parse_embedded_json,
    parse_time,
    text_at,
)
from planproof.core.pointer import escape
from planproof.core.trace import UNVERIFIED, EventStatus, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.code_fences import split_facts_and_plan, split_thought_and_code
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries, iter_flat_entries
from planproof.readers.toolkit.handoffs import Handoffs, get_receiver, normalize_name
from planproof.readers.toolkit.nested_messages import MessagePart
from planproof.readers.toolkit.repeated_prompts import PromptHistory
from planproof.readers.toolkit.span import (
    Span,
    build_span_tree,
    detect_convention,
    is_run,
    is_span,
    iter_span_records,
    read_spans,
)
from planproof.readers.toolkit.span_conventions import (
    AGENT_NAMES,
    CALL_IDS,
    INPUTS,
    OUTPUTS,
    TOOL_NAMES,
    classify_span,
    find_planning_calls,
    find_step,
    get_task,
    merge_tool_events,
    parse_agent_task,
    parse_answer,
    parse_prompt,
)
from planproof.readers.toolkit.tool_calls import parse_arguments, parse_call
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

TASK_ATTRIBUTE = "planproof.task"
PLAN_ATTRIBUTE = "planproof.plan"
"""Attributes in which any span may give the task and the plan."""
_AGENT = "assistant"
# Longer code is not written by an agent, and would be searched for each of its calls.
_MAX_CODE_LENGTH = 100_000
_VOCABULARY = Vocabulary()
_AGENT_NAME = re.compile(r"(?:agent_run|invoke_agent) ?\[?([^\[\]]{1,80})\]?|([^\[\]]{1,80})\.run")

_SDK_LIST_KEYS = ("data", "spans", "items")
_SDK_KINDS = {
    "generation": "model",
    "response": "model",
    "function": "tool",
    "handoff": "handoff",
    "agent": "agent",
    "guardrail": "guardrail",
}
_SDK_WRAPPERS = ("task", "turn", "speech_group", "custom")
_PLAN_NAMES = frozenset(("plan", "planning"))


class OpenTelemetryReader:
    """Reads spans with the OpenTelemetry GenAI conventions (OTLP, SDK exports)."""

    name = "opentelemetry"
    _convention = "gen_ai"

    def sniff(self, source: Source) -> bool:
        """Return whether the first entries are spans with these conventions."""
        return detect_convention(source) == self._convention

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which the spans began."""
        builder = TraceBuilder(source.skipped)
        _add_events(builder, read_spans(source, builder))
        return builder.build(self.name)


class OpenInferenceReader(OpenTelemetryReader):
    """Reads spans with the OpenInference conventions (Phoenix, TRAIL)."""

    name = "openinference"
    _convention = "openinference"


class RunTreeReader:
    """Reads traces of Langfuse and runs of LangSmith."""

    name = "run-tree"

    def sniff(self, source: Source) -> bool:
        """Return whether the first entries are observations or runs."""
        head = [value for _, value in islice(_iter_runs(source), SNIFF_LIMIT)]
        return bool(head) and all(map(is_run, head))

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which they began."""
        builder = TraceBuilder(source.skipped)
        add_runs(builder, list(_iter_runs(source)))
        return builder.build(self.name)


class OpenAIAgentsReader:
    """Reads exported traces of the OpenAI Agents SDK: model calls, tool calls and hand-offs."""

    name = "openai-agents"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of the SDK's traces and spans."""
        head = [value for _, value in islice(_iter_sdk_records(source), SNIFF_LIMIT)]
        return all(is_object(value) and _is_sdk_record(value) for value in head) and any(
            map(_is_sdk_span, head)
        )

    def read(self, source: Source) -> Trace:
        """Return the events ordered by span start; spans are exported when they end."""
        builder = TraceBuilder(source.skipped)
        records = list(_iter_sdk_records(source))
        for pointer, value in records:
            if not _is_sdk_span(value):
                is_trace = is_object(value) and value.get("object") == "trace"
                builder.skip(pointer, "metadata of the trace" if is_trace else "not a span")
        spans = build_span_tree(
            [record for record in records if _is_sdk_span(record[1])], builder.skip
        )
        for span in spans:
            _unwrap_sdk_span(span)
            if span.kind == "model" and not span.attributes.get("output") and not span.find_error():
                builder.skip(span.pointer, "model output not in the export")
            elif (kind := text_at(span.attributes, "type")) not in (*_SDK_KINDS, *_SDK_WRAPPERS):
                builder.skip(span.pointer, f"unknown span type {kind!r}")
        _add_events(builder, spans)
        return builder.build(self.name)


def _is_sdk_record(value: dict[str, Json]) -> bool:
    return text_at(value, "object") in ("trace", "trace.span")


def _is_sdk_span(value: Json) -> bool:
    return is_object(value) and is_object(value.get("span_data"))


def _iter_sdk_records(source: Source) -> Iterator[tuple[str, Json]]:
    # A line may be a batch of spans.
    return iter_flat_entries(source, _SDK_LIST_KEYS, _is_sdk_record)


def _unwrap_sdk_span(span: Span) -> None:
    """Set the attributes of a span of the SDK from its data."""
    data, pointer = span.value.get("span_data"), f"{span.pointer}/span_data"
    data = data if is_object(data) else {}
    span.attributes, span.attributes_pointer, span.raw = dict(data), pointer, data
    kind = text_at(data, "type") or ""
    span.kind = _SDK_KINDS.get(kind, "container")
    response, inner = data.get("response"), data.get("data")
    if is_object(response):
        span.attributes["output"] = response.get("output")
        span.attribute_pointers["output"] = f"{pointer}/response/output"
    if kind == "agent":
        span.attributes["agent.name"] = data.get("name")
    elif kind == "custom" and inner and (text_at(data, "name") or "").lower() in _PLAN_NAMES:
        span.attributes[PLAN_ATTRIBUTE] = format_value(inner)
        span.attribute_pointers[PLAN_ATTRIBUTE] = f"{pointer}/data"


def _iter_runs(source: Source) -> Iterator[tuple[str, Json]]:
    # Each item of a list that wraps runs is a trace of its own, and not unwrapped here.
    if is_object(source.document):
        return iter_span_records(source, is_run)
    return iter_entries(source)


def add_runs(builder: TraceBuilder, entries: list[tuple[str, Json]]) -> None:
    """Add the events of runs or spans, in the order in which they began."""
    for pointer, value in entries:
        if not is_span(value):
            builder.skip(pointer, "not a span")
    spans = build_span_tree([entry for entry in entries if is_span(entry[1])], builder.skip)
    _add_events(builder, spans)


def _add_events(builder: TraceBuilder, spans: list[Span]) -> None:
    runs = [span for span in spans if span.is_run]
    for span in spans:
        if span.is_run:
            _merge_metadata(span)
            _unwrap_run(span)
        elif is_object(span.attributes.get("openinference")):
            _flatten_attributes(span)
        if span.log_records or span.value.get("events"):
            merge_tool_events(span)
    _mark_containers(runs)
    first = len(builder.drafts)
    _SpanWriter(builder).add_spans(spans)
    if runs and not any(draft.actor == "user" for draft in builder.drafts[first:]):
        _add_task(builder, first, runs)
    # Spans that only enclose others or repeat them, and those of other programs.
    builder.skip_unread((span.pointer for span in spans), "span without an event of its own")


def _flatten_attributes(span: Span) -> None:
    """Flatten attributes that were unfolded into objects and lists to their full names."""
    flat: dict[str, Json] = {}
    stack: list[tuple[str, str, Json]] = [("", span.attributes_pointer, span.attributes)]
    while stack:
        key, value_pointer, value = stack.pop()
        if is_object(value) and (value or not key):
            named = [(escape(name), name, item) for name, item in value.items()]
        elif is_list(value) and any(is_object(item) for item in value):
            named = [(str(index), str(index), item) for index, item in enumerate(value)]
        else:
            flat[key] = value
            span.attribute_pointers[key] = value_pointer
            continue
        for token, name, item in reversed(named):
            stack.append((f"{key}.{name}" if key else name, f"{value_pointer}/{token}", item))
    span.attributes = flat


def _merge_metadata(span: Span) -> None:
    """Add the attributes that the metadata of an observation repeats from a span."""
    metadata, pointer = span.value.get("metadata"), f"{span.pointer}/metadata"
    is_text = isinstance(metadata, str)
    metadata = parse_embedded_json(metadata) if is_text else metadata
    attributes = metadata.get("attributes") if is_object(metadata) else None
    attributes = attributes if is_object(attributes) else {}
    span.attributes = {**attributes, **span.value}
    span.attribute_pointers |= {
        key: pointer if is_text else f"{pointer}/attributes/{escape(key)}"
        for key in attributes
        if key not in span.value
    }


def _unwrap_run(span: Span) -> None:
    """Set `input` and `output` to what the run was given and returned, without wrappers."""
    for key, plural in (("input", "inputs"), ("output", "outputs")):
        found = key if span.value.get(key) is not None else plural
        value, pointer = span.value.get(found), f"{span.pointer}/{found}"
        if value is not None:
            inner = parse_embedded_json(value) if isinstance(value, str) else None
            span.attributes[key] = value if inner is None else inner
            span.attribute_pointers[key] = pointer
    span.kind = classify_span(span)
    output = span.attributes.get("output")
    if not span.kind and (
        span.name.startswith("execute_tool ") or _get_tool_message(output) is not None
    ):
        span.kind = "tool"
    if span.kind == "tool":
        _unwrap_tool_run(span)
    elif span.kind == "agent":
        named = _AGENT_NAME.fullmatch(span.name)
        name = (named[1] or named[2]) if named is not None else span.name
        span.attributes.setdefault("agent.name", name)


def _unwrap_tool_run(span: Span) -> None:
    attributes = span.attributes
    given, returned = attributes.get("input"), attributes.get("output")
    if is_object(given) and given.get("type") == "tool_call":
        call = parse_call(given)
        if call is not None:
            attributes["input"], attributes["tool_call_id"] = call.arguments, call.id
    elif is_object(given) and len(given) == 1 and "input" in given:
        attributes["input"] = given["input"]
    if is_object(returned) and len(returned) == 1 and "output" in returned:
        returned = returned["output"]
    message = _get_tool_message(returned)
    if message is not None:
        attributes["tool_call_id"] = message.get("tool_call_id") or attributes.get("tool_call_id")
        returned = message.get("content")
    elif is_object(returned) and len(returned) == 1 and is_list(returned.get("content")):
        returned = extract_text(returned["content"], "")[0] or returned
    if returned is not None:
        attributes["output"] = returned


def _get_tool_message(value: Json) -> dict[str, Json] | None:
    """Return the fields of a LangChain tool message; None if the value is not one."""
    if not is_object(value):
        return None
    fields = value.get("kwargs", value)
    return fields if is_object(fields) and "tool_call_id" in fields else None


def _mark_containers(runs: list[Span]) -> None:
    """Mark model calls that only wrap others, and set the last child that does something.

    A loop of model and tool calls is often recorded as a model call itself. A single model call
    inside another is the same one, as seen by another layer of the client.
    """
    model_around: dict[int, Span] = {}
    contents: dict[int, list[str]] = {}
    for span in runs:
        span.last_child = None
        kind = span.kind
        around = model_around.get(id(span.parent)) if span.parent is not None else None
        if around is not None:
            contents.setdefault(id(around), []).append(span.kind)
        outer = span if kind == "model" else around
        if outer is not None:
            model_around[id(span)] = outer
        child = span
        while kind and child.parent is not None:
            child.parent.last_child = child
            child = child.parent
    for span in runs:
        inside = [kind for kind in contents.get(id(span), []) if kind in ("model", "tool")]
        if len(inside) > 1 and "model" in inside:
            span.kind = "container"


def _add_task(builder: TraceBuilder, place: int, runs: list[Span]) -> None:
    """Add the user's task from the input of the first run."""
    root = next((span for span in runs if span.parent is None), runs[0])
    task = get_task(root.attributes.get("input"))
    if task is not None:
        builder.begin_turn()
        draft = EventDraft(Kind.MESSAGE, root.pointer_to("input"), actor="user", text=task)
        draft.turn = builder.turn
        builder.drafts.insert(place, draft)


class _SpanWriter:
    """Reads spans in order of their start, parents first."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        # The kinds of model calls whose answers are notes, by the `id()` of the span.
        self._kinds: dict[int, Kind] = {}
        self._prompts = _PromptReader(builder)
        self._handoffs = Handoffs()
        self._scope_by_agent: dict[int, _AgentScope] = {}
        self._draft_by_span: dict[int, EventDraft] = {}
        self._answered_spans: set[int] = set()

    def add_spans(self, spans: Sequence[Span]) -> None:
        """Add the events of all spans."""
        self._kinds = find_planning_calls(spans)
        for span in spans:
            self._add_span(span)
        self._builder.parent = None
        self._drop_unrun_code()

    def _add_span(self, span: Span) -> None:
        above = span.parent
        if above is not None:
            span.agent = above if above.kind == "agent" else above.agent
            span.model = above if above.kind in ("model", "plan") else above.model
            span.enclosing_action = self._draft_by_span.get(id(above)) or above.enclosing_action
        self._builder.time = parse_time(span.start)
        self._builder.parent = span.enclosing_action
        if TASK_ATTRIBUTE in span.attributes or PLAN_ATTRIBUTE in span.attributes:
            self._add_task_and_plan(span)
        kind = span.kind = span.kind or classify_span(span)
        if kind == "tool":
            self._add_tool_span(span, self._get_scope(span.agent))
        elif kind == "model":
            self._add_model_span(span, self._get_scope(span.agent))
        elif kind == "agent":
            self._add_agent_span(span)
        elif kind == "plan":
            self._add_plan_span(span)
        elif kind == "handoff":
            self._add_handoff_span(span, self._get_scope(span.agent))
        elif kind == "guardrail":
            self._add_guardrail_span(span)

    def _drop_unrun_code(self) -> None:
        """Turn code in texts that was not run into messages.

        Where an agent makes calls, its text is none; where its code is run in steps, other code is
        not run.
        """
        dropped: dict[int, EventDraft] = {}
        for scope in self._scope_by_agent.values():
            dropped |= scope.code if scope.makes_calls else {}
            dropped |= scope.loose_code if scope.makes_calls or scope.code else {}
        for draft in dropped.values():
            draft.kind, draft.name, draft.recognition = Kind.MESSAGE, None, ""
            draft.output, draft.output_pointer, draft.status = "", None, EventStatus.UNKNOWN
        for draft in self._builder.drafts if dropped else ():
            while draft.parent is not None and id(draft.parent) in dropped:
                draft.parent = draft.parent.parent

    def _add_task_and_plan(self, span: Span) -> None:
        """Add the task and the plan given in attributes, whatever the kind of the span."""
        task, plan = span.attributes.get(TASK_ATTRIBUTE), span.attributes.get(PLAN_ATTRIBUTE)
        if isinstance(task, str) and task.strip():
            self._builder.begin_turn()
            self._builder.add_message(
                Kind.MESSAGE, task.strip(), span.pointer_to(TASK_ATTRIBUTE), "user"
            )
        if is_list(plan):
            plan = "\n".join(f"{n}. {step}" for n, step in enumerate(map(format_value, plan), 1))
        if isinstance(plan, str) and plan.strip():
            self._builder.begin_turn()
            parts = [MessagePart("text", "agent", plan, span.pointer_to(PLAN_ATTRIBUTE))]
            self._add_notes(parts, Kind.BOOKKEEPING, _AGENT)

    def _get_scope(self, agent: Span | None) -> _AgentScope:
        return self._scope_by_agent.setdefault(id(agent), _AgentScope())

    def _add_tool_span(self, span: Span, scope: _AgentScope) -> None:
        name = text_at(span.attributes, *TOOL_NAMES) or span.name or "tool"
        name = name.removeprefix("execute_tool ")
        input_key = span.find_key(INPUTS)
        arguments, text = parse_arguments(
            span.attributes[input_key] if input_key is not None else None
        )
        arguments = _unwrap_arguments(arguments)
        outer = span.enclosing_action
        if outer is not None and span.parent is not None and span.parent.kind == "tool":
            if outer.name == name and (arguments is None or arguments == outer.arguments):
                # The same call again, as seen by the client of the tool's server.
                if outer.output_pointer is None:
                    span.copy_outcome_to(outer, OUTPUTS)
                return
        elif outer is not None and _is_in_code(outer, name, arguments):
            return
        scope.has_acted = True
        call_id = text_at(span.attributes, *CALL_IDS)
        draft = scope.take_requested_call(name, call_id, arguments)
        if draft is None:
            draft = self._make_action(span, name)
            draft.turn = self._choose_turn(span, scope)
            if id(outer) not in scope.code:
                scope.note_call(name)
            scope.recent_calls.append(self._builder.add_draft(draft))
        # Arguments that the model gave as JSON may be plain text in the tool's own span.
        if arguments or (text and not draft.arguments) or not (draft.arguments or draft.text):
            draft.pointer = span.get_call_pointer(input_key)
            draft.arguments, draft.text = arguments, text
        span.copy_outcome_to(draft, OUTPUTS)
        if call_id and draft.output_pointer is not None:
            scope.unanswered.pop(call_id, None)
        self._draft_by_span[id(span)] = draft

    def _choose_turn(self, span: Span, scope: _AgentScope) -> int:
        around_agent = span.agent.enclosing_action if span.agent is not None else None
        if span.enclosing_action is not None and span.enclosing_action is not around_agent:
            return span.enclosing_action.turn
        if not scope.requested_calls:
            self._begin_turn(scope)
        return scope.turn

    def _begin_turn(self, scope: _AgentScope) -> None:
        self._builder.begin_turn()
        scope.begin_turn(self._builder.turn)

    def _add_model_span(self, span: Span, scope: _AgentScope) -> None:
        if span.model is not None and id(span.model) in self._answered_spans:
            return  # the same answer, as seen by another layer of the client
        step = find_step(span)
        self._prompts.add_prompt(
            parse_prompt(span, scope.unanswered), scope, span, is_scaffold=step is not None
        )
        parts = list(parse_answer(span))
        if not parts:
            if (error := span.find_error()) is not None:
                self._builder.begin_turn()
                self._builder.add_message(Kind.SYSTEM, *error, "system")
            return
        self._answered_spans.add(id(span))
        scope.has_acted = True
        self._begin_turn(scope)
        actor = self._get_actor(span.agent)
        kind = self._kinds.get(id(span)) or self._kinds.get(id(span.parent))
        if kind is not None:
            self._add_notes(parts, kind, actor)
            return
        calls = [part for part in parts if part.call is not None]
        for part in parts:
            if part.call is not None:
                draft = self._builder.add_call(part.call, part.pointer, actor)
                scope.add_requested_call(draft, part.call.id)
                scope.note_call(part.call.name)
                if step is not None and len(calls) == 1:
                    step.copy_outcome_to(draft, OUTPUTS)
            elif part.kind == "thought" or calls:
                self._builder.add_message(Kind.REASONING, part.text.strip(), part.pointer, actor)
            elif part.kind == "text" and not self._add_code(part, step, scope, actor):
                # An answer followed by more work inside the same span was not the final one.
                is_last = span.parent is None or span.parent.last_child is span
                is_thought = not is_last or part.text.lstrip().startswith("Thought:")
                kind = Kind.REASONING if is_thought else Kind.MESSAGE
                scope.last_message = self._builder.add_message(
                    kind, part.text.strip(), part.pointer, actor
                )

    def _add_code(
        self,
        part: MessagePart,
        step: Span | None,
        scope: _AgentScope,
        actor: str,
    ) -> bool:
        split = split_thought_and_code(part.text)
        if split is None:
            return False
        thought, code = split
        self._builder.add_message(Kind.REASONING, thought, part.pointer, actor)
        draft = self._builder.add_draft(
            EventDraft(Kind.ACTION, part.pointer, "python", actor, code)
        )
        scope.recent_calls.append(draft)
        if step is None:
            draft.recognition = UNVERIFIED
            scope.loose_code[id(draft)] = draft
        else:
            scope.code[id(draft)] = draft
            self._draft_by_span[id(step)] = draft
            step.copy_outcome_to(draft, OUTPUTS)
        return True

    def _add_plan_span(self, span: Span) -> None:
        parts = list(parse_answer(span))
        if any(part.kind == "text" for part in parts):
            self._answered_spans.add(id(span))
            self._begin_turn(self._get_scope(span.agent))
            self._add_notes(parts, Kind.BOOKKEEPING, self._get_actor(span.agent))
        else:
            self._kinds[id(span)] = Kind.BOOKKEEPING  # the model call inside it has the plan

    def _add_notes(self, parts: list[MessagePart], kind: Kind, actor: str) -> None:
        for part in parts:
            facts, text = "", part.text.strip()
            if kind is Kind.BOOKKEEPING and part.kind == "text":
                facts, text = split_facts_and_plan(text)
                self._builder.add_message(Kind.REASONING, facts, part.pointer, actor)
            draft = self._builder.add_message(kind, text, part.pointer, actor)
            if draft is not None and kind is Kind.BOOKKEEPING:
                draft.name = "plan"

    def _add_agent_span(self, span: Span) -> None:
        if span.agent is not None:
            if span.enclosing_action in (None, span.agent.enclosing_action):
                self._link_agent_call(span, self._get_scope(span.agent))
        elif span.enclosing_action is None:
            name = text_at(span.attributes, *AGENT_NAMES)
            starter = self._handoffs.find_parent_call(name) if name else None
            if starter is not None:
                self._draft_by_span[id(span)] = span.enclosing_action = starter
                return
            inside = self._get_scope(span)
            task = parse_agent_task(span)
            if task is not None:
                self._prompts.add_task(task, inside)
            if span.last_child is None:
                self._add_model_span(span, inside)

    def _add_guardrail_span(self, span: Span) -> None:
        self._builder.begin_turn()
        name, pointer = text_at(span.attributes, "name") or "", span.pointer_to("name")
        draft = self._builder.add_message(Kind.SYSTEM, name, pointer, "guardrail")
        if draft is not None:
            is_triggered = span.attributes.get("triggered") is True
            draft.status = EventStatus.ERROR if is_triggered else EventStatus.OK

    def _add_handoff_span(self, span: Span, scope: _AgentScope) -> None:
        receiver = text_at(span.attributes, "to_agent") or ""
        draft = scope.find_handoff_call(receiver)
        if draft is None:
            draft = self._builder.add_draft(self._make_action(span, "handoff"))
            draft.turn = self._choose_turn(span, scope)
            given = span.attributes.items()
            draft.arguments = {k: v for k, v in given if k != "type" and v is not None}
        if receiver:
            self._handoffs.record_handoff(draft, receiver)
        span.copy_outcome_to(draft, OUTPUTS)

    def _link_agent_call(self, span: Span, scope: _AgentScope) -> None:
        """Find the call by which one agent handed off to another, or add one."""
        name = text_at(span.attributes, *AGENT_NAMES) or span.name.removesuffix(".run")
        draft = scope.find_handoff_call(name)
        if draft is None and scope.has_acted:
            self._begin_turn(scope)
            draft = self._builder.add_draft(self._make_action(span, name))
        if draft is not None:
            self._draft_by_span[id(span)] = draft
            if draft.output_pointer is None:
                span.copy_outcome_to(draft, OUTPUTS)

    def _make_action(self, span: Span, name: str) -> EventDraft:
        actor = self._get_actor(span.agent)
        return EventDraft(Kind.ACTION, span.attributes_pointer, name, actor)

    def _get_actor(self, agent: Span | None) -> str:
        return (agent and text_at(agent.attributes, *AGENT_NAMES)) or _AGENT


def _is_in_code(code: EventDraft, name: str, arguments: Json) -> bool:
    """Return whether the enclosing code contains this call, so that it is already covered."""
    if code.name != "python" or len(code.text) > _MAX_CODE_LENGTH or f"{name}(" not in code.text:
        return False
    values = _list_argument_values(arguments)
    if is_list(values[0] if values else None):
        values = [*values[0], *values[1:]]
    return all(isinstance(value, str) and value in code.text for value in values)


def _unwrap_arguments(arguments: Json) -> Json:
    if is_object(arguments) and is_object(arguments.get("kwargs")):
        if not arguments.get("args"):
            return arguments["kwargs"]
        return {"args": arguments["args"], **arguments["kwargs"]}
    return arguments


_MAX_RECENT_CALLS = 64


@dataclass(slots=True)
class _AgentScope:
    """The state of one agent: its turn, its calls, its last message.

    `requested_calls` are the calls of the turn without a span so far, `recent_calls` all calls of
    the turn, `unanswered` those without a result, by call id. `makes_calls` is set by the first
    recorded call that is more than bookkeeping. `code` is the code in its texts that has a step of
    its own, `loose_code` the other code.
    """

    turn: int = 0
    has_acted: bool = False
    makes_calls: bool = False
    code: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    loose_code: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    requested_calls: dict[int, EventDraft] = field(default_factory=dict[int, EventDraft])
    recent_calls: deque[EventDraft] = field(default_factory=lambda: deque(maxlen=_MAX_RECENT_CALLS))
    unanswered: dict[str, EventDraft] = field(default_factory=dict[str, EventDraft])
    last_message: EventDraft | None = None
    _calls_by_name: dict[str | None, deque[EventDraft]] = field(
        default_factory=dict[str | None, "deque[EventDraft]"]
    )

    def begin_turn(self, turn: int) -> None:
        """Continue with another turn."""
        self.turn = turn
        self.last_message = None
        self.requested_calls.clear()
        self.recent_calls.clear()
        self._calls_by_name.clear()

    def note_call(self, name: str) -> None:
        """Note a recorded call, unless code of the agent makes it or it is only bookkeeping."""
        if not self.makes_calls:
            self.makes_calls = not (
                any(call.name == "python" and f"{name}(" in call.text for call in self.recent_calls)
                or _VOCABULARY.is_bookkeeping(name)
                or _VOCABULARY.is_closing(name)
            )

    def add_requested_call(self, draft: EventDraft, call_id: str | None) -> None:
        """Add a call that the model requested."""
        self.requested_calls[id(draft)] = draft
        self.recent_calls.append(draft)
        self._calls_by_name.setdefault(draft.name, deque()).append(draft)
        if call_id:
            self.unanswered[call_id] = draft

    def take_requested_call(
        self, name: str, call_id: str | None, arguments: Json
    ) -> EventDraft | None:
        """Return the requested call that a tool then ran; request and run are one action."""
        draft = self.unanswered.get(call_id) if call_id else None
        if draft is None and not call_id:
            draft = self._take_same_call(name, arguments)
        waiting = self._calls_by_name.get(name)
        while draft is None and waiting:
            draft = self.requested_calls.get(id(waiting.popleft()))
        if draft is not None:
            self.requested_calls.pop(id(draft), None)
        return draft

    def _take_same_call(self, name: str, arguments: Json) -> EventDraft | None:
        """Return the first unanswered call with the same arguments, of this turn or an earlier one.

        Calls of one answer may be recorded as several model calls, before the first tool ran.
        """
        for key, draft in islice(self.unanswered.items(), _MAX_RECENT_CALLS):
            if draft.name == name and draft.arguments == arguments and not draft.output_pointer:
                return self.unanswered.pop(key)
        return None

    def take_unanswered_call(self, call_id: str) -> EventDraft | None:
        """Return the call with this id, if it has no result yet."""
        draft = self.unanswered.pop(call_id, None)
        return draft if draft is not None and draft.output_pointer is None else None

    def find_handoff_call(self, agent: str) -> EventDraft | None:
        """Return the call of this turn that handed off to the agent with this name."""
        waiting = [draft for draft in self.recent_calls if id(draft) in self.requested_calls]
        for draft in (*waiting, *self.recent_calls):
            if agent in (draft.name, *_list_argument_values(draft.arguments)) or (
                (receiver := get_receiver(draft))
                and normalize_name(receiver) == normalize_name(agent)
            ):
                break
        else:
            # Some conventions give the class of the agent instead of its name.
            draft = waiting[0] if len(self.requested_calls) == len(waiting) == 1 else None
        if draft is not None:
            self.requested_calls.pop(id(draft), None)
        return draft


def _list_argument_values(arguments: Json) -> list[Json]:
    return list(arguments.values()) if is_object(arguments) else []


class _PromptReader:
    """Reads from prompts what no span contains: user messages, and results of calls."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._prompt_history = PromptHistory()
        self._has_task = False

    def add_task(self, task: MessagePart, scope: _AgentScope) -> None:
        """Add the task from another source; prompts then contain no new user messages."""
        self._has_task = True
        self._add_message("user", task.text, task.pointer, scope)

    def add_prompt(
        self, prompt: Iterable[MessagePart], scope: _AgentScope, span: Span, *, is_scaffold: bool
    ) -> None:
        """Add the new messages and results in the prompt of a model call.

        A scaffold turns results into user messages; of its prompts only the task counts.
        """
        if is_scaffold and scope.has_acted:
            return
        has_task = self._has_task or span.enclosing_action is not None
        if has_task and not scope.unanswered:
            return
        messages: list[tuple[str, Json]] = []
        for part in prompt:
            if is_scaffold and part.role == "agent":
                break
            if part.kind == "result" and part.call_id:
                draft = scope.take_unanswered_call(part.call_id)
                if draft is not None:
                    draft.set_output(part.text, part.pointer)
            elif part.kind == "text" and (
                part.role == "user" or (part.role == "system" and not is_scaffold)
            ):
                messages.append((part.pointer, {"role": part.role, "content": part.text}))
        for pointer, message in self._prompt_history.iter_new([] if has_task else messages):
            self._add_message(message["role"], message["content"], pointer, scope)

    def _add_message(self, role: str, text: str, pointer: str, scope: _AgentScope) -> None:
        self._builder.begin_turn()
        if role == "system":
            self._builder.add_message(Kind.SYSTEM, text, pointer, "system")
            return
        if scope.last_message is not None:
            # The user replies to it, so it was a message to the user.
            scope.last_message.kind = Kind.MESSAGE
            scope.last_message = None
        self._builder.add_message(Kind.MESSAGE, text, pointer, "user")
