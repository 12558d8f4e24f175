"""Deeds told in prose: "I clicked 'Details'.", and then what was to be seen.

Browsing agents are programs that report so. A model that merely claims to have clicked has
nothing to show for it: the page that was seen then is what makes it a deed. Only of an agent that
is known to drive a browser, and that was just sent to work, the program's own words suffice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import Call
from planproof.readers.toolkit.trace_builder import Transcript

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
_REPORT = re.compile(
    r"I (?:(?:clicked|hovered over|selected) (?:'.{1,1000}'|the control|the browser back button)"
    r"|typed '.{1,2000}' into (?:'.{1,1000}'|the browser (?:search|address) bar)"
    r"|scrolled (?:'.{1,1000}' )?(?:up|down)(?: one page in the browser)?)\.",
    re.DOTALL,
)
_DRIVER = re.compile(r"(?:multimodal[_ ]?)?(?:web|file)[_ ]?surfer", re.IGNORECASE)
# What the program's libraries complain of may stand before its own words.
_WARNINGS = r"(?:[^\n]{0,400}Warning: [^\n]{0,400}\n(?:[ \t]{1,8}[^\n]{0,400}\n)?){0,4}"
_TOLD = rf"\s{{0,8}}(?P<told>I (?P<verb>{'|'.join(_VERBS)})\b)"
_DEED = re.compile(_TOLD)
_DEED_BEHIND_WARNINGS = re.compile(_WARNINGS + _TOLD)
_SENTENCE_ENDS = tuple(".!?'\"")
_BLANKS = 8
_PAGE = re.compile(r"\s{0,8}Address: [^\s]{1,2000}[ \t]{0,8}\n")
_SEEN = re.compile(r"\b(?:screenshot|viewport)\b", re.IGNORECASE)
_LOOKED_AT = 600
_ANSWER = re.compile(r"^FINAL ANSWER:", re.MULTILINE)


@dataclass(slots=True)
class Deed:
    """What was done, what was seen then, and the answer that may close the log of it."""

    name: str
    text: str
    outcome: str
    answer: str


def drives_browser(agent: str) -> bool:
    """Whether an agent of this name is a program that does what it reports."""
    return _DRIVER.fullmatch(agent) is not None


def as_deed(text: str, *, by_program: bool = False) -> Deed | None:
    """The deed that a text begins with; None when it tells of none.

    `by_program` says that the text comes from a program that reports what it did.
    """
    initial = text[: _BLANKS + 1].lstrip()[:1]
    told = _DEED.match(text) if initial == "I" else None
    if told is None and "Warning: " in text[:_LOOKED_AT]:
        told = _DEED_BEHIND_WARNINGS.match(text)
    if told is not None:
        name, start, cut = _VERBS[told["verb"]], told.start("told"), _end_of(text, told.end())
    else:
        page = _PAGE.match(text) if initial == "A" else None
        if page is None:
            return None
        name, start, cut = "open", 0, page.end()
    reported = by_program and _REPORT.fullmatch(text[start:cut].strip())
    if not reported and not _shows_a_page(text[cut : cut + _LOOKED_AT]):
        return None
    answer = _ANSWER.search(text, cut) if "FINAL ANSWER:" in text else None
    close = answer.start() if answer is not None else len(text)
    return Deed(name, text[start:cut].strip(), text[cut:close].strip(), text[close:].strip())


def _end_of(text: str, start: int) -> int:
    """Where the first sentence that ends its line ends, or the first paragraph."""
    line = text.find("\n", start)
    while line >= 0:
        before = max(start, line - _BLANKS)
        told = text[before:line].rstrip(" \t")
        if told.endswith(_SENTENCE_ENDS) or (not told and text[before - 1] in _SENTENCE_ENDS):
            return before + len(told)
        if text[line + 1 : line + 2 + _BLANKS].lstrip(" \t").startswith("\n"):
            return line
        line = text.find("\n", line + 1)
    return len(text)


def _shows_a_page(text: str) -> bool:
    # Plain words first: a pattern that ignores case takes ten times as long to find none.
    lower = text.lower()
    return ("screenshot" in lower or "viewport" in lower) and _SEEN.search(text) is not None


def write_deed(transcript: Transcript, deed: Deed, pointer: str, actor: str) -> None:
    """Write a deed as the action that it is."""
    draft = transcript.call(Call(deed.name, text=deed.text), pointer, actor)
    draft.returned(deed.outcome, pointer)
    transcript.say(Kind.MESSAGE, deed.answer, pointer, actor)
