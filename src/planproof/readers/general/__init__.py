"""The general reader: makes sensible events of traces whose format nobody has a reader for.

It looks for a few shapes: messages, calls, records of events, spans, parallel arrays, and the
turns of a text.
"""

from __future__ import annotations

from planproof.content import Json
from planproof.errors import InvalidInput
from planproof.readers.general.text import read_text
from planproof.readers.general.walk import Walk
from planproof.readers.pieces.shapes import is_list
from planproof.readers.pieces.transcript import Transcript
from planproof.readers.source import Source
from planproof.trace import Trace


class GeneralReader:
    """Reads anything; takes what looks like calls, messages, commands and results."""

    name = "general"

    def sniff(self, source: Source) -> bool:
        """Always: this reader is the last resort."""
        return True

    def read(self, source: Source) -> Trace:
        """The events that were recognised, in the order in which they began."""
        transcript = Transcript(source.skipped)
        document = source.document
        if source.form == "text":
            read_text(transcript, document.split("\n"), _lines)
        elif source.form == "jsonl":
            walk = Walk(transcript)
            walk.entries([(f"L{line}", value) for line, value in document])
            walk.finish()
        elif _is_lines(document):
            # Some frameworks write their log as an array of its lines.
            if not read_text(transcript, document, _items):
                raise InvalidInput(
                    "holds a list of strings, in which nothing looks like an event.",
                    where=source.name,
                    advice="Give a list of messages, spans or events, or an object that holds one.",
                )
        else:
            walk = Walk(transcript)
            walk.value(document, "")
            walk.finish()
        return transcript.trace(self.name)


def _is_lines(document: Json) -> bool:
    return (
        is_list(document)
        and bool(document)
        and all(isinstance(line, str) and "\n" not in line.rstrip("\n") for line in document)
    )


def _lines(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"


def _items(first: int, last: int) -> str:
    # What is spread over several strings stands nowhere but in the whole list.
    return f"/{first - 1}" if first == last else ""
