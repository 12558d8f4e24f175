"""Deeds told in prose: "I clicked 'Details'.", and then what was to be seen.

Browsing agents are programs that report so. A model that merely claims to have clicked has
nothing to show for it: the page that was seen then is what makes it a deed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.readers.transcript import Draft, Transcript
from planproof.trace import Kind

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
    if _SEEN.search(text, cut, cut + _LOOKED_AT) is None:
        return None
    answer = _ANSWER.search(text, cut)
    close = answer.start() if answer is not None else len(text)
    return Deed(name, text[:cut].strip(), text[cut:close].strip(), text[close:].strip())


def write_deed(transcript: Transcript, deed: Deed, pointer: str, actor: str) -> None:
    """Write a deed as the action that it is."""
    draft = transcript.add(Draft(Kind.ACTION, pointer, deed.name, actor, deed.text))
    draft.returned(deed.outcome, pointer)
    transcript.say(Kind.MESSAGE, deed.answer, pointer, actor)
