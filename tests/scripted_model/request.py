"""What was asked, whichever dialect it was asked in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Dialect: TypeAlias = Literal["chat", "responses", "messages"]

PATHS: dict[str, Dialect] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
}


_FORMS: dict[Dialect, tuple[str, ...]] = {
    "chat": ("response_format", "json_schema"),
    "responses": ("text", "format"),
    "messages": ("output_config", "format"),
}
"""Where the form of the answer stands."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `parts` are texts, and ("image", media type or address) in their places."""

    number: int
    dialect: Dialect
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def model(self) -> str:
        return self.body["model"]

    @property
    def instructions(self) -> str:
        if self.dialect == "responses":
            return self.body.get("instructions") or _texts(self._of_role("system", "developer"))
        if self.dialect == "messages":
            return _texts([self.body.get("system") or ""])
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
        form = _at(self.body, *_FORMS[self.dialect])
        if form is not None:
            return form["schema"]
        tools: list[dict[str, Any]] = self.body.get("tools", [])
        for tool in tools:
            function: dict[str, Any] = tool.get("function", tool)
            return function.get("parameters") or function.get("input_schema")
        return None

    @property
    def wants_a_call(self) -> bool:
        """Whether the answer is to be the call of a tool."""
        return bool(self.body.get("tools"))

    def _of_role(self, *roles: str) -> list[Any]:
        messages: list[dict[str, Any]] | str = self.body[
            "input" if self.dialect == "responses" else "messages"
        ]
        if isinstance(messages, str):
            return [messages] if "user" in roles else []
        return [message["content"] for message in messages if message.get("role") in roles]


def _at(value: Any, *keys: str) -> Any:
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
        kind = block["type"]
        if kind in {"text", "input_text"}:
            found.append(block["text"])
        elif kind == "image_url":
            found.append(("image", _address(block["image_url"]["url"])))
        elif kind == "input_image":
            found.append(("image", _address(block["image_url"])))
        elif kind == "image":
            source = block["source"]
            found.append(("image", source.get("url") or source["media_type"]))
        else:
            found.append(("unknown", kind))
    return found


def _address(url: str) -> str:
    """The media type of an image that is sent whole, or the address of one that is not."""
    return url[5:].partition(";")[0] if url.startswith("data:") else url
