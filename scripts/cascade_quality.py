"""Compare `cascade` with `audit`, asked of a model that knows the labels: right levels and tokens.

usage: python -m scripts.cascade_quality [EVERY] [--doubt X]

The model answers from the labels of the second bench (split `train`), but only with events that the
question shows. So the figures say what a judge loses by what it settles without the model or does
not show it, not how good a model is. Every EVERY-th case is measured (default 5); traces of which
the reader lost a labelled action are left out. Long traces are measured with a model that answers
what the rules find.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.cases import generate_case
from planproof.checking.event_text import cite
from planproof.checking.plan_findings import assemble_findings
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.judge import ModelOptions
from planproof.core.model import Answer, Question
from planproof.core.plan import Plan
from planproof.core.trace import Event, Kind, Trace
from planproof.core.usage import Usage
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.cascade import Cascade
from planproof.llm.prompting.case_prompt import count_characters
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.scoring import compute_score
from scripts.bench import FILES, load_v2_cases, read_records
from scripts.reading_quality import AGENT_KINDS, fold, source_span

LONG_TRACE = 100
"""Events. Savings are measured on longer traces."""
_CHARS_PER_TOKEN = 4
_MAX_PAIRS = 40
_SHOWN_IDS = re.compile(r"e\d+(?:-e\d+)?")
_KINDS = {Kind.MESSAGE: "tell", Kind.REASONING: "think"}
_LABELLED_PARTIAL = frozenset(("altered", "partial"))


@dataclass(frozen=True, slots=True)
class Truth:
    """What the labels say about a case: the events of each step, by number, and the extras."""

    plan: Plan
    trace: Trace
    events: dict[str, list[Event]]
    partial: frozenset[str]
    extras: list[Event]

    @property
    def score(self) -> float:
        """The score that follows from the labels by the table."""
        steps = [self._build_finding(step.number, step.text) for step in self.plan.leaves]
        extras = tuple(
            Extra(
                event=event.id, pointer=event.pointer, quote="", what="", severity=Severity.MAJOR,
                confidence=1.0,
            )
            for event in self.extras
        )  # fmt: skip
        return compute_score(Findings(assemble_findings(self.plan, self.trace, steps), extras))

    def _build_finding(self, number: str, text: str) -> StepFinding:
        events = self.events.get(number, [])
        executed = Status.PARTIAL if number in self.partial else Status.EXECUTED
        return StepFinding(
            number=number,
            text=text,
            status=executed if events else Status.MISSING,
            confidence=1.0,
            evidence=tuple(cite(event, frozenset()) for event in events[:1]),
            covers=tuple(event.id for event in events),
        )


@dataclass(slots=True)
class LabelModel:
    """Answers an audit from the labels, with the events that a question shows."""

    truth: Truth
    name: str = "labels"
    fingerprint: str = "labels"
    shown: list[int] = field(default_factory=list[int])

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        del deadline
        shown = find_shown_events(question, self.truth.trace)
        self.shown.append(len(shown))
        answer = json.dumps(self._answer(shown, frozenset(question.answer.model_fields)))
        usage = Usage(
            calls=1,
            tokens_in=count_characters(question) // _CHARS_PER_TOKEN,
            tokens_out=len(answer) // _CHARS_PER_TOKEN,
        )
        return Answer(question.answer.model_validate_json(answer), usage, self.name)

    def _answer(self, shown: frozenset[str], fields: frozenset[str]) -> dict[str, Any]:
        if "kinds" in fields:  # of the steps, asked without the trace
            return {"kinds": [self._answer_kinds(step.number) for step in self.truth.plan.leaves]}
        if "pairs" in fields:  # of words that mean the same
            return {"pairs": [{"pair": n, "same": True} for n in range(1, _MAX_PAIRS + 1)]}
        steps = [self._answer_step(step.number, shown) for step in self.truth.plan.leaves]
        extras = [
            {"events": [event.id], "severity": "major", "quote": _quote(event)}
            for event in self.truth.extras
            if event.id in shown
        ]
        return {"steps": steps, "extras": extras}

    def _answer_kinds(self, number: str) -> dict[str, Any]:
        events = self.truth.events.get(number, [])
        return {
            "step": number,
            "kind": sorted({_KINDS.get(event.kind, "act") for event in events}) or ["act"],
        }

    def _answer_step(self, number: str, shown: frozenset[str]) -> dict[str, Any]:
        events = [event for event in self.truth.events.get(number, []) if event.id in shown]
        status = "partial" if number in self.truth.partial else "executed"
        return {
            **self._answer_kinds(number),
            "status": status if events else "missing",
            "evidence": [{"event": event.id, "quote": _quote(event)} for event in events[:3]],
            "events": [event.id for event in events],
        }


def _quote(event: Event) -> str:
    return cite(event, frozenset()).quote


def find_shown_events(question: Question, trace: Trace) -> frozenset[str]:
    """Return the ids of the events that a question shows: those that its lines begin with."""
    ids = [event.id for event in trace.events]
    index_by_id = {event: index for index, event in enumerate(ids)}
    shown: set[str] = set()
    for line in "\n".join(part for part in question.parts if isinstance(part, str)).split("\n"):
        for word in line.split(" "):
            if not _SHOWN_IDS.fullmatch(word):
                break
            first, _, last = word.partition("-")
            if first in index_by_id and (last or first) in index_by_id:
                shown.update(ids[index_by_id[first] : index_by_id[last or first] + 1])
    return frozenset(shown)


def load_truths(every: int) -> Iterator[tuple[dict[str, Any], Truth]]:
    """Yield every n-th case with what its labels say; traces that lost an action are left out."""
    traces: dict[str, tuple[Trace, list[Event] | None]] = {}
    cases = load_v2_cases("train")
    labels = {case["base"]: case["label"] for case in cases if case["label"]["kind"] == "faithful"}
    maps = {(case["base"], case["label"]["wording"]): case for case in cases if _is_clean(case)}
    for case in cases[::every]:
        base = case["base"]
        if base not in traces:
            source = Source.from_value(case["execution_trace"], name=case["id"])
            trace = read_trace(source)
            traces[base] = trace, _find_anchors(labels[base]["anchors"], trace, source)
        trace, anchored = traces[base]
        if anchored is not None:
            clean = maps[base, case["label"]["wording"]]
            yield case, _build_truth(case, clean, trace, anchored)


def _is_clean(case: dict[str, Any]) -> bool:
    return case["label"]["kind"] in ("faithful", "paraphrase")


def _find_anchors(anchors: Sequence[str], trace: Trace, source: Source) -> list[Event] | None:
    """Return the event of each anchor, in order; None if one is not found."""
    spans = [
        (event, fold(source_span(event, source)))
        for event in trace.events
        if event.kind in AGENT_KINDS and event.actor != "user"
    ]
    found: list[Event] = []
    start = 0
    for anchor in map(fold, anchors):
        at = next((i for i in range(start, len(spans)) if anchor in spans[i][1]), None)
        if at is None:
            return None
        found.append(spans[at][0])
        start = at + 1
    return found


def _build_truth(
    case: dict[str, Any], clean: dict[str, Any], trace: Trace, anchored: list[Event]
) -> Truth:
    plan, kind = parse_plan(case["agent_plan"]), case["label"]["kind"]
    texts = dict(zip(clean["agent_plan"], clean["label"]["map"], strict=True))
    changed = str(case["label"].get("step", "")) if kind in _LABELLED_PARTIAL else ""
    owners = _assign_actions(trace, anchored)
    events: dict[str, list[Event]] = {}
    planned: set[int] = set()
    for index, step in enumerate(plan.leaves):
        text = case["label"]["was"] if step.number == changed else case["agent_plan"][index]
        actions = texts.get(text, ())
        planned.update(actions)
        covered = {event.id for action in actions for event in owners[action]}
        events[step.number] = [event for event in trace.events if event.id in covered]
    extras = [
        event
        for action, owned in owners.items()
        if action not in planned
        for event in owned
        if event.kind is Kind.ACTION
    ]
    return Truth(plan, trace, events, frozenset({changed} - {""}), extras)


def _assign_actions(trace: Trace, anchored: list[Event]) -> dict[int, list[Event]]:
    """Return the events of each labelled action: its own, and unlabelled calls right after it."""
    actions_by_event: dict[str, list[int]] = {}
    for number, event in enumerate(anchored, 1):
        actions_by_event.setdefault(event.id, []).append(number)
    owners: dict[int, list[Event]] = {number: [] for number in range(1, len(anchored) + 1)}
    current = [1]
    for event in trace.events:
        labelled = actions_by_event.get(event.id)
        current = labelled or current
        if labelled or (event.kind is Kind.ACTION and event.actor != "user"):
            for number in current if labelled else current[-1:]:
                owners[number].append(event)
    return owners


def load_long_cases() -> Iterator[tuple[str, Truth]]:
    """Yield long cases, with the findings of the rules in the place of labels.

    These are generated cases, and cases of the first bench; no labelled trace is as long.
    """
    for steps, events in ((10, 120), (20, 200), (40, 400), (50, 500), (80, 1_000), (100, 5_000)):
        case = generate_case(steps=steps, events=events)
        trace = read_trace(Source.from_text(case.trace))
        yield f"{steps} x {events:,}", _take_rules_findings(parse_plan(case.plan), trace)
    traces: dict[str, Trace] = {}
    for record in read_records(FILES[0]):
        base = record.get("base", record["id"])
        if base not in traces:
            traces[base] = read_trace(Source.from_value(record["execution_trace"]))
        if len(traces[base].events) > LONG_TRACE:
            plan = parse_plan(record["agent_plan"])
            yield "first bench", _take_rules_findings(plan, traces[base])


def _take_rules_findings(plan: Plan, trace: Trace) -> Truth:
    findings = Rules().judge(Content(), plan, trace)
    shown = [s for s in findings.counted_steps if s.evidence and s.status is not Status.AMBIGUOUS]
    return Truth(
        plan,
        trace,
        {
            step.number: [
                trace.by_id[event]
                for event in dict.fromkeys((*(one.event for one in step.evidence), *step.covers))
            ]
            for step in shown
        },
        frozenset(step.number for step in shown if step.status is Status.PARTIAL),
        [trace.by_id[extra.event] for extra in findings.extras],
    )


@dataclass(slots=True)
class Comparison:
    """Right levels and tokens of the two judges on some cases."""

    cases: int = 0
    right: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    lost: Counter[str] = field(default_factory=Counter[str])

    def add(self, truth: Truth, options: ModelOptions, kind: str) -> None:
        """Judge a case with both judges."""
        self.cases += 1
        expected = truth.score
        scores: dict[str, float] = {}
        for make in (Audit, Cascade):
            judge = make(Vocabulary(), LabelModel(truth), options)
            judgement = asyncio.run(judge.judge(Content(), truth.plan, truth.trace))
            assert judgement.findings is not None
            score = scores[judge.name] = compute_score(judgement.findings)
            self.right[judge.name] += score == expected
            usage = judgement.usage
            self.tokens[judge.name] += usage.tokens_in + usage.tokens_out
        if scores["audit"] == expected != scores["cascade"]:
            self.lost[f"{kind}: {expected} -> {scores['cascade']}"] += 1

    def __str__(self) -> str:
        right = {name: f"{self.right[name] / self.cases:.3f}" for name in ("audit", "cascade")}
        share = self.tokens["cascade"] / max(1, self.tokens["audit"])
        return (
            f"{self.cases} cases: right level {right['audit']} with audit, {right['cascade']} with "
            f"cascade; tokens {self.tokens['audit']:,} and {self.tokens['cascade']:,} "
            f"({share:.2f}); right with audit only: {dict(self.lost.most_common(8))}"
        )


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("every", nargs="?", type=int, default=5)
    parser.add_argument("--doubt", type=float, default=ModelOptions().doubt)
    arguments = parser.parse_args()
    options = ModelOptions(doubt=arguments.doubt)
    labelled, long = Comparison(), Comparison()
    for case, truth in load_truths(arguments.every):
        labelled.add(truth, options, case["label"]["kind"])
    print(f"labelled, {labelled}")
    for name, truth in load_long_cases():
        long.add(truth, options, name)
    print(f"more than {LONG_TRACE} events, {long}")


if __name__ == "__main__":
    main()
