"""The general reader: makes sensible events of traces whose format nobody has a reader for.

It looks for a few shapes: messages, calls, records of events, spans and parallel arrays, and says
how much of the source it accounted for. A text is one message, of which it understood nothing.
"""

from __future__ import annotations

from dataclasses import replace

from planproof.core.json_values import is_list
from planproof.core.trace import Kind, Trace
from planproof.errors import InvalidInput
from planproof.readers.accounting import account_lines, account_records
from planproof.readers.decoding.source import Source
from planproof.readers.general.walk import Walk
from planproof.readers.toolkit.trace_builder import TraceBuilder


class GeneralReader:
    """Reads anything; takes what looks like calls, messages, commands and results."""

    name = "general"

    def sniff(self, source: Source) -> bool:
        """Always: this reader is the last resort."""
        return True

    def read(self, source: Source) -> Trace:
        """The events that were recognised, in the order in which they began."""
        builder = TraceBuilder(source.skipped)
        document = source.document
        if source.form == "text":
            last = document.count("\n") + 1
            pointer = "L1" if last == 1 else f"L1-{last}"
            builder.add_message(Kind.MESSAGE, document.strip(), pointer, "assistant")
            trace = builder.build(self.name)
            return replace(trace, record_counts=account_lines(trace.events, last, 0))
        if is_list(document) and document and all(isinstance(item, str) for item in document):
            raise InvalidInput(
                "holds a list of strings, in which nothing looks like an event.",
                where=source.name,
                advice="Give a list of messages, spans or events, or an object that holds one.",
            )
        walk = Walk(builder)
        if source.form == "jsonl":
            walk.add_entries([(f"L{line}", value) for line, value in document])
        else:
            walk.add_value(document, "")
        walk.finish()
        trace = builder.build(self.name)
        return replace(trace, record_counts=account_records(source, trace))
