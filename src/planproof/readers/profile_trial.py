"""Try a profile on a source: what it reads, what it leaves, and whether it recognises it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.profile_reader import ProfileReader

_CALLS = frozenset((Kind.ACTION, Kind.BOOKKEEPING))


@dataclass(frozen=True, slots=True)
class ProfileTrial:
    """A source as a profile reads it; `is_detected` if it meets the conditions of `detect`."""

    trace: Trace
    is_detected: bool

    @property
    def calls(self) -> int:
        """Number of calls."""
        return sum(event.kind in _CALLS for event in self.trace.events)

    @property
    def results(self) -> int:
        """Number of results: those of calls, and those without a call."""
        answered = sum(event.output_pointer is not None for event in self.trace.events)
        return answered + sum(event.kind is Kind.OBSERVATION for event in self.trace.events)

    @property
    def messages(self) -> int:
        """Number of messages, of users and agents."""
        return sum(event.kind is Kind.MESSAGE for event in self.trace.events)

    @property
    def unread(self) -> int:
        """Number of records that no rule fits."""
        counts = self.trace.record_counts
        return 0 if counts is None or not self.trace.events else counts.records - counts.read

    @property
    def is_understood(self) -> bool:
        """Whether at least half of the records were read."""
        counts = self.trace.record_counts
        return bool(self.trace.events) and (counts is None or counts.is_understood)

    def count_skipped(self) -> list[tuple[str, int, str]]:
        """Return the reasons for skipped parts: the reason, how often, and the first pointer."""
        first = {part.why: part.pointer for part in reversed(self.trace.skipped)}
        reasons = Counter(part.why for part in self.trace.skipped).most_common()
        return [(why, count, first[why]) for why, count in reasons]

    def describe_counts(self) -> str:
        """Return the counts in one line."""
        kinds = Counter(event.kind for event in self.trace.events)
        counts = {
            "call": self.calls,
            "result": self.results,
            "message": self.messages,
            "reasoning": kinds[Kind.REASONING],
            "system": kinds[Kind.SYSTEM],
        }
        named = [
            f"{count:,} {name}{'s' if count != 1 and name in ('call', 'result', 'message') else ''}"
            for name, count in counts.items()
            if count
        ]
        return ", ".join(named) or "nothing"


def try_profile(reader: ProfileReader, source: Source) -> ProfileTrial:
    """Read a source by a profile, whether or not it would be detected."""
    return ProfileTrial(reader.read(source), reader.sniff(source))
