"""What a reader is."""

from __future__ import annotations

from typing import Protocol

from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source


class Reader(Protocol):
    """Knows one format: whether a source is of it, and which events are in it."""

    name: str

    def sniff(self, source: Source) -> bool:
        """Whether this source looks like the format; cheap, and never raises."""
        ...

    def read(self, source: Source) -> Trace:
        """The events in the order in which they began, with pointers into the source."""
        ...
