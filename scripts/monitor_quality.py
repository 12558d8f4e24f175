"""Print the figures of the monitor on the labelled cases, observed event by event.

usage: python -m scripts.monitor_quality

Soundness: the ceiling never rises, is never below the final score, and every proven deviation is in
the verdict. `finish()` must equal `evaluate()`. The other figures show how early deviations are
reported, and how many suspicions the verdict confirms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from planproof.core.finding import Severity, Status
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import Verdict
from planproof.evaluation import evaluate
from planproof.monitor import Certainty, Deviation, DeviationKind, Monitor
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts.bench import FILES, read_records

_ALL_FILES = (*FILES, "huge-dev.jsonl")
_PASSING_SCORE = 0.75


class MonitoredCase(NamedTuple):
    """A monitored case: deviations by event, and the verdict."""

    deviations: list[tuple[int, Deviation]]
    events: int
    verdict: Verdict
    ceilings: list[float]
    is_same_verdict: bool
    """Whether the verdict of the monitor equals that of `evaluate`."""

    @property
    def is_sound(self) -> bool:
        """Return whether the verdict contradicts nothing that was reported."""
        falling = self.ceilings == sorted(self.ceilings, reverse=True)
        if self.verdict.score is None:
            return falling
        reached = self.ceilings[-1] >= self.verdict.score
        proven = (d for _, d in self.deviations if d.certainty is Certainty.PROVEN)
        return falling and reached and all(map(self.is_confirmed, proven))

    def is_confirmed(self, deviation: Deviation) -> bool:
        """Return whether the verdict has this extra, or any deviation of this step."""
        if deviation.kind is DeviationKind.EXTRA:
            return any(extra.event == deviation.event for extra in self.verdict.extras)
        deviating = (
            s for s in self.verdict.findings.counted_steps if s.status is not Status.EXECUTED
        )
        return any(step.number == deviation.step for step in deviating)


def measure_monitor() -> dict[str, str]:
    """Return the figures as text, by name."""
    cases = [monitor_case(plan, trace) for plan, trace in _read_cases()]
    flawed = [case for case in cases if (case.verdict.score or 0) < _PASSING_SCORE]
    passed = [case for case in cases if (case.verdict.score or 0) >= _PASSING_SCORE]
    reported = Counter[str]()
    right = Counter[str]()
    for case in cases:
        for _, deviation in case.deviations:
            finding_kind = "extra" if deviation.kind is DeviationKind.EXTRA else "step deviation"
            reported[f"{deviation.certainty} {finding_kind}"] += 1
            right[f"{deviation.certainty} {finding_kind}"] += case.is_confirmed(deviation)
    early = [
        (at + 1) / case.events for case in flawed if (at := _find_first_alarm(case)) is not None
    ]
    alarmed = [case for case in flawed if (at := _find_first_alarm(case)) is not None]
    before_end = [case for case in alarmed if (_find_first_alarm(case) or 0) < case.events - 1]
    proven = [case for case in flawed if case.ceilings[-1] < 1]
    return {
        "cuts": f"{sum(case.events for case in cases)} of {len(cases)} cases",
        "cases in which the verdict confirmed everything proven": _format_share(
            sum(c.is_sound for c in cases), cases
        ),
        "finish() equals evaluate()": _format_share(
            sum(case.is_same_verdict for case in cases), cases
        ),
        "runs below 0.75 where this was proven before the end": _format_share(len(proven), flawed),
        "runs below 0.75 with a suspected major deviation": _format_share(len(alarmed), flawed),
        "- before their last event": _format_share(len(before_end), flawed),
        "- share of the run up to the first one": f"{median(early):.2f} (median)",
        "runs at 0.75 or above with a suspected major deviation": _format_share(
            sum(_find_first_alarm(case) is not None for case in passed), passed
        ),
        **{
            f"{name}s confirmed by the verdict": f"{right[name]} of {reported[name]}"
            for name in sorted(reported)
        },
    }


def monitor_case(plan: Plan, trace: Trace) -> MonitoredCase:
    """Monitor a whole run."""
    monitor = Monitor(plan)
    deviations: list[tuple[int, Deviation]] = []
    ceilings = [monitor.ceiling]
    for index, event in enumerate(trace.events):
        deviations += [(index, deviation) for deviation in monitor.observe(event)]
        ceilings.append(monitor.ceiling)
    verdict = evaluate(plan=plan, trace=trace)
    return MonitoredCase(
        deviations, len(trace.events), verdict, ceilings, monitor.finish() == verdict
    )


def print_figures(figures_by_name: dict[str, str]) -> None:
    """Print the figures, one per line."""
    print("monitor, each case event by event")
    for name, value in figures_by_name.items():
        print(f"  {name:45}{value}")


def _read_cases() -> Iterator[tuple[Plan, Trace]]:
    trace_by_key: dict[str, Trace] = {}
    for name in _ALL_FILES:
        for line in read_records(name):
            key = f"{name} {line.get('base', line['id'])}"
            if key not in trace_by_key:
                source = Source.from_value(line["execution_trace"], name=line["id"])
                trace_by_key[key] = read_trace(source)
            plan = parse_plan(line["agent_plan"])
            if plan.steps and trace_by_key[key].events:
                yield plan, trace_by_key[key]


def _find_first_alarm(case: MonitoredCase) -> int | None:
    major = (at for at, deviation in case.deviations if deviation.severity is Severity.MAJOR)
    return next(major, None)


def _format_share(count: int, cases: list[MonitoredCase]) -> str:
    return f"{count} of {len(cases)} ({count / len(cases):.3f})" if cases else "none"


if __name__ == "__main__":
    print_figures(measure_monitor())
