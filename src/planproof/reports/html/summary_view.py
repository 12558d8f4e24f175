"""What a run comes to, ready for the template `boards.html.jinja`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from planproof.core.finding import Severity, Status
from planproof.reports.wording import (
    LEVELS,
    MARKS,
    STATUSES,
    Show,
    cost_line,
    many,
    score_digits,
)
from planproof.runs.run_records import Run
from planproof.runs.step_counts import StepCount
from planproof.runs.summary import Summary

_MOST_STEPS = 6
_EXTRA = "+"
UNSCORED = "none"
"""The key of what has no score, beside those of the levels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """How many cases have a score; `key` names the level, and `part` is of the longest bar."""

    key: str
    digits: str
    name: str
    count: int
    part: float


@dataclass(frozen=True, slots=True)
class Counted:
    """How many steps ended in a status, or extras of a severity there are."""

    status: str
    mark: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a bar: where it begins and how wide it is, of 100; what it stands for."""

    key: str
    count: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Broken:
    """A step that was not executed as planned, in how many cases and how; `key` is short for it."""

    key: str
    text: str
    total: int
    counts: tuple[Counted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boards:
    """The scores, the steps by status, and what broke most."""

    bars: tuple[Bar, ...]
    causes: tuple[tuple[str, int], ...]
    steps: int
    whole: tuple[Stretch, ...]
    counts: tuple[Counted, ...]
    broke: tuple[Broken, ...]


def boards(summary: Summary, show: Show) -> Boards:
    """What a summary shows at a glance."""
    return Boards(
        bars=bars(summary.levels, sum(summary.unscored.values())),
        causes=tuple((show(cause), count) for cause, count in summary.unscored.items()),
        steps=sum(summary.statuses.values()),
        whole=stretches(summary.statuses),
        counts=(*counted(summary.statuses), *_extras(summary.extras)),
        broke=broken(summary.missed[:_MOST_STEPS], show),
    )


def bars(levels: Mapping[float, int], unscored: int) -> tuple[Bar, ...]:
    """A bar a level, and one for what has no score if there is any."""
    most = max(1, unscored, *levels.values())
    made = [
        Bar(f"{level:g}", score_digits(level), LEVELS[level], count, 100 * count / most)
        for level, count in levels.items()
    ]
    if unscored:
        made.append(Bar(UNSCORED, "–", "not judged", unscored, 100 * unscored / most))
    return tuple(made)


def stretches(counts: Mapping[str, int]) -> tuple[Stretch, ...]:
    """One bar of all that is counted, divided."""
    total = max(1, sum(counts.values()))
    start, made = 0.0, list[Stretch]()
    for key, count in counts.items():
        width = 100 * count / total
        if count:
            made.append(Stretch(key, count, round(start, 3), round(width, 3)))
        start += width
    return tuple(made)


def counted(statuses: Mapping[str, int]) -> tuple[Counted, ...]:
    """How many steps ended in each status that any of them did."""
    return tuple(
        Counted(status.value, MARKS[status], STATUSES[status], statuses[status])
        for status in Status
        if statuses.get(status)
    )


def broken(steps: tuple[StepCount, ...], show: Show) -> tuple[Broken, ...]:
    """Steps with how often they lapsed, of how many, and in which way."""
    return tuple(
        Broken(step_key(step.text), show(step.text), step.total, counted(_lapses(step)))
        for step in steps
    )


def step_key(text: str) -> str:
    """A name for a step that tells nothing of it."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def facts(run: Run, summary: Summary) -> Iterator[str]:
    """What is to be known of the run before its cases."""
    if summary.mean is not None:
        yield f"mean {summary.mean:.3f}"
        cases = many(summary.cases, "case")
        yield f"{summary.passed:,} of {cases} at {summary.min_score:g} or above"
    else:
        yield f"{many(summary.cases, 'case')}, none with a score"
    yield f"{run.source}, judged by {run.judge.name}"
    yield f"{run.created:%Y-%m-%d %H:%M} UTC, {run.state.value}"
    yield from (f"{name}={value}" for name, value in sorted(run.tags.items()))
    if summary.cost is not None:
        yield cost_line(summary.cost)


def _lapses(step: StepCount) -> dict[str, int]:
    return {
        status.value: getattr(step, status.value)
        for status in Status
        if status is not Status.EXECUTED
    }


def _extras(severities: Mapping[str, int]) -> Iterator[Counted]:
    for severity in Severity:
        if count := severities[severity]:
            label = f"{severity.value} extra{'' if count == 1 else 's'}"
            yield Counted(severity.value, _EXTRA, label, count)
