"""Deeds told in prose: "I clicked 'Details'.", and then what was to be seen.

Browsing agents are programs that report so. A model that merely claims to have clicked has
nothing to show for it: the page that was seen then is what makes it a deed. Only of an agent that
is known to drive a browser, and that was just sent to work, the program's own words suffice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import TraceBuilder

_VERBS = {
    "clicked": "click",
    "downloaded": "download",
    "entered": "enter",
    "executed": "execute",
    "hovered": "hover",
    "moved": "move",
    "navigated": "navigate",
    "opened": "open",
    "paged": "page",
    "pressed": "press",
    "ran": "run",
    "scrolled": "scroll",
    "searched": "search",
    "selected": "select",
    "submitted": "submit_form",
    "summarized": "summarize",
    "typed": "type",
    "visited": "visit",
    "waited": "wait",
    "went": "go",
}
# The sentences of the program itself; a model that speaks in its place uses others.
_PROGRAM_REPORT = re.compile(
    r"I (?:(?:clicked|hovered over|selected) (?:'.{1,1000}'|the control|the browser back button)"
    r"|typed '.{1,2000}' into (?:'.{1,1000}'|the browser (?:search|address) bar)"
    r"|scrolled (?:'.{1,1000}' )?(?:up|down)(?: one page in the browser)?)\.",
    re.DOTALL,
)
_BROWSER_AGENT = re.compile(r"(?:multimodal[_ ]?)?(?:web|file)[_ ]?surfer", re.IGNORECASE)
# What the program's libraries complain of may stand before its own words.
_WARNINGS = r"(?:[^\n]{0,400}Warning: [^\n]{0,400}\n(?:[ \t]{1,8}[^\n]{0,400}\n)?){0,4}"
_ACTION_SENTENCE = rf"\s{{0,8}}(?P<told>I (?P<verb>{'|'.join(_VERBS)})\b)"
_ACTION_REPORT = re.compile(_ACTION_SENTENCE)
_ACTION_REPORT_AFTER_WARNINGS = re.compile(_WARNINGS + _ACTION_SENTENCE)
_SENTENCE_ENDS = tuple(".!?'\"")
_MAX_BLANKS = 8
_PAGE_ADDRESS = re.compile(r"\s{0,8}Address: [^\s]{1,2000}[ \t]{0,8}\n")
_PAGE_MENTION = re.compile(r"\b(?:screenshot|viewport)\b", re.IGNORECASE)
_SEARCH_LIMIT = 600
_FINAL_ANSWER = re.compile(r"^FINAL ANSWER:", re.MULTILINE)


@dataclass(slots=True)
class ReportedAction:
    """What was done, what was seen then, and the answer that may close the log of it."""

    name: str
    text: str
    outcome: str
    answer: str


def is_browser_agent(agent: str) -> bool:
    """Whether an agent of this name is a program that does what it reports."""
    return _BROWSER_AGENT.fullmatch(agent) is not None


def parse_reported_action(text: str, *, by_program: bool = False) -> ReportedAction | None:
    """The deed that a text begins with; None when it tells of none.

    `by_program` says that the text comes from a program that reports what it did.
    """
    initial = text[: _MAX_BLANKS + 1].lstrip()[:1]
    match = _ACTION_REPORT.match(text) if initial == "I" else None
    if match is None and "Warning: " in text[:_SEARCH_LIMIT]:
        match = _ACTION_REPORT_AFTER_WARNINGS.match(text)
    if match is not None:
        name, start, cut = (
            _VERBS[match["verb"]],
            match.start("told"),
            _find_sentence_end(text, match.end()),
        )
    else:
        page = _PAGE_ADDRESS.match(text) if initial == "A" else None
        if page is None:
            return None
        name, start, cut = "open", 0, page.end()
    reported = by_program and _PROGRAM_REPORT.fullmatch(text[start:cut].strip())
    if not reported and not _mentions_page(text[cut : cut + _SEARCH_LIMIT]):
        return None
    answer = _FINAL_ANSWER.search(text, cut) if "FINAL ANSWER:" in text else None
    close = answer.start() if answer is not None else len(text)
    return ReportedAction(
        name, text[start:cut].strip(), text[cut:close].strip(), text[close:].strip()
    )


def _find_sentence_end(text: str, start: int) -> int:
    """Where the first sentence that ends its line ends, or the first paragraph."""
    line = text.find("\n", start)
    while line >= 0:
        before = max(start, line - _MAX_BLANKS)
        tail = text[before:line].rstrip(" \t")
        if tail.endswith(_SENTENCE_ENDS) or (not tail and text[before - 1] in _SENTENCE_ENDS):
            return before + len(tail)
        if text[line + 1 : line + 2 + _MAX_BLANKS].lstrip(" \t").startswith("\n"):
            return line
        line = text.find("\n", line + 1)
    return len(text)


def _mentions_page(text: str) -> bool:
    # Plain words first: a pattern that ignores case takes ten times as long to find none.
    lower = text.lower()
    return ("screenshot" in lower or "viewport" in lower) and _PAGE_MENTION.search(text) is not None


def add_reported_action(
    builder: TraceBuilder, action: ReportedAction, pointer: str, actor: str
) -> None:
    """Write a deed as the action that it is."""
    draft = builder.add_call(ToolCall(action.name, text=action.text), pointer, actor)
    draft.set_output(action.outcome, pointer)
    builder.add_message(Kind.MESSAGE, action.answer, pointer, actor)
