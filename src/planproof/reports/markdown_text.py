"""Text from a case inside Markdown: it stays text, whatever stands in it."""

from __future__ import annotations

import re

from planproof.reports.terminal.lines import truncate
from planproof.reports.wording import TextSanitizer

_LONGEST_TEXT = 240

# As character references these are text and nothing else: no emphasis, link, HTML, table or math.
_STRUCTURAL = re.compile(r"[\\`*_{}\[\]<>#|~&@$^!]|:(?=\S)|^[^\w\s(]|(?<=www)\.", re.IGNORECASE)
# Even as text, `@name` notifies somebody and `#12` links an issue.
_MENTION = re.compile(r"([@#])(?=\w)")


def escape(text: str) -> str:
    """The text with everything that Markdown or HTML could act on as character references."""
    separated = _MENTION.sub("\\1\u200b", text)
    return _STRUCTURAL.sub(lambda match: f"&#{ord(match.group())};", separated)


def escape_truncated(text: str) -> str:
    """As much of the text as belongs into a cell, escaped."""
    return escape(truncate(text, _LONGEST_TEXT))


def format_code(text: str, show: TextSanitizer) -> str:
    """A name or a quote, set as code."""
    return f"<code>{escape_truncated(show(text))}</code>"
