"""Read histories of browser-use: the steps of an `AgentHistoryList`.

A step has what the model said, with one or more actions, and a result for each of them. An action
names an element of the page by a number, which says nothing without the page: what the state knows
of the element is added to the arguments as `element`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, key_with_text, text_at
from planproof.core.quotes import ELLIPSIS
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries, take_first_entries
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_LIST_KEYS = ("history",)
_STEP_KEYS = frozenset(("model_output", "result", "state"))
_THOUGHT_KEYS = (
    "thinking",
    "thought",
    "page_summary",
    "evaluation_previous_goal",
    "valuation_previous_goal",
    "memory",
    "next_goal",
)
_OUTPUT_KEYS = ("error", "extracted_content", "long_term_memory")
_LABEL_KEYS = ("ax_name", "aria-label", "text", "placeholder", "title", "alt", "name", "value")
_INDEX_KEYS = ("index", "element_index")
_MARKUP = re.compile(r"<([\w-]{1,40})([^<>]{0,4000})>([^<>\n]{0,200})")
_ATTRIBUTE = re.compile(r'([\w-]{1,40})="([^"]{0,400})"')
_MAX_LABEL = 200
_ACTOR = "assistant"


class BrowserUseReader:
    """Reads `AgentHistoryList` files of browser-use."""

    name = "browser-use"

    def sniff(self, source: Source) -> bool:
        """Return whether the entries are steps: a model output, a result and a state."""
        if source.form == "text":
            return False
        head = take_first_entries(source, _LIST_KEYS)[:SNIFF_LIMIT]
        return bool(head) and all(is_object(s) and s.keys() >= _STEP_KEYS for s in head)

    def read(self, source: Source) -> Trace:
        """Return the thoughts and actions of the steps, with the results of the actions."""
        builder = TraceBuilder(source.skipped)
        for pointer, step in iter_entries(source, _LIST_KEYS):
            if is_object(step):
                _add_step(builder, step, pointer)
            else:
                builder.skip(pointer, "not a step")
        return builder.build(self.name)


def _add_step(builder: TraceBuilder, step: dict[str, Json], pointer: str) -> None:
    builder.begin_turn()
    output, output_pointer = step.get("model_output"), f"{pointer}/model_output"
    drafts: list[EventDraft] = []
    if is_object(output):
        state = output.get("current_state")
        if is_object(state):
            _add_thoughts(builder, state, f"{output_pointer}/current_state")
        _add_thoughts(builder, output, output_pointer)
        _add_plan(builder, output, output_pointer)
        for number, (name, given, where) in enumerate(_iter_actions(output, output_pointer)):
            call = ToolCall(name, given) if is_object(given) else ToolCall(name)
            call.text = "" if is_object(given) else format_value(given)
            element = _find_element(step.get("state"), given, number)
            if element:
                call.arguments = {**given, "element": element}
            # The element is described in another part of the step.
            drafts.append(builder.add_call(call, pointer if element else where, _ACTOR))
    results = step.get("result")
    for index, result in enumerate(results if is_list(results) else [results]):
        where = f"{pointer}/result/{index}" if is_list(results) else f"{pointer}/result"
        _add_result(builder, result, where, drafts[index] if index < len(drafts) else None)
    if not is_object(output) and not results:
        builder.skip(pointer, "a step without model output and result")


def _add_thoughts(builder: TraceBuilder, said: dict[str, Json], pointer: str) -> None:
    keys = [key for key in _THOUGHT_KEYS if text_at(said, key)]
    if len(keys) == 1:
        pointer = f"{pointer}/{keys[0]}"
    text = f"\n{ELLIPSIS}\n".join(said[key] for key in keys)
    builder.add_message(Kind.REASONING, text, pointer, _ACTOR)


def _add_plan(builder: TraceBuilder, output: dict[str, Json], pointer: str) -> None:
    plan = output.get("plan_update")
    if is_list(plan):
        text = "\n".join(f"{n}. {format_value(item)}" for n, item in enumerate(plan, 1))
        builder.add_plan(text, f"{pointer}/plan_update", _ACTOR)


def _iter_actions(output: dict[str, Json], pointer: str) -> Iterator[tuple[str, Json, str]]:
    """Yield name, arguments and pointer of the actions: objects with a single key that is set."""
    actions = output.get("action")
    for index, action in enumerate(actions if is_list(actions) else [actions]):
        where = f"{pointer}/action/{index}" if is_list(actions) else f"{pointer}/action"
        for name, arguments in action.items() if is_object(action) else ():
            if arguments is not None:
                yield name, arguments, where


def _add_result(
    builder: TraceBuilder, result: Json, pointer: str, draft: EventDraft | None
) -> None:
    key = key_with_text(result, _OUTPUT_KEYS) if is_object(result) else None
    text = "" if key is None or not is_object(result) else result[key]
    where = pointer if key is None else f"{pointer}/{key}"
    status = EventStatus.ERROR if key == "error" else EventStatus.OK
    if draft is not None:
        draft.set_output(text, where, status)
    elif text:
        # The step failed before the model chose an action.
        builder.add_message(Kind.SYSTEM, text, where, "environment")


def _find_element(state: Json, arguments: Json, number: int) -> list[Json]:
    """Return what the state says about the element that an action names by its number."""
    key = next((key for key in _INDEX_KEYS if key in arguments), "") if is_object(arguments) else ""
    if not key or not is_object(state):
        return []
    touched, items = state.get("interacted_element"), state.get("items")
    if is_list(touched) and number < len(touched) and is_object(touched[number]):
        element = touched[number]
        attributes = element.get("attributes")
        return _describe_element({**attributes, **element} if is_object(attributes) else element)
    for item in items if is_list(items) else ():
        if is_object(item) and item.get("index") == arguments[key]:
            return _describe_markup(text_at(item, "text") or "")
    return []


def _describe_markup(text: str) -> list[Json]:
    """Describe an element that is given as HTML."""
    markup = _MARKUP.match(text)
    if markup is None:
        return _describe_element({"text": text})
    attributes: dict[str, Json] = dict(_ATTRIBUTE.findall(markup[2]))
    return _describe_element({"tag_name": markup[1], "text": markup[3].strip(), **attributes})


def _describe_element(attributes: dict[str, Json]) -> list[Json]:
    """Return the role, the label and the address of an element, as they are written."""
    label = text_at(attributes, *_LABEL_KEYS) or ""
    role = text_at(attributes, "role", "tag_name", "node_name")
    found = (role, label.strip()[:_MAX_LABEL], text_at(attributes, "href"))
    return [value for value in found if value]
