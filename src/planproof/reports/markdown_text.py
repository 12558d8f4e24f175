"""Text from a case inside Markdown: it stays text, whatever stands in it."""

from __future__ import annotations

import re

from planproof.reports.terminal.lines import cut
from planproof.reports.wording import Show

_LONGEST_TEXT = 240

# As character references these are text and nothing else: no emphasis, link, HTML, table or math.
_STRUCTURAL = re.compile(r"[\\`*_{}\[\]<>#|~&@$^!]|:(?=\S)|^[^\w\s(]|(?<=www)\.", re.IGNORECASE)
# Even as text, `@name` notifies somebody and `#12` links an issue.
_CALLING = re.compile(r"([@#])(?=\w)")


def escape(text: str) -> str:
    """The text with everything that Markdown or HTML could act on as character references."""
    separated = _CALLING.sub("\\1\u200b", text)
    return _STRUCTURAL.sub(lambda match: f"&#{ord(match.group())};", separated)


def short(text: str) -> str:
    """As much of the text as belongs into a cell, escaped."""
    return escape(cut(text, _LONGEST_TEXT))


def code(text: str, show: Show) -> str:
    """A name or a quote, set as code."""
    return f"<code>{short(show(text))}</code>"
