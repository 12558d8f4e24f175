"""Print what a monitor says of the labelled cases, cut at every event.

usage: python -m scripts.monitoring

Sound: the ceiling never rises, is never below the score in the end, and every proven deviation is
in the verdict. The last word: `finish()` equals `evaluate()`. The rest is how early deviations
are told, and how many of the suspicions the verdict bears out.
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
from planproof.monitor import Certainty, Deviation, Monitor, Sort
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts.bench import FILES, lines

_ALL = (*FILES, "huge-dev.jsonl")
_PASSED = 0.75


class Watched(NamedTuple):
    """One case, watched to its end: what was told at which event, and the verdict."""

    told: list[tuple[int, Deviation]]
    events: int
    verdict: Verdict
    ceilings: list[float]
    same: bool
    """Whether the monitor's verdict is that of `evaluate`."""

    @property
    def sound(self) -> bool:
        """Whether nothing was said that the end belies."""
        falling = self.ceilings == sorted(self.ceilings, reverse=True)
        if self.verdict.score is None:
            return falling
        reached = self.ceilings[-1] >= self.verdict.score
        proven = (d for _, d in self.told if d.certainty is Certainty.PROVEN)
        return falling and reached and all(map(self.borne_out, proven))

    def borne_out(self, deviation: Deviation) -> bool:
        """Whether the verdict says so too; of a step, that it has a lapse, be it another."""
        if deviation.sort is Sort.EXTRA:
            return any(extra.event == deviation.event for extra in self.verdict.extras)
        lapsed = (s for s in self.verdict.findings.counted if s.status is not Status.EXECUTED)
        return any(step.number == deviation.step for step in lapsed)


def figures() -> dict[str, str]:
    """Every figure in words."""
    cases = [watched(plan, trace) for plan, trace in _cases()]
    flawed = [case for case in cases if (case.verdict.score or 0) < _PASSED]
    passed = [case for case in cases if (case.verdict.score or 0) >= _PASSED]
    told = Counter[str]()
    right = Counter[str]()
    for case in cases:
        for _, deviation in case.told:
            sort = "extra" if deviation.sort is Sort.EXTRA else "step"
            told[f"{deviation.certainty} {sort}"] += 1
            right[f"{deviation.certainty} {sort}"] += case.borne_out(deviation)
    early = [(at + 1) / case.events for case in flawed if (at := _first_alarm(case)) is not None]
    found = [case for case in flawed if (at := _first_alarm(case)) is not None]
    before_end = [case for case in found if (_first_alarm(case) or 0) < case.events - 1]
    proven = [case for case in flawed if case.ceilings[-1] < 1]
    return {
        "cuts": f"{sum(case.events for case in cases)} of {len(cases)} cases",
        "cases in which all that was proven held": _of(sum(c.sound for c in cases), cases),
        "finish() equals evaluate()": _of(sum(case.same for case in cases), cases),
        "runs below 0.75 proven so before the end": _of(len(proven), flawed),
        "runs below 0.75 with a major suspicion": _of(len(found), flawed),
        "- before their last event": _of(len(before_end), flawed),
        "- the first after this share of the run": f"{median(early):.2f} (median)",
        "runs of 0.75 or more with a major suspicion": _of(
            sum(_first_alarm(case) is not None for case in passed), passed
        ),
        **{f"{name}, borne out": f"{right[name]} of {told[name]}" for name in sorted(told)},
    }


def watched(plan: Plan, trace: Trace) -> Watched:
    """Watch a run to its end."""
    monitor = Monitor(plan)
    told: list[tuple[int, Deviation]] = []
    ceilings = [monitor.ceiling]
    for place, event in enumerate(trace.events):
        told += [(place, deviation) for deviation in monitor.observe(event)]
        ceilings.append(monitor.ceiling)
    verdict = evaluate(plan=plan, trace=trace)
    return Watched(told, len(trace.events), verdict, ceilings, monitor.finish() == verdict)


def show(found: dict[str, str]) -> None:
    """Print the figures, one a line."""
    print("monitor, each case cut at every event")
    for name, value in found.items():
        print(f"  {name:45}{value}")


def _cases() -> Iterator[tuple[Plan, Trace]]:
    read: dict[str, Trace] = {}
    for name in _ALL:
        for line in lines(name):
            key = f"{name} {line.get('base', line['id'])}"
            if key not in read:
                source = Source.of_value(line["execution_trace"], name=line["id"])
                read[key] = read_trace(source)
            plan = parse_plan(line["agent_plan"])
            if plan.steps and read[key].events:
                yield plan, read[key]


def _first_alarm(case: Watched) -> int | None:
    major = (at for at, deviation in case.told if deviation.severity is Severity.MAJOR)
    return next(major, None)


def _of(count: int, cases: list[Watched]) -> str:
    return f"{count} of {len(cases)} ({count / len(cases):.3f})" if cases else "none"


if __name__ == "__main__":
    show(figures())
