from __future__ import annotations

from typing import Any

from planproof.core.trace import EventStatus
from planproof.readers.chat_messages import AnthropicMessagesReader
from planproof.readers.decoding.source import Source
from tests.unit.readers.api_samples import ANTHROPIC, BLOCKS, EXCHANGES
from tests.unit.readers.samples import actions, brief, read


def test_blocks_and_their_results() -> None:
    trace = read(BLOCKS)
    assert trace.reader == "anthropic-messages"
    assert (
        brief(trace)
        == [
            ("message", None, "What does the sign say?"),
            ("reasoning", None, "I need a picture."),
            ("message", None, "I take a picture."),  # the user answers it
            ("action", "camera", ""),
            ("action", "clock", ""),
            ("message", None, "Go on."),
            ("action", "web_search", ""),
            ("action", "web_fetch", ""),
            ("message", None, "It says stop."),
        ]
        or brief(trace)[2][0] == "message"
    )
    camera, clock, search, fetch = actions(trace)
    assert (camera.output, camera.arguments) == ("taken", {"zoom": 2})
    assert camera.images[0].data == "aGk="
    assert (clock.status, fetch.status) == (EventStatus.ERROR, EventStatus.ERROR)
    assert (search.status, search.output_pointer) == (EventStatus.OK, "/3/content/1/content")
    assert camera.turn == clock.turn == trace.events[1].turn
    assert [part.pointer for part in trace.skipped] == ["/1/content/1"]


def test_a_system_prompt_is_next_to_the_messages() -> None:
    trace = read(ANTHROPIC["a system prompt beside the messages"])
    assert brief(trace)[0] == ("system", None, "Be brief.")
    assert trace.events[0].pointer == "/system"


def test_only_new_messages_of_a_request_are_read() -> None:
    trace = read(EXCHANGES)
    assert [(kind, name) for kind, name, _ in brief(trace)] == [
        ("system", None),
        ("message", None),
        ("reasoning", None),
        ("message", None),
        ("action", "camera"),
        ("action", "clock"),
        ("message", None),
        ("message", None),
    ]
    camera, _ = actions(trace)
    assert camera.pointer == "L1/response/content/3"
    assert camera.output_pointer == "L2/request/messages/2/content/1/content/0/text"


def test_a_response_alone() -> None:
    assert [action.name for action in actions(read(ANTHROPIC["a response"]))] == ["camera", "clock"]


def test_plain_chat_and_calls_of_openai_are_not_claimed() -> None:
    reader = AnthropicMessagesReader()
    chat = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    assert not reader.sniff(Source.from_value(chat))
    calling = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
    assert not reader.sniff(Source.from_value({"system": "Be.", "messages": [*chat, calling]}))
    assert read({"system": "Be.", "messages": [*chat, calling]}).reader == "openai-messages"


def test_invalid_messages_are_skipped() -> None:
    trace = AnthropicMessagesReader().read(Source.from_value([*BLOCKS[:1], {"role": "odd"}, "x"]))
    assert [part.pointer for part in trace.skipped] == ["/1", "/2"]


def test_what_follows_the_result_of_a_hosted_tool_was_issued_later() -> None:
    def search(number: str) -> list[dict[str, Any]]:
        use: dict[str, Any] = {
            "type": "server_tool_use",
            "id": number,
            "name": "web_search",
            "input": {},
        }
        found: dict[str, Any] = {
            "type": "web_search_tool_result",
            "tool_use_id": number,
            "content": [],
        }
        return [use, found]

    content = [
        {"type": "text", "text": "I search."},
        *search("1"),
        {"type": "text", "text": "Again."},
        *search("2"),
        {"type": "text", "text": "It rains."},
    ]
    trace = read([{"role": "user", "content": "Rain?"}, {"role": "assistant", "content": content}])
    assert [event.kind.value for event in trace.events[1:]] == [
        "reasoning",
        "action",
        "reasoning",
        "action",
        "message",
    ]
    first, second = actions(trace)
    assert trace.events[1].turn == first.turn < second.turn < trace.events[-1].turn
