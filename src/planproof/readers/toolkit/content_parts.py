"""Parse the content of a message: text, reasoning, calls, results and images, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object, key_with_text, text_at
from planproof.core.quotes import ELLIPSIS

PartKind: TypeAlias = Literal["text", "thought", "call", "result", "unread"]

_TEXT_KEYS = ("text", "content", "value", "output_text", "refusal")
_THOUGHT_TYPES = frozenset(("thinking", "reasoning", "thought"))
_CALL_TYPES = frozenset(
    "tool_use tool-call tool_call function_call server_tool_use mcp_tool_use toolCall".split()
)
_RESULT_TYPES = frozenset(
    "tool_result tool-result tool_call_response function_call_output toolResult".split()
)
# Hosted tools have their own result types, such as "web_search_tool_result".
_HOSTED_RESULT = "_tool_result"
_IMAGE_TYPES = frozenset(("image", "image_url", "image-url", "input_image"))
_MEDIA_KEYS = ("media_type", "mime_type", "mimeType")
# An object without any of these has neither text nor image.
_PART_KEYS = frozenset(
    "parts type kind thought text content value output_text refusal summary thinking reasoning "
    "functionCall toolUse function_call functionResponse toolResult function_response data image "
    "image_url source url inline_data inlineData file_data fileData".split()
)
_FILE_KEYS = ("inline_data", "inlineData", "file_data", "fileData")


@dataclass(slots=True)
class ContentPart:
    """One part of a message; `value` is text, or the object of a call or result."""

    kind: PartKind
    value: Json
    pointer: str


def parse_parts(content: Json, pointer: str) -> tuple[list[ContentPart], tuple[Image, ...]]:
    """Return the parts of a message's content, in any of its forms, and its images."""
    if isinstance(content, str):
        is_blank = not content or content.isspace()
        return ([] if is_blank else [ContentPart("text", content, pointer)]), ()
    if is_object(content):
        inner = content.get("parts")
        if is_list(inner):
            return parse_parts(inner, f"{pointer}/parts")
        part = _parse_part(content, pointer)
        image = parse_image(content)
        return ([part] if part else []), ((image,) if image else ())
    if not is_list(content):
        return [], ()
    parts: list[ContentPart] = []
    images: list[Image] = []
    for index, item in enumerate(content):
        item_pointer = f"{pointer}/{index}"
        if isinstance(item, str):
            if item and not item.isspace():
                parts.append(ContentPart("text", item, item_pointer))
        elif is_object(item):
            image = parse_image(item)
            if image is not None:
                images.append(image)
                continue
            part = _parse_part(item, item_pointer)
            if part is not None:
                parts.append(part)
    return parts, tuple(images)


def extract_text(content: Json, pointer: str) -> tuple[str, str, tuple[Image, ...]]:
    """Return all text of a content, the pointer to it, and its images."""
    if isinstance(content, str):
        return content, pointer, ()
    if is_object(content) and _PART_KEYS.isdisjoint(content):
        return "", pointer, ()  # the result of a tool, not a part of a message
    parts, images = parse_parts(content, pointer)
    texts = [part for part in parts if part.kind in ("text", "thought")]
    if len(texts) == 1:
        return texts[0].value, texts[0].pointer, images
    # The texts are not adjacent: a quote across the gap must show the ellipsis.
    return f"\n{ELLIPSIS}\n".join(part.value for part in texts), pointer, images


def parse_image(part: dict[str, Json]) -> Image | None:
    """Return the image in a part, given by URL or as base64 data."""
    where = next((part[key] for key in _FILE_KEYS if is_object(part.get(key))), None)
    if text_at(part, "kind") == "binary" or part.keys() == {"data"}:
        where = part
    if is_object(where) and not (text_at(where, *_MEDIA_KEYS) or "image/*").startswith("image/"):
        return None
    if where is None:
        if text_at(part, "type", "kind") not in _IMAGE_TYPES and "image_url" not in part:
            return None
        where = part.get("image_url", part.get("source", part.get("image", part.get("url"))))
    if is_object(where):
        kind = text_at(where, *_MEDIA_KEYS)
        data = text_at(where, "data")
        if data is not None:
            return Image(kind or "image/*", data=data)
        where = text_at(where, "url", "file_uri", "fileUri")
    if not isinstance(where, str):
        return None
    if where.startswith("data:"):
        head, _, data = where[5:].partition(",")
        return Image(head.partition(";")[0] or "image/*", data=data)
    return Image("image/*", url=where)


def _parse_part(item: dict[str, Json], pointer: str) -> ContentPart | None:
    kind = text_at(item, "type")
    if kind in _CALL_TYPES or "functionCall" in item or "toolUse" in item:
        return ContentPart("call", item, pointer)
    if kind is None and is_object(item.get("function_call")):
        return ContentPart("call", item, pointer)
    is_hosted = kind is not None and kind.endswith(_HOSTED_RESULT) and "tool_use_id" in item
    if kind in _RESULT_TYPES or is_hosted or "functionResponse" in item or "toolResult" in item:
        return ContentPart("result", item, pointer)
    if kind is None and is_object(item.get("function_response")):
        return ContentPart("result", item["function_response"], f"{pointer}/function_response")
    if kind in _THOUGHT_TYPES or item.get("thought") is True:
        key = key_with_text(item, ("thinking", "reasoning", "text", "summary", "content"))
        if key is None and is_list(item.get("summary")):
            text, summary_pointer, _ = extract_text(item["summary"], f"{pointer}/summary")
            if text:
                return ContentPart("thought", text, summary_pointer)
        if key is None:
            return ContentPart("unread", "encrypted or empty reasoning", pointer)
        return ContentPart("thought", item[key], f"{pointer}/{key}")
    key = key_with_text(item, _TEXT_KEYS)
    if key is not None:
        return ContentPart("text", item[key], f"{pointer}/{key}")
    if any(isinstance(item.get(k), str) for k in _TEXT_KEYS):
        return None  # an empty text loses nothing
    return ContentPart("unread", f"unknown content type {kind!r}", pointer)
