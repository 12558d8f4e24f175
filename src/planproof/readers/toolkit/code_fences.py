"""Find code blocks between lines of three backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planproof.core.json_values import is_object, parse_embedded_json

_FENCE = "```"
_INTERPRETERS = {
    **dict.fromkeys(("", "py", "python", "python3"), "python"),
    **dict.fromkeys(("sh", "bash", "shell", "zsh", "console"), "sh"),
    "sql": "sql",
    "js": "javascript",
    "javascript": "javascript",
    "r": "r",
}


@dataclass(slots=True)
class CodeBlock:
    """A code block: its range including the fences, and the code between them."""

    start: int
    end: int
    language: str
    code: str

    @property
    def interpreter(self) -> str | None:
        """The interpreter that would run this code, or None if it is not a program."""
        return _INTERPRETERS.get(self.language.lower())


def has_fence(text: str) -> bool:
    """Return whether a text contains a fence."""
    # A single character is found thirty times as fast, and few texts have it.
    return "`" in text and _FENCE in text


def find_code_blocks(text: str) -> Iterator[CodeBlock]:
    """Yield the code blocks of a text; unclosed ones do not count."""
    opened: tuple[int, int, str] | None = None
    position = text.find(_FENCE)
    while position >= 0:
        line_start = text.rfind("\n", 0, position) + 1
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        if not text[line_start:position].strip():
            rest = text[position + 3 : line_end].strip()
            if opened is None and "`" not in rest:
                opened = (line_start, line_end + 1, rest.split(None, 1)[0] if rest else "")
            elif opened is not None and (not rest or rest.startswith("<")):
                start, code_start, language = opened
                # Code agents close a block with their own mark right after the fence.
                yield CodeBlock(start, line_end, language, text[code_start:line_start].rstrip("\n"))
                opened = None
        position = text.find(_FENCE, line_end)


_FENCED_CODE = re.compile(r"\bCode:\s{0,8}\n\s{0,8}```|```\s{0,8}<end_code>")
_TAG, _CLOSING_TAG = "<code>", "</code>"
_PLAN_HEADING = re.compile(
    r"^[ \t]{0,3}(?:#{1,4}[ \t]{0,3}(?:\d{1,2}[.)]?[ \t]{0,3})?|\d{1,2}[.)][ \t]{0,3})"
    r"\*{0,3}(?:updated |the )?plan\b[ \t:*]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
# The text that smolagents puts before a plan.
_PLAN_INTRODUCTION = re.compile(r"plan of action[^\n]{0,80}\n```\n")
_HEAD_LENGTH = 400
_END_MARKS = ("```", "<end_plan>")


def split_thought_and_code(text: str) -> tuple[str, str] | None:
    """Split an answer into its thought and the code to run; None if no code was meant to run."""
    if _FENCED_CODE.search(text):
        block = next(find_code_blocks(text), None)
        if block is not None:
            return text[: block.start].strip().removesuffix("Code:").strip(), block.code
    opened = text.find(_TAG)
    if opened >= 0:
        start = opened + len(_TAG)
        # The closing tag is the stop word of the model and is often omitted.
        closed = text.find(_CLOSING_TAG, start)
        code = text[start : closed if closed >= 0 else len(text)].strip("\n")
        return (text[:opened].strip(), code) if code.strip() else None
    value = (
        parse_embedded_json(text)
        if "code" in text[:_HEAD_LENGTH] or '"thought"' in text[:_HEAD_LENGTH]
        else None
    )
    if is_object(value) and isinstance(value.get("code"), str) and value["code"]:
        thought = value.get("thought")
        return thought if isinstance(thought, str) else "", value["code"]
    return None


def split_facts_and_plan(text: str) -> tuple[str, str]:
    """Return the survey of facts that begins some plans, and the plan without its end mark."""
    _, _, tagged = text.partition("<proposed_plan>")
    if tagged:
        return "", tagged.partition("</proposed_plan>")[0].strip()
    introduction = _PLAN_INTRODUCTION.search(text)
    text = text if introduction is None else text[introduction.end() :]
    heading = _PLAN_HEADING.search(text)
    facts = ""
    if heading is not None and "facts" in text[: heading.start()].lower():
        facts, text = text[: heading.start()], text[heading.start() :]
    text = text.strip()
    for mark in _END_MARKS:
        text = text.removesuffix(mark).rstrip()
    return facts.strip(), text
