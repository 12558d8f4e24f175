from __future__ import annotations

from planproof.core.trace import EventStatus
from tests.unit.readers.framework_samples import MODEL_MESSAGES, request, response
from tests.unit.readers.samples import actions, brief, read


def test_parts_of_requests_and_responses() -> None:
    trace = read(MODEL_MESSAGES)
    assert trace.reader == "pydantic-ai"
    assert brief(trace) == [
        ("system", None, "Plan first."),
        ("system", None, "Be good."),
        ("message", None, "Look at this."),
        ("message", None, "And that."),
        ("message", None, ""),
        ("reasoning", None, "Hm."),
        ("reasoning", None, "I look."),
        ("action", "look", ""),
        ("action", "book", ""),
        ("action", "book", ""),
        ("system", None, "Please give an answer."),
        ("message", None, "Done."),
    ]
    look, book, again = actions(trace)
    assert (look.arguments, look.output, look.status) == ({"x": 1}, '{"seen": true}', "ok")
    assert (book.status, again.status) == (EventStatus.ERROR, EventStatus.ERROR)
    assert look.turn == book.turn == trace.events[5].turn != again.turn
    assert (look.pointer, look.output_pointer) == ("/1/parts/2", "/2/parts/1/content")
    assert look.time == "2026-01-01T09:00:00Z"
    assert [image.url for image in trace.events[4].images] == ["https://example.org/a.png"]
    skipped = ["/0/parts/1/content/3", "/0/parts/1/content/4", "/5/parts/0"]
    assert [part.pointer for part in trace.skipped][:2] == skipped[:2]
    assert skipped[2] in [part.pointer for part in trace.skipped]


def test_images_and_hosted_tools() -> None:
    picture = {"kind": "binary", "media_type": "image/png", "data": "aGk="}
    trace = read(
        [
            request({"part_kind": "user-prompt", "content": [picture]}),
            response(
                {"part_kind": "builtin-tool-call", "tool_name": "draw", "tool_call_id": "1"},
                {
                    "part_kind": "builtin-tool-return",
                    "tool_name": "draw",
                    "tool_call_id": "1",
                    "content": picture,
                },
                {"part_kind": "file", "content": picture},
            ),
        ]
    )
    assert [event.kind.value for event in trace.events[1:]] == ["message", "action", "reasoning"]
    assert [len(event.images) for event in trace.events[1:]] == [1, 1, 1]


def test_what_is_unknown_is_skipped() -> None:
    trace = read(
        [
            request({"part_kind": "telepathy"}, {"part_kind": "user-prompt", "content": "Go."}),
            response({"part_kind": "dream"}, {"part_kind": "tool-call", "args": "{}"}),
            *[response() for _ in range(50)],
            {"kind": "response", "parts": ["bare"]},
            {"kind": "aside"},
        ]
    )
    assert [part.why for part in trace.skipped if "/parts" in part.pointer] == [
        "no rule of the profile fits records with part_kind 'telepathy'",
        "no rule of the profile fits records with part_kind 'dream'",
        "a call without a name",
        "no rule of the profile fits a value that is not an object",
    ]
    assert trace.skipped[-1].why == "no rule of the profile fits records with kind 'aside'"
