"""Profiles on the terminal, 80 columns wide: what one reads of a trace, and lists of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from planproof.core.json_values import format_value
from planproof.core.trace import Event
from planproof.readers.decoding.source import Source
from planproof.readers.profile import Profile
from planproof.readers.profile_reader import ProfileReader
from planproof.readers.profile_trial import ProfileTrial
from planproof.reports.terminal.lines import WIDTH, truncate
from planproof.reports.wording import TextSanitizer, pluralize

_MAX_EVENTS = 12
_MAX_REASONS = 8


def find_failures(trial: ProfileTrial, expected: Mapping[str, int | None]) -> list[str]:
    """Return what is wrong with what a profile read: other counts, records left, not recognised."""
    read = {"calls": trial.calls, "results": trial.results, "messages": trial.messages}
    failures = [
        f"{name}: {read[name]:,} read, {count:,} expected"
        for name, count in expected.items()
        if count is not None and count != read[name]
    ]
    if not trial.trace.events:
        failures.append("nothing was read")
    elif not trial.is_understood:
        failures.append("less than half of the records were read")
    if not trial.is_detected:
        failures.append("`detect` does not recognise the trace")
    return failures


def format_trial(
    reader: ProfileReader,
    source: Source,
    trial: ProfileTrial,
    failures: Sequence[str],
    show: TextSanitizer,
) -> Iterator[str]:
    """Yield the counts, the failures, the parts that were skipped, and the first events."""
    yield from wrap(show(f"{source.name} by the profile {reader.name}"), WIDTH)
    yield f"  read      {trial.describe_counts()}"
    yield f"  unread    {pluralize(trial.unread, 'record')}"
    for failure in failures:
        yield from wrap(f"✗ {failure}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    if reasons := trial.count_skipped():
        yield f"skipped {pluralize(sum(count for _, count, _ in reasons), 'part')}"
        for why, count, pointer in reasons[:_MAX_REASONS]:
            where = f", first at {pointer}" if pointer else ""
            yield truncate(f"  {count:>4,}  {show(f'{why}{where}')}", WIDTH)
    events = trial.trace.events
    if events:
        yield f"first events of {len(events):,}" if len(events) > _MAX_EVENTS else "events"
    for event in events[:_MAX_EVENTS]:
        yield from _format_event(event, show)


def _format_event(event: Event, show: TextSanitizer) -> Iterator[str]:
    name = f"{event.name} " if event.name else ""
    text = event.text or format_value(event.arguments)
    actor = event.actor or ""
    yield truncate(
        f"  {event.id:<4} {event.pointer:<10} {event.kind.value:<9} {show(actor)}: "
        f"{show(f'{name}{text}')}",
        WIDTH,
    )
    if event.output_pointer is not None:
        yield truncate(f"       {event.output_pointer:<10} result    {show(event.output)}", WIDTH)


def format_profiles(built_in: Iterable[Profile], own: Sequence[Profile]) -> Iterator[str]:
    """Yield the name and title of each profile; those of the user first, as they are asked."""
    rows = [*((profile, "yours: ") for profile in own), *((profile, "") for profile in built_in)]
    widest = max((len(profile.name) for profile, _ in rows), default=0)
    for profile, note in rows:
        lines = wrap(f"{note}{profile.title}", WIDTH - widest - 2) or [""]
        yield f"{profile.name:<{widest}}  {lines[0]}".rstrip()
        for line in lines[1:]:
            yield f"{'':<{widest}}  {line}"
