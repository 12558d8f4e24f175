"""The memory of a smolagents agent: `agent.memory.get_full_steps()`, or the succinct ones."""

from __future__ import annotations

import re

from planproof.core.content import Json
from planproof.core.json_values import (
    is_list,
    is_object,
    key_with_text,
    text_at,
    time_of,
    written,
)
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.code_agent import facts_and_plan, thought_and_code
from planproof.readers.toolkit.content_parts import plain_text
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.tool_calls import Call, as_call
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_HOLDERS = ("steps",)
_ACTS = ("model_output", "model_output_message", "tool_calls")
_PLANS = ("model_output_message", "facts", "model_output_message_plan")
# What smolagents puts in front of a plan when it notes it.
_INTRODUCTION = re.compile(r"plan of action[^\n]{0,80}\n```\n")
_AGENT = "assistant"


class SmolagentsReader:
    """Reads the list of steps that an agent of smolagents remembers."""

    name = "smolagents"

    def sniff(self, source: Source) -> bool:
        """Whether the source is a list of such steps, and one of them acts or plans."""
        if source.form == "text":
            return False
        tells = False
        for step in first_entries(source, _HOLDERS):
            if not is_object(step):
                return False
            if _is_action(step) or _is_plan(step):
                tells = True
            elif not _is_task(step) and "system_prompt" not in step:
                return False
        return tells

    def read(self, source: Source) -> Trace:
        """The events of the steps; the prompts that each step repeats are none."""
        transcript = Transcript(source.skipped)
        for pointer, step in entries(source, _HOLDERS):
            if not is_object(step):
                transcript.skip(pointer, "is no step")
                continue
            timing = step.get("timing")
            transcript.time = time_of((timing if is_object(timing) else step).get("start_time"))
            if _is_action(step):
                _Action(transcript, step, pointer).write()
            elif _is_plan(step):
                _plan(transcript, step, pointer)
            elif _is_task(step):
                transcript.begin_turn()
                transcript.say(Kind.MESSAGE, step["task"], f"{pointer}/task", "user")
            elif isinstance(step.get("system_prompt"), str):
                transcript.begin_turn()
                place = f"{pointer}/system_prompt"
                transcript.say(Kind.SYSTEM, step["system_prompt"], place, "system")
            else:
                transcript.skip(pointer, "is no step that is known")
        return transcript.trace(self.name)


def _is_action(step: dict[str, Json]) -> bool:
    return (
        isinstance(step.get("step_number"), int)
        and "observations" in step
        and any(key in step for key in _ACTS)
    )


def _is_plan(step: dict[str, Json]) -> bool:
    return isinstance(step.get("plan"), str) and any(key in step for key in _PLANS)


def _is_task(step: dict[str, Json]) -> bool:
    return isinstance(step.get("task"), str) and step.keys() <= {"task", "task_images"}


def _plan(transcript: Transcript, step: dict[str, Json], pointer: str) -> None:
    transcript.begin_turn()
    text = step["plan"]
    introduction = _INTRODUCTION.search(text)
    if introduction is not None:
        text = text[introduction.end() :]
    facts, plan = facts_and_plan(text)
    if isinstance(step.get("facts"), str):
        transcript.say(Kind.REASONING, step["facts"], f"{pointer}/facts", _AGENT)
    transcript.say(Kind.REASONING, facts, f"{pointer}/plan", _AGENT)
    draft = transcript.say(Kind.BOOKKEEPING, plan, f"{pointer}/plan", _AGENT)
    if draft is not None:
        draft.name = "plan"


class _Action:
    """One step in which the agent called tools or ran code."""

    def __init__(self, transcript: Transcript, step: dict[str, Json], pointer: str) -> None:
        self._transcript = transcript
        self._step = step
        self._pointer = pointer

    def write(self) -> None:
        """Write what was thought, what was called, and what came back."""
        self._transcript.begin_turn()
        calls = self._step.get("tool_calls")
        calls = calls if is_list(calls) else []
        code = text_at(self._step, "code_action")
        text, place = self._output_of_model()
        found = thought_and_code(text) if code is not None or not calls else None
        self._transcript.say(Kind.REASONING, found[0] if found else text, place, _AGENT)
        drafts: list[Draft] = []
        for index, value in enumerate(calls):
            call = as_call(value)
            where = f"{self._pointer}/tool_calls/{index}"
            if call is None:
                self._transcript.skip(where, "a call without a name")
            else:
                drafts.append(self._transcript.call(call, where, _AGENT))
        if not drafts and (code is not None or found is not None):
            where = f"{self._pointer}/code_action" if code is not None else place
            run = code if code is not None else found[1] if found else ""
            call = Call("python_interpreter", text=run)
            if code is not None:
                drafts.append(self._transcript.call(call, where, _AGENT, recorded=False))
            else:
                with self._transcript.reading_text(text, place, _AGENT):
                    drafts.append(self._transcript.call(call, where, _AGENT))
        self._came_back(drafts)

    def _output_of_model(self) -> tuple[str, str]:
        if self._step.get("model_output") is not None:
            place = f"{self._pointer}/model_output"
            text, place, _ = plain_text(self._step["model_output"], place)
            return text.strip(), place
        message = self._step.get("model_output_message")
        content = message.get("content") if is_object(message) else None
        place = f"{self._pointer}/model_output_message/content"
        text, place, _ = plain_text(content, place)
        return text.strip(), place

    def _came_back(self, drafts: list[Draft]) -> None:
        """Give every call of the step its outcome; results of several are noted as one text."""
        error = self._step.get("error")
        if is_object(error) and key_with_text(error, ("message",)):
            output, place = error["message"], f"{self._pointer}/error/message"
        elif isinstance(error, str) and error:
            output, place = error, f"{self._pointer}/error"
        else:
            error = None
            key = key_with_text(self._step, ("observations", "action_output"))
            if key is None and self._step.get("action_output") is not None:
                key = "action_output"
            if key is None:
                return
            output, place = written(self._step[key]), f"{self._pointer}/{key}"
        for draft in drafts:
            draft.returned(output, place, EventStatus.ERROR if error is not None else None)
        if not drafts and error is not None:
            draft = Draft(Kind.OBSERVATION, place, None, "tool", output, status=EventStatus.ERROR)
            self._transcript.add(draft)
