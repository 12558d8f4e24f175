"""The general reader: makes sensible events of traces whose format nobody has a reader for.

It walks a document for a few shapes: messages, calls, records of events, spans, parallel arrays,
and the turns of a text.
"""

from __future__ import annotations

from planproof.readers.general.text import read_text
from planproof.readers.general.walk import Walk
from planproof.readers.source import Source
from planproof.readers.transcript import Transcript
from planproof.trace import Trace


class GeneralReader:
    """Reads anything; takes what looks like calls, messages, commands and results."""

    name = "general"

    def sniff(self, source: Source) -> bool:
        """Always: this reader is the last resort."""
        return True

    def read(self, source: Source) -> Trace:
        """The events that were recognised, in the order of the document."""
        transcript = Transcript(source.skipped)
        if source.form == "text":
            read_text(transcript, source.document)
        else:
            walk = Walk(transcript)
            if source.form == "jsonl":
                walk.records([(f"L{line}", value) for line, value in source.document])
            else:
                walk.value(source.document, "")
            walk.finish()
        return transcript.trace(self.name)
