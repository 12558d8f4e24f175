"""What was asked, whichever dialect it was asked in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Dialect: TypeAlias = Literal["chat", "responses", "messages", "gemini", "converse"]

_ENDINGS: dict[str, Dialect] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
    ":generateContent": "gemini",
    "/converse": "converse",
}
_FORMS: dict[Dialect, tuple[str, ...]] = {
    "chat": ("response_format", "json_schema", "schema"),
    "responses": ("text", "format", "schema"),
    "messages": ("output_config", "format", "schema"),
    "gemini": ("generationConfig", "responseJsonSchema"),
}
"""Where the form of the answer stands."""
_TOOL_FORMS = (
    ("function", "parameters"),
    ("parameters",),
    ("input_schema",),
    ("toolSpec", "inputSchema", "json"),
)
"""The same where the answer is to be the call of a tool."""


def detect_dialect(path: str) -> Dialect | None:
    """The dialect that is spoken at a path."""
    bare = path.partition("?")[0]
    for ending, dialect in _ENDINGS.items():
        if bare.endswith(ending) and bare.count("/v1/") < 2:
            return dialect
    return None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. `parts` are texts, and ("image", media type or address) in their places."""

    number: int
    dialect: Dialect
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def model(self) -> str:
        return self.body.get("model", "x")

    @property
    def instructions(self) -> str:
        if self.dialect == "responses":
            return self.body.get("instructions") or _texts(self._of_role("system", "developer"))
        if self.dialect in {"messages", "converse"}:
            return _texts([self.body.get("system") or ""])
        if self.dialect == "gemini":
            return _texts([_get_path(self.body, "systemInstruction", "parts") or ""])
        return _texts(self._of_role("system", "developer"))

    @property
    def parts(self) -> list[str | tuple[str, str]]:
        found: list[str | tuple[str, str]] = []
        for content in self._of_role("user"):
            found.extend(_parts(content))
        return found

    @property
    def text(self) -> str:
        return "\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def schema(self) -> dict[str, Any] | None:
        """The form that is asked for, if any is: by schema, or as the arguments of a tool."""
        form = _get_path(self.body, *_FORMS.get(self.dialect, ("",)))
        if form is not None:
            return form
        schemas = (_get_path(tool, *keys) for tool in self._tools for keys in _TOOL_FORMS)
        return next((schema for schema in schemas if schema is not None), None)

    @property
    def wants_a_call(self) -> bool:
        """Whether the answer is to be the call of a tool."""
        return bool(self._tools)

    @property
    def _tools(self) -> list[dict[str, Any]]:
        return self.body.get("tools") or _get_path(self.body, "toolConfig", "tools") or []

    def _of_role(self, *roles: str) -> list[Any]:
        messages: list[dict[str, Any]] | str = self.body[
            {"responses": "input", "gemini": "contents"}.get(self.dialect, "messages")
        ]
        if isinstance(messages, str):
            return [messages] if "user" in roles else []
        content = "parts" if self.dialect == "gemini" else "content"
        return [message[content] for message in messages if message.get("role") in roles]


def _get_path(value: Any, *keys: str) -> Any:
    """What stands under these keys, one in another; None where one is missing."""
    for key in keys:
        value = None if value is None else value.get(key)
    return value


def _texts(contents: list[Any]) -> str:
    found = [part for content in contents for part in _parts(content)]
    return "\n".join(part for part in found if isinstance(part, str))


def _parts(content: Any) -> list[str | tuple[str, str]]:
    if isinstance(content, str):
        return [content]
    found: list[str | tuple[str, str]] = []
    for block in content:
        kind = block.get("type") or next(iter(block))  # the name of its one field, with some
        if kind in {"text", "input_text"}:
            found.append(block["text"])
        elif kind == "image_url":
            found.append(("image", _address(block["image_url"]["url"])))
        elif kind == "input_image":
            found.append(("image", _address(block["image_url"])))
        elif kind == "inlineData":
            found.append(("image", block["inlineData"]["mime_type"]))
        elif kind == "image" and "image" in block:
            found.append(("image", f"image/{block['image']['format']}"))
        elif kind == "image":
            source = block["source"]
            found.append(("image", source.get("url") or source["media_type"]))
        else:
            found.append(("unknown", kind))
    return found


def _address(url: str) -> str:
    """The media type of an image that is sent whole, or the address of one that is not."""
    return url[5:].partition(";")[0] if url.startswith("data:") else url
