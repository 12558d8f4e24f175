from __future__ import annotations

from typing import Any

import pytest

from planproof.core.content import Image
from planproof.readers.toolkit.content_parts import extract_text, parse_parts


def list_parts(content: Any) -> list[tuple[str, str]]:
    return [(part.kind, part.pointer) for part in parse_parts(content, "/c")[0]]


CONTENTS: list[Any] = [
    ("hi", [("text", "/c")]),
    ("  ", []),
    (None, []),
    (7, []),
    (["hi", " ", 3], [("text", "/c/0")]),
    ([{"type": "text", "text": "hi"}], [("text", "/c/0/text")]),
    ([{"type": "text", "text": ""}], []),
    ([{"type": "output_text", "text": "hi"}], [("text", "/c/0/text")]),
    ([{"type": "thinking", "thinking": "hm"}], [("thought", "/c/0/thinking")]),
    ([{"type": "redacted_thinking", "data": "x"}], [("unread", "/c/0")]),
    ([{"type": "reasoning", "summary": []}], [("unread", "/c/0")]),
    ([{"text": "hm", "thought": True}], [("thought", "/c/0/text")]),
    ([{"type": "tool_use", "name": "a"}], [("call", "/c/0")]),
    ([{"functionCall": {"name": "a"}}], [("call", "/c/0")]),
    ([{"type": "tool_result"}], [("result", "/c/0")]),
    ([{"type": ["odd"]}], [("unread", "/c/0")]),
    ({"text": "hi"}, [("text", "/c/text")]),
    ({"parts": ["hi"]}, [("text", "/c/parts/0")]),
    ({"type": "image", "image": 3}, [("unread", "/c")]),
]


@pytest.mark.parametrize(("content", "parts"), CONTENTS)
def test_the_parts_of_a_content(content: Any, parts: list[tuple[str, str]]) -> None:
    assert list_parts(content) == parts


@pytest.mark.parametrize(
    ("part", "image"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            Image("image/*", url="https://example.org/a.png"),
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            Image("image/png", data="AAAA"),
        ),
        ({"type": "input_image", "image_url": "data:,AAAA"}, Image("image/*", data="AAAA")),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "A"}},
            Image("image/gif", data="A"),
        ),
        ({"type": "image", "source": {"data": "A"}}, Image("image/*", data="A")),
        ({"type": "image", "image": "https://x/y"}, Image("image/*", url="https://x/y")),
    ],
)
def test_images_are_kept_as_parts_of_their_own(part: dict[str, Any], image: Image) -> None:
    assert parse_parts([part], "") == ([], (image,))
    assert parse_parts(part, "")[1] == (image,)


def test_an_image_without_address_or_data_is_not_read() -> None:
    assert parse_parts([{"type": "image", "source": {"kind": "?"}}], "")[1] == ()


@pytest.mark.parametrize(
    ("content", "text", "pointer"),
    [
        ("hi", "hi", "/c"),
        ([{"type": "text", "text": "hi"}], "hi", "/c/0/text"),
        (["a", {"text": "b"}], "a\n…\nb", "/c"),
        ([], "", "/c"),
    ],
)
def test_all_the_text_of_a_content(content: Any, text: str, pointer: str) -> None:
    assert extract_text(content, "/c")[:2] == (text, pointer)
