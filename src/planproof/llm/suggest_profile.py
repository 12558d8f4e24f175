"""Ask a model for the profile of a format, from a sample of a trace.

The answer is parsed and tried on the whole trace. If it is not a valid profile, or reads nothing or
less than half, the model is asked once more and told what is wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from planproof.core.judge import ModelOptions
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.llm.prompting.escaping import clip_middle, escape_text, wrap_in_fence
from planproof.llm.prompting.templates import compute_prompts_digest, render
from planproof.readers.decoding.source import Source
from planproof.readers.profile_files import build_profile_schema, read_built_in_text
from planproof.readers.profile_reader import ProfileReader, parse_profile
from planproof.readers.profile_trial import ProfileTrial, try_profile
from planproof.readers.suggestion.profile_suggestion import make_profile_name

_EXAMPLES = {"text": ("bedrock-console", "llama-index-workflow")}
_JSON_EXAMPLES = ("gemini-cli", "codex-exec")
_LONGEST_RECORD = 1_500
_LONGEST_PROBLEM = 2_000
_MAX_REASONS = 5
_MARK_DIGITS = 20


# The docstring and the description are part of the JSON schema that models are sent.
class ProfileAnswer(BaseModel):
    """The whole answer."""

    model_config = ConfigDict(extra="ignore")

    profile: str = Field(description="The profile, as YAML text.")


@dataclass(frozen=True, slots=True)
class WrittenProfile:
    """A profile that a model wrote, and what it reads of the trace."""

    text: str
    reader: ProfileReader
    trial: ProfileTrial
    model: str
    usage: Usage


async def ask_for_profile(
    source: Source, model: Model, options: ModelOptions | None = None, *, name: str | None = None
) -> WrittenProfile:
    """Ask a model for a profile; raise `ModelFailed` if none of its two answers is a valid one."""
    settings = options or ModelOptions()
    deadline = monotonic() + settings.deadline
    own_name = name or make_profile_name(source.name)
    usage, problem = Usage(), ""
    best: WrittenProfile | None = None
    for _ in range(2):
        question = _build_question(source, own_name, settings.budget, problem)
        answer = await model.ask(question, deadline=deadline)
        usage += answer.usage
        text = cast("ProfileAnswer", answer.value).profile
        try:
            reader = ProfileReader(parse_profile(text, name="profile"))
            trial = try_profile(reader, source)
        except InvalidInput as error:
            problem = f"{text}\n\nIt is not valid: {error}"
            continue
        written = WrittenProfile(_add_head(text, trial, model), reader, trial, model.name, usage)
        wrong = _find_problem(trial)
        if best is None or trial.unread <= best.trial.unread:
            best = written
        if wrong is None:
            return written
        problem = f"{text}\n\n{wrong}"
    if best is None:
        message = f"the profile is not valid: {clip_middle(problem[-_LONGEST_PROBLEM:], 500)}"
        raise ModelFailed(Cause.INVALID_ANSWER, message, model=model.name, usage=usage)
    return best


def _build_question(source: Source, name: str, budget: int, problem: str) -> Question:
    """Build the question: instructions with examples, the sample, and what was wrong before."""
    mark = sha256(source.digest.encode()).hexdigest()[:_MARK_DIGITS]
    examples = map(read_built_in_text, _EXAMPLES.get(source.form, _JSON_EXAMPLES))
    instructions = render(
        "suggest_profile.jinja",
        mark=mark,
        profile_name=name,
        examples=list(examples),
        schema=json.dumps(build_profile_schema(), separators=(",", ":")),
    )
    again = clip_middle(problem, 2 * _LONGEST_PROBLEM)
    room = budget - len(instructions) - len(again)
    parts = [wrap_in_fence("sample", _write_sample(source, room), mark)]
    if problem:
        fenced = wrap_in_fence("answer", escape_lines(again), mark)
        parts.append(render("suggest_profile_again.jinja", problem=fenced))
    return Question(instructions, tuple(parts), ProfileAnswer, compute_prompts_digest())


def _write_sample(source: Source, budget: int) -> str:
    """Write the beginning of a source, in which long texts are cut, within a budget."""
    if source.form == "text":
        lines = [line[:_LONGEST_RECORD] for line in source.document.split("\n")]
        numbered = [f"L{number}: {escape_text(line)}" for number, line in enumerate(lines, 1)]
        return _take(numbered, budget)
    if source.form == "jsonl":
        records = [(f"L{line}", value) for line, value in source.document]
        return _take([f"{where}: {_write_record(value)}" for where, value in records], budget)
    return clip_middle(escape_lines(json.dumps(_shorten(source.document), indent=1)), budget)


def _take(lines: list[str], budget: int) -> str:
    """Return as many lines as fit: the first ones, and some that are spread over the rest."""
    taken: list[int] = []
    size = 0
    step = max(1, len(lines) // 100)
    for index in dict.fromkeys((*range(min(len(lines), 60)), *range(0, len(lines), step))):
        size += len(lines[index]) + 1
        if size > budget:
            break
        taken.append(index)
    return "\n".join(lines[index] for index in sorted(taken))


def _write_record(value: object) -> str:
    return escape_text(
        clip_middle(json.dumps(_shorten(value), ensure_ascii=False), _LONGEST_RECORD)
    )


def _shorten(value: object, depth: int = 0) -> object:
    """Return a value with long texts and lists cut: the shape matters, not the content."""
    if isinstance(value, str):
        return clip_middle(value, 200)
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {key: _shorten(item, depth + 1) for key, item in list(items)[:40]}
    if isinstance(value, list):
        items_in_list = cast("list[object]", value)
        kept = items_in_list if depth == 0 else items_in_list[:20]
        return [_shorten(item, depth + 1) for item in kept[:200]]
    return value


def escape_lines(text: str) -> str:
    """Escape each line of a text as data."""
    return "\n".join(map(escape_text, text.split("\n")))


def _find_problem(trial: ProfileTrial) -> str | None:
    """Return what is wrong with what a profile reads; None if it is good enough."""
    if not trial.trace.events:
        what = "It reads nothing."
    elif not trial.is_understood:
        what = f"It reads only {trial.describe_counts()}: less than half of the records."
    elif not trial.is_detected:
        what = "`detect` does not recognise the trace."
    else:
        return None
    reasons = [
        f"{count} times: {why}, first at {pointer}"
        for why, count, pointer in trial.count_skipped()[:_MAX_REASONS]
    ]
    return "\n".join([what, *reasons])


def _add_head(text: str, trial: ProfileTrial, model: Model) -> str:
    lines = [
        f"# Written by {escape_text(model.name)} from a sample: check it before you rely on it.",
        f"# Read by it: {trial.describe_counts()}; {trial.unread:,} records unread.",
    ]
    return "\n".join([*lines, text.strip("\n")]) + "\n"
