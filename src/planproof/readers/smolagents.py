"""Read the memory of a smolagents agent: `get_full_steps()` or `get_succinct_steps()`."""

from __future__ import annotations

import re

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    key_with_text,
    parse_time,
    text_at,
)
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.code_fences import split_facts_and_plan, split_thought_and_code
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.entries import iter_entries, take_first_entries
from planproof.readers.toolkit.tool_calls import ToolCall, parse_call
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_LIST_KEYS = ("steps",)
_ACTION_KEYS = ("model_output", "model_output_message", "tool_calls")
_PLAN_KEYS = ("model_output_message", "facts", "model_output_message_plan")
# The text that smolagents puts before a plan.
_PLAN_INTRODUCTION = re.compile(r"plan of action[^\n]{0,80}\n```\n")
_AGENT = "assistant"


class SmolagentsReader:
    """Reads the memory of a smolagents agent: a list of steps."""

    name = "smolagents"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of such steps, and one of them acts or plans."""
        if source.form == "text":
            return False
        tells = False
        for step in take_first_entries(source, _LIST_KEYS):
            if not is_object(step):
                return False
            if _is_action(step) or _is_plan(step):
                tells = True
            elif not _is_task(step) and "system_prompt" not in step:
                return False
        return tells

    def read(self, source: Source) -> Trace:
        """Return the events of the steps, without the prompts that each step repeats."""
        builder = TraceBuilder(source.skipped)
        for pointer, step in iter_entries(source, _LIST_KEYS):
            if not is_object(step):
                builder.skip(pointer, "not a step")
                continue
            timing = step.get("timing")
            builder.time = parse_time((timing if is_object(timing) else step).get("start_time"))
            if _is_action(step):
                _ActionStep(builder, step, pointer).add_events()
            elif _is_plan(step):
                _add_plan(builder, step, pointer)
            elif _is_task(step):
                builder.begin_turn()
                builder.add_message(Kind.MESSAGE, step["task"], f"{pointer}/task", "user")
            elif isinstance(step.get("system_prompt"), str):
                builder.begin_turn()
                prompt_pointer = f"{pointer}/system_prompt"
                builder.add_message(Kind.SYSTEM, step["system_prompt"], prompt_pointer, "system")
            else:
                builder.skip(pointer, "unknown step type")
        return builder.build(self.name)


def _is_action(step: dict[str, Json]) -> bool:
    return (
        isinstance(step.get("step_number"), int)
        and "observations" in step
        and any(key in step for key in _ACTION_KEYS)
    )


def _is_plan(step: dict[str, Json]) -> bool:
    return isinstance(step.get("plan"), str) and any(key in step for key in _PLAN_KEYS)


def _is_task(step: dict[str, Json]) -> bool:
    return isinstance(step.get("task"), str) and step.keys() <= {"task", "task_images"}


def _add_plan(builder: TraceBuilder, step: dict[str, Json], pointer: str) -> None:
    builder.begin_turn()
    text = step["plan"]
    introduction = _PLAN_INTRODUCTION.search(text)
    if introduction is not None:
        text = text[introduction.end() :]
    facts, plan = split_facts_and_plan(text)
    if isinstance(step.get("facts"), str):
        builder.add_message(Kind.REASONING, step["facts"], f"{pointer}/facts", _AGENT)
    builder.add_message(Kind.REASONING, facts, f"{pointer}/plan", _AGENT)
    draft = builder.add_message(Kind.BOOKKEEPING, plan, f"{pointer}/plan", _AGENT)
    if draft is not None:
        draft.name = "plan"


class _ActionStep:
    """One step in which the agent called tools or ran code."""

    def __init__(self, builder: TraceBuilder, step: dict[str, Json], pointer: str) -> None:
        self._builder = builder
        self._step = step
        self._pointer = pointer

    def add_events(self) -> None:
        """Add the reasoning, the calls and their outputs."""
        self._builder.begin_turn()
        calls = self._step.get("tool_calls")
        calls = calls if is_list(calls) else []
        code = text_at(self._step, "code_action")
        text, text_pointer = self._get_model_output()
        thought_and_code_text = (
            split_thought_and_code(text) if code is not None or not calls else None
        )
        self._builder.add_message(
            Kind.REASONING,
            thought_and_code_text[0] if thought_and_code_text else text,
            text_pointer,
            _AGENT,
        )
        drafts: list[EventDraft] = []
        for index, value in enumerate(calls):
            call = parse_call(value)
            where = f"{self._pointer}/tool_calls/{index}"
            if call is None:
                self._builder.skip(where, "tool call without a name")
            else:
                drafts.append(self._builder.add_call(call, where, _AGENT))
        if not drafts and (code is not None or thought_and_code_text is not None):
            where = f"{self._pointer}/code_action" if code is not None else text_pointer
            run = (
                code
                if code is not None
                else thought_and_code_text[1]
                if thought_and_code_text
                else ""
            )
            call = ToolCall("python_interpreter", text=run)
            if code is not None:
                drafts.append(self._builder.add_call(call, where, _AGENT, recorded=False))
            else:
                with self._builder.reading_text(text, text_pointer, _AGENT):
                    drafts.append(self._builder.add_call(call, where, _AGENT))
        self._set_outputs(drafts)

    def _get_model_output(self) -> tuple[str, str]:
        if self._step.get("model_output") is not None:
            output_pointer = f"{self._pointer}/model_output"
            text, output_pointer, _ = extract_text(self._step["model_output"], output_pointer)
            return text.strip(), output_pointer
        message = self._step.get("model_output_message")
        content = message.get("content") if is_object(message) else None
        output_pointer = f"{self._pointer}/model_output_message/content"
        text, output_pointer, _ = extract_text(content, output_pointer)
        return text.strip(), output_pointer

    def _set_outputs(self, drafts: list[EventDraft]) -> None:
        """Set the output of every call; the results of several calls are recorded as one text."""
        error = self._step.get("error")
        if is_object(error) and key_with_text(error, ("message",)):
            output, output_pointer = error["message"], f"{self._pointer}/error/message"
        elif isinstance(error, str) and error:
            output, output_pointer = error, f"{self._pointer}/error"
        else:
            error = None
            key = key_with_text(self._step, ("observations", "action_output"))
            if key is None and self._step.get("action_output") is not None:
                key = "action_output"
            if key is None:
                return
            output, output_pointer = format_value(self._step[key]), f"{self._pointer}/{key}"
        for draft in drafts:
            draft.set_output(
                output, output_pointer, EventStatus.ERROR if error is not None else None
            )
        if not drafts and error is not None:
            draft = EventDraft(
                Kind.OBSERVATION, output_pointer, None, "tool", output, status=EventStatus.ERROR
            )
            self._builder.add_draft(draft)
