"""Deeds told in prose: "I clicked 'Details'.", and then what was to be seen."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
_DEED = re.compile(rf"\s{{0,8}}I ({'|'.join(_VERBS)})\b")
_END = re.compile(r"(?<=[.!?'\"])[ \t]{0,8}\n|\n[ \t]{0,8}\n|\Z")
_PAGE = re.compile(r"\s{0,8}Address: [^\s]{1,2000}[ \t]{0,8}\n")
_ANSWER = re.compile(r"^FINAL ANSWER:", re.MULTILINE)


@dataclass(slots=True)
class Deed:
    """What was done, what was seen then, and the answer that may close the log of it."""

    name: str
    text: str
    outcome: str
    answer: str


def as_deed(text: str) -> Deed | None:
    """The deed that a text begins with; None when it tells of none."""
    told = _DEED.match(text)
    if told is not None:
        end = _END.search(text, told.end())
        assert end is not None
        name, cut = _VERBS[told[1]], end.start()
    else:
        page = _PAGE.match(text)
        if page is None:
            return None
        name, cut = "open", page.end()
    answer = _ANSWER.search(text, cut)
    close = answer.start() if answer is not None else len(text)
    return Deed(name, text[:cut].strip(), text[cut:close].strip(), text[close:].strip())
