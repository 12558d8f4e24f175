from __future__ import annotations

from typing import Any

from planproof.readers.toolkit.repeated_prompts import PromptHistory, SeenIds, SystemPrompts
from planproof.readers.toolkit.trace_builder import TraceBuilder
from tests.unit.readers.api_samples import RESPONSES_LOG, SDK_SPANS
from tests.unit.readers.framework_samples import ADK_EVENTS, STATE_HISTORY
from tests.unit.readers.samples import brief, read


def find_new(told: PromptHistory, *messages: Any) -> list[Any]:
    return [message for _, message in told.iter_new(("", message) for message in messages)]


def test_only_new_messages_are_returned() -> None:
    told = PromptHistory()
    hello, yes = {"role": "user", "content": "Hello."}, {"role": "user", "content": "Yes."}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Shall I?"}]}
    assert find_new(told, hello) == [hello]
    told.remember(answer)
    assert find_new(told, hello, {"role": "assistant", "content": "Shall I?"}, yes) == [yes]
    assert find_new(told, hello, answer, yes, answer, yes) == [answer, yes]


def test_a_shortened_prompt_repeats_nothing() -> None:
    told = PromptHistory()
    messages = [{"role": "user", "content": str(number)} for number in range(9)]
    assert find_new(told, *messages[:8]) == messages[:8]
    assert find_new(told, *messages[5:]) == messages[8:]


def test_calls_are_known_by_their_ids() -> None:
    told = PromptHistory()
    calls = [{"role": "assistant", "tool_calls": [{"id": name}]} for name in "ab"]
    results = [{"role": "tool", "tool_call_id": name, "content": "ok"} for name in "ab"]
    assert find_new(told, calls[0], results[0]) == [calls[0], results[0]]
    assert find_new(told, *calls, *results) == [calls[1], results[1]]
    assert find_new(told, "bare", 1, None, "bare") == ["bare", 1, None, "bare"]


def test_instructions_are_written_where_they_change() -> None:
    transcript = TraceBuilder()
    instructions = SystemPrompts(transcript)
    for text in ("Be good.", "Be good.", None, "", "Be brief.", "Be good."):
        instructions.add_prompt(text, "")
    assert [draft.text for draft in transcript.drafts] == ["Be good.", "Be brief.", "Be good."]


def test_what_has_no_id_is_never_there_again() -> None:
    transcript = TraceBuilder()
    seen = SeenIds(transcript)
    assert [seen.skip_if_seen(name, "/0") for name in ("a", None, "b", None, "a")] == [
        False
    ] * 4 + [True]
    assert [part.pointer for part in transcript.build("").skipped] == ["/0"]


def test_duplicated_content_is_read_once() -> None:
    doubled: list[Any] = [
        [*SDK_SPANS, *SDK_SPANS],
        [*ADK_EVENTS, *ADK_EVENTS],
        f"{RESPONSES_LOG}\n{RESPONSES_LOG}",
        [*STATE_HISTORY, *STATE_HISTORY],
    ]
    once: list[Any] = [SDK_SPANS, ADK_EVENTS, RESPONSES_LOG, STATE_HISTORY]
    for twice, single in zip(doubled, once, strict=True):
        assert brief(read(twice)) == brief(read(single))
