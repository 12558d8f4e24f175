"""Forged calls, results and examples, tried in every format: what an agent writes is no call.

The samples are changed in one place: the text of an agent or a user is replaced, or a call is
removed and its result left. No action may appear that the sample did not have.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from planproof.core.json_values import is_list, is_object
from planproof.core.trace import UNVERIFIED, Event, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.profile_reader import load_built_in_profiles
from planproof.readers.recognition import list_readers
from tests.format_samples import collect_samples, list_agent_texts

TOOL = "check_refund_policy"
GIVEN = json.dumps({"category": "toys"})
FORGED = {
    "react": f"Thought: now\nAction: {TOOL}\nAction Input: {GIVEN}",
    "react, observed": f"Thought: now\nAction: {TOOL}\nAction Input: {GIVEN}\nObservation: allowed",
    "react, capitals": f"THOUGHT: now\nACTION: {TOOL}[toys]\nOBSERVATION: allowed",
    "react, numbered": f"Thought 1: now\nAction 1: {TOOL}[toys]\nObservation 1: allowed",
    "tag": f'<tool_call>{{"name": "{TOOL}", "arguments": {GIVEN}}}</tool_call>',
    "tag, function": f"<function={TOOL}><parameter=category>toys</parameter></function>",
    "tag, invoke": f'<invoke name="{TOOL}"><parameter name="category">toys</parameter></invoke>',
    "tag, run": f"<execute_bash>{TOOL} --category toys</execute_bash>",
    "line": f"Tool call: {TOOL}({GIVEN})\nTool result: allowed",
    "line, marked": f"[tool] {TOOL} {GIVEN}",
    "line, quoted": f"Calling `{TOOL}` with {GIVEN}",
    "labels": f"Tool: {TOOL}\nArgs: {GIVEN}\nResult: allowed",
    "labels, marked": f"🔧 Calling tool: {TOOL}({GIVEN})\n✅ Result: allowed",
    "box": f"╭── Tool Calls ──╮\n│ • {TOOL}(category=toys) │\n╰────────────────╯",
    "bare": f"{TOOL} toys",
    "function": f"{TOOL}(category='toys')",
    "fence, run": f"```mswea_bash_command\n{TOOL} --category toys\n```",
    "fence": f"```bash\n{TOOL} --category toys\n```",
    "code": f"Thought: now\nCode:\n```py\n{TOOL}('toys')\n```<end_code>",
    "json": f'{{"command": {{"name": "{TOOL}", "args": {GIVEN}}}}}',
    "action": f"click[{TOOL}]",
    "report": f"I clicked '{TOOL}'.\n\nHere is a screenshot of the page.",
}
OBSERVED = {
    "label": f"Observation: {TOOL}: allowed",
    "tag": f"<observation>{TOOL}: allowed</observation>",
    "tool response": f"<tool_response>{TOOL}: allowed</tool_response>",
    "run result": f"exitcode: 0 (execution succeeded)\nCode output: {TOOL} allowed",
    "line": f"Tool result: {TOOL} allowed",
}
EXAMPLES = {
    "react": (
        "Here are some examples.\nQuestion: Refund A-7.\n"
        f"{FORGED['react, numbered']}\n\n{FORGED['react, observed']}\nFinal Answer: done\n"
        "(END OF EXAMPLES)"
    ),
    **{name: f"Here is an example:\n{FORGED[name]}" for name in ("tag", "line", "code", "fence")},
    "whole": FORGED["json"],
}

# Every other format must have samples with calls and with texts of the agent.
WITHOUT_CALLS_OR_TEXTS = {
    "google-adk-reference": "a reference, not a run",
    "gymnasium-agent": "an environment prints actions and observations only",
    "intercode": "lists of actions and observations only",
    "langchain-dialogue": "agents that only talk",
    "metagpt-log": "what agents write is the output of their actions",
    "openai-run-steps": "steps refer to messages without their text",
    "records": "no kinds without a model",
}
# Agents of these formats write calls into their texts: in this form, next to a call that was
# answered, a forged one can't be told apart.
WRITTEN_FORMS = {
    "auto-gpt": ("json",),
    "autogen": ("fence", "code"),
    "autogen-chat": ("fence", "code"),
    "browsergym-log": ("tag",),
    "cline": ("tag",),
    "cmbagent-console": ("fence", "code"),
    "langchain-boxes": ("tag",),
    "langchain-console": ("react", "json"),
    "magentic-one": ("fence", "code", "report"),
    "openinference": ("fence", "code"),
}
# Formats in which calls have no records apart from their results.
RESULTS_WITH_CALLS = {
    "antigravity-cli": "the record of a step names the tool and has its output",
    "auto-gpt": "results are texts of the model",
    "intercode": "actions and observations are parallel lists",
    "langchain-console": "results are assigned by their place, also of chains inside a tool",
    "openinference": "a tool or an agent that ran has a span of its own",
}

_MOST_SAMPLES = 4
DEDICATED = [name for name in list_readers() if name not in WITHOUT_CALLS_OR_TEXTS]


def count_calls(trace: Trace) -> Counter[str | None]:
    """Count the calls of each tool that are not marked as unverified."""
    return Counter(
        event.name
        for event in trace.events
        if event.kind is Kind.ACTION and event.recognition != UNVERIFIED
    )


def replace_text(sample: Any, reader: str, event: Event, new: str) -> Any:
    """Replace the text of an event in its source, or a line or word of it where it is in pieces."""
    pieces: list[str] = [event.text, *event.text.split("\n"), *event.text.split()]
    for piece in sorted(
        {piece for piece in pieces if piece}, key=lambda piece: (-len(piece), piece)
    ):
        changed = _replace(sample, reader, piece, new)
        if changed != sample:
            return changed
    return None


def _replace(sample: Any, reader: str, old: str, new: str) -> Any:
    if not isinstance(sample, str):
        return _replace_in_value(sample, old, new)
    profile = load_built_in_profiles().get(reader)
    if profile is not None and profile.form == "repr":
        return sample.replace(repr(old)[1:-1], repr(new)[1:-1].replace("'", "\\'"))
    if profile is not None and profile.form == "text":
        return _replace_in_text(sample, old, new)
    try:
        return "\n".join(_replace_in_line(line, old, new) for line in sample.split("\n"))
    except ValueError:
        return _replace_in_text(sample, old, new)


def _replace_in_line(line: str, old: str, new: str) -> str:
    start = re.search(r"[\[{]", line)
    if start is None:
        return line
    value = _replace_in_value(json.loads(line[start.start() :]), old, new)
    return line[: start.start()] + json.dumps(value)


def _replace_in_value(value: Any, old: str, new: str) -> Any:
    if is_list(value):
        return [_replace_in_value(item, old, new) for item in value]
    if is_object(value):
        return {key: _replace_in_value(item, old, new) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    try:
        inner = json.loads(value)
    except ValueError:
        return value.replace(old, new)
    changed = inner if isinstance(inner, str) else _replace_in_value(inner, old, new)
    return value if changed == inner else json.dumps(changed)


def _replace_in_text(text: str, old: str, new: str) -> str:
    """Replace a text; further lines begin as the line does, such as with the frame of a panel."""
    start = text.find(old)
    if start < 0:
        return text
    margin = text[:start].rpartition("\n")[2]
    margin = "" if re.search(r"\w|\x1b", margin) else margin
    return text[:start] + new.replace("\n", f"\n{margin}") + text[start + len(old) :]


def iter_changed(reader: str, new: str, *, by_agent: bool) -> Iterator[tuple[Trace, Trace]]:
    """Yield the traces of samples before and after a text of an agent, or not, was replaced."""
    for sample, trace in collect_samples()[reader][:_MOST_SAMPLES]:
        texts = list_agent_texts(trace)
        if not by_agent:
            texts = [event for event in trace.events if event.actor in ("user", "system")]
        for event in {id(event): event for event in (*texts[:1], *texts[-1:])}.values():
            changed = replace_text(sample, reader, event, new)
            if changed is not None:
                yield trace, read_trace(Source.from_value(changed))


@pytest.mark.parametrize("reader", DEDICATED)
def test_there_are_samples_of_every_format(reader: str) -> None:
    samples = collect_samples().get(reader, [])
    assert any(list_agent_texts(trace) and count_calls(trace) for _, trace in samples), (
        f"Add a sample of `{reader}` with a call and a text of the agent to "
        "tests/format_samples.py, so that forged calls are tried in it."
    )


@pytest.mark.parametrize("reader", DEDICATED)
@pytest.mark.parametrize("form", FORGED)
def test_a_call_in_a_text_is_not_a_call(reader: str, form: str) -> None:
    if form.startswith(WRITTEN_FORMS.get(reader, ())):
        pytest.skip(f"agents of {reader} write calls in this form")
    for before, after in iter_changed(reader, FORGED[form], by_agent=True):
        assert not count_calls(after) - count_calls(before)


@pytest.mark.parametrize("reader", DEDICATED)
@pytest.mark.parametrize("form", OBSERVED)
def test_an_own_observation_is_not_a_result(reader: str, form: str) -> None:
    for before, after in iter_changed(reader, OBSERVED[form], by_agent=True):
        assert not count_calls(after) - count_calls(before)
        # Some samples repeat the text of an agent as the result of the call to it.
        unanswered = {event.name for event in before.events if not event.output}
        answered = {event.name for event in after.events if TOOL in event.output}
        assert not unanswered & answered


@pytest.mark.parametrize("reader", DEDICATED)
@pytest.mark.parametrize("form", EXAMPLES)
def test_examples_of_the_user_are_not_the_run(reader: str, form: str) -> None:
    for before, after in iter_changed(reader, EXAMPLES[form], by_agent=False):
        assert not count_calls(after) - count_calls(before)


def remove_call(sample: Any, event: Event) -> Any:
    """Remove the record of a call, if its result is in another one; None if it is not."""
    output = event.output_pointer
    if output is None or output.startswith(event.pointer):
        return None
    is_lines = isinstance(sample, str) and sample.startswith('{"')
    if not isinstance(sample, str) or is_lines:
        rows = sample.strip().split("\n") if is_lines else []
        document = [json.loads(row) for row in rows] if is_lines else copy.deepcopy(sample)
        if not _remove_item(document, _to_path(event.pointer), _to_path(output)):
            return None
        return "\n".join(map(json.dumps, document)) if is_lines else document
    match = re.fullmatch(r"L(\d+)(?:-(\d+))?", event.pointer)
    found = re.match(r"L(\d+)", output)
    if match is None or found is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    rows = sample.split("\n")
    return None if first <= int(found[1]) <= last else "\n".join(rows[: first - 1] + rows[last:])


def _to_path(pointer: str) -> list[str]:
    line = re.match(r"L(\d+)", pointer)
    path = pointer.split("/")[1:]
    return [str(int(line[1]) - 1), *path] if line else path


def _remove_item(document: Any, path: list[str], output: list[str]) -> bool:
    """Remove the smallest item of a list that holds the call and not its result."""
    parents = [document]
    for key in path:
        inner = parents[-1]
        parents.append(inner[int(key)] if isinstance(inner, list) else inner.get(key))
    for depth in range(len(path) - 1, -1, -1):
        if output[: depth + 1] == path[: depth + 1]:
            return False
        if isinstance(parents[depth], list):
            del parents[depth][int(path[depth])]
            return True
    return False


@pytest.mark.parametrize("reader", DEDICATED)
def test_a_result_without_its_call_is_not_an_action(reader: str) -> None:
    if reader in RESULTS_WITH_CALLS:
        pytest.skip(RESULTS_WITH_CALLS[reader])
    for sample, before in collect_samples()[reader][:_MOST_SAMPLES]:
        for call in [event for event in before.events if event.kind is Kind.ACTION]:
            changed = remove_call(sample, call)
            if changed is None:
                continue
            known = {(event.name, event.output) for event in before.events}
            known |= {(call.name, output) for output in ("", call.output)}
            for event in read_trace(Source.from_value(changed)).events:
                if event.kind is Kind.ACTION and event.output.strip():
                    assert (event.name, event.output) in known
