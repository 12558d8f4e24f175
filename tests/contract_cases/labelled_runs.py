"""Runs with labels: what a contract should find in them, by the rubric.

The label of a run names its score, each step that is not executed, and each extra. Hand-written
runs have labels written by hand. Mutations of the followed run are labelled by construction: what
was dropped is missing, what was swapped is out of order, what was added is an extra.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from planproof import Verdict
from planproof.contracts.contract_file import read_contract
from planproof.core.content import Json
from planproof.core.contract import Contract, StepContract, iter_requirements
from planproof.core.score_table import Tally, find_row
from tests.trace_builders import Event, did, said, trace

FOLDER = Path(__file__).parent / "contracts"
Turn = Event | tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """What is right: the score, the status of steps that are not executed, the extras."""

    score: float
    steps: dict[str, str] = field(default_factory=dict[str, str])
    extras: tuple[str, ...] = ()
    """Severity and action of each, for example "major shell: rm"."""

    def list_differences(self, verdict: Verdict) -> list[str]:
        """Return how a verdict differs from this label."""
        parents = {step.parent for step in verdict.steps}
        found = {
            step.number: step.status.value
            for step in verdict.steps
            if step.status.value != "executed" and step.number not in parents
        }
        extras = [f"{extra.severity.value} {extra.what}" for extra in verdict.extras]
        pairs = (
            ("score", self.score, verdict.score),
            ("steps", self.steps, found),
            ("extras", sorted(self.extras), sorted(extras)),
        )
        return [f"{name} {got}, not {wanted}" for name, wanted, got in pairs if got != wanted]


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run of a plan, and what the contract should find in it."""

    name: str
    label: Label
    trace: Json


@dataclass(frozen=True, slots=True)
class Change:
    """Other values for a call of the followed run, and the status that its step then has."""

    turn: int
    status: str
    arguments: dict[str, Json]


def change(turn: int, status: str, /, **arguments: Json) -> Change:
    """Change arguments of a turn of the followed run; turns count from 1."""
    return Change(turn, status, arguments)


def run(
    name: str,
    score: float,
    *events: Turn,
    steps: dict[str, str] | None = None,
    extras: Sequence[str] = (),
) -> LabelledRun:
    """Label a run in planproof's own format."""
    return LabelledRun(name, Label(score, steps or {}, tuple(extras)), trace(*events))


@dataclass(frozen=True, slots=True)
class ContractCase:
    """A contract with labelled runs.

    `followed` is a run that follows the plan: for each turn the step that it belongs to, or "" for
    a turn that belongs to none.
    """

    name: str
    followed: tuple[tuple[str, Event], ...]
    runs: tuple[LabelledRun, ...]
    changes: tuple[Change, ...] = ()
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])

    def read_contract(self) -> Contract:
        """Read the contract file."""
        return read_contract(FOLDER / f"{self.name}.yaml")

    def iter_runs(self) -> Iterator[LabelledRun]:
        """Yield the followed run, the runs written by hand, and the mutations."""
        mutator = _Mutator(self.read_contract(), self.followed)
        yield from mutator.iter_faithful()
        yield from map(mutator.add_unchecked, self.runs)
        yield from mutator.iter_mutations()
        yield from map(mutator.apply_change, self.changes)


class _Mutator:
    def __init__(self, contract: Contract, followed: tuple[tuple[str, Event], ...]) -> None:
        self._steps = {step.number: step for step in contract.leaves}
        self._first_tools = {name for order in contract.before for name in order.first.call}
        self._numbers = [number for number, _ in followed]
        self._events = [event for _, event in followed]
        self._uses = Counter(self._numbers)
        self._unchecked = {n: "ambiguous" for n, step in self._steps.items() if step.uncheckable}

    def iter_faithful(self) -> Iterator[LabelledRun]:
        """Yield the followed run, also in the formats of two providers."""
        label = self._label({})
        yield LabelledRun("followed", label, trace(*self._events))
        if not any("parent" in event or _is_named_agent(event) for event in self._events):
            yield LabelledRun("OpenAI messages", label, to_openai_messages(self._events))
            yield LabelledRun("Anthropic messages", label, to_anthropic_messages(self._events))

    def iter_mutations(self) -> Iterator[LabelledRun]:
        """Yield the followed run with one thing changed."""
        for at, (number, event) in enumerate(zip(self._numbers, self._events, strict=True)):
            if number and self._is_droppable(number, event):
                label = self._label(self._list_lost(number))
                rest = [*self._events[:at], *self._events[at + 1 :]]
                yield LabelledRun(f"drop {at + 1}", label, trace(*rest))
                if event["kind"] == "action":
                    claimed = [*self._events[:at], _claim(event), *self._events[at + 1 :]]
                    yield LabelledRun(f"claim {at + 1}", label, trace(*claimed))
            if number and self._is_repeatable(number, event):
                twice = [*self._events[: at + 1], event, *self._events[at + 1 :]]
                extras = (f"minor {event['name']}",)
                yield LabelledRun(f"repeat {at + 1}", self._label({}, extras), trace(*twice))
        for at in range(len(self._events) - 1):
            if self._is_swappable(at):
                swapped = [*self._events]
                swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
                label = self._label({self._numbers[at + 1]: "out_of_order"})
                yield LabelledRun(f"swap {at + 1}", label, trace(*swapped))
        for at in (0, len(self._events)):
            added = [*self._events[:at], did("order_pizza", size="large"), *self._events[at:]]
            label = self._label({}, ("major order_pizza",))
            yield LabelledRun(f"insert at {at}", label, trace(*added))

    def add_unchecked(self, labelled: LabelledRun) -> LabelledRun:
        """Return a run written by hand, with the steps that no run can show in its label."""
        label = replace(labelled.label, steps=self._unchecked | labelled.label.steps)
        return replace(labelled, label=label)

    def apply_change(self, change: Change) -> LabelledRun:
        """Return the followed run with other arguments of one call."""
        event = self._events[change.turn - 1]
        changed = {**event, "arguments": {**event["arguments"], **change.arguments}}
        events = [*self._events]
        events[change.turn - 1] = changed
        extras = (f"major {event['name']}",) if change.status == "missing" else ()
        label = self._label({self._numbers[change.turn - 1]: change.status}, extras)
        return LabelledRun(f"change {change.turn} {change.arguments}", label, trace(*events))

    def _label(self, steps: dict[str, str], extras: tuple[str, ...] = ()) -> Label:
        """Return the label with the score that the published table gives for these findings."""
        counted = [
            step
            for step in self._steps.values()
            if step.counted and (step.optional is None or step.number not in steps)
        ]
        statuses = Counter(
            "ambiguous" if step.uncheckable else steps.get(step.number, "executed")
            for step in counted
        )
        tally = Tally(
            n=len(counted),
            E=statuses["executed"],
            P=statuses["partial"],
            L=statuses["missing"] + statuses["ambiguous"],
            O=statuses["out_of_order"],
            M=sum(extra.startswith("major") for extra in extras),
            m=sum(extra.startswith("minor") for extra in extras),
        )
        return Label(find_row(tally).score, self._unchecked | steps, extras)

    def _list_lost(self, number: str) -> dict[str, str]:
        """Return the steps that are not executed if one turn of a step is dropped.

        A value from the result of a step that was not done is unknown.
        """
        if self._uses[number] > 1:
            return {number: "partial"}
        dependent = {
            other.number: "ambiguous"
            for other in self._steps.values()
            if number in _list_value_sources(other)
        }
        return {number: "missing", **dependent}

    def _is_droppable(self, number: str, event: Event) -> bool:
        """Return whether the label of a run without this turn follows from the contract."""
        steps = self._steps.values()
        decides = any(
            (step.when is not None and step.when.step == number)
            or any(requirement.each_from == number for requirement in iter_requirements(step))
            for step in steps
        )
        shares = self._uses[number] > 1 and any(number in _list_value_sources(s) for s in steps)
        return not (decides or shares or event.get("name") in self._first_tools)

    def _is_repeatable(self, number: str, event: Event) -> bool:
        requirements = iter_requirements(self._steps[number])
        is_open = any(requirement.times.max is None for requirement in requirements)
        is_script = any("\n" in str(value) for value in event.get("arguments", {}).values())
        is_shell = event.get("name") in {"shell", "bash", "python"}
        return event["kind"] == "action" and not (is_open or is_script or is_shell)

    def _is_swappable(self, at: int) -> bool:
        """Return whether two turns are of different steps that do not depend on each other."""
        one, other = self._numbers[at], self._numbers[at + 1]
        if not (one and other) or one == other or self._uses[one] > 1 or self._uses[other] > 1:
            return False
        earlier, later = self._steps[one], self._steps[other]
        is_bound = one in _list_value_sources(later) or any(
            requirement.each_from == one for requirement in iter_requirements(later)
        )
        has_condition = (later.when or earlier.when or later.else_of or earlier.else_of) is not None
        is_free = earlier.free_order or later.free_order
        is_waived = not (earlier.counted and later.counted) or later.optional is not None
        is_first = self._events[at].get("name") in self._first_tools
        return not (is_bound or has_condition or is_free or is_waived or is_first)


def _list_value_sources(step: StepContract) -> set[str]:
    """Return the steps from whose results a step takes values."""
    return {
        condition.from_step
        for requirement in iter_requirements(step)
        for condition in (*requirement.is_.values(), *requirement.where.values())
        if condition.from_step is not None
    }


def _is_named_agent(event: Event) -> bool:
    return event.get("actor") not in (None, "assistant", "user")


def _claim(event: Event) -> Event:
    """Say that a call was made."""
    return said(f"I called {event['name']} with {json.dumps(event['arguments'])} just now.")


def to_openai_messages(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Write events as OpenAI chat messages."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please do it."}]
    for number, event in enumerate(events):
        if "name" not in event:
            role = "user" if event["actor"] == "user" else "assistant"
            messages.append({"role": role, "content": event["text"]})
            continue
        function = {"name": event["name"], "arguments": json.dumps(event["arguments"])}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result = {"tool_call_id": f"call_{number}", "content": event.get("output", "ok")}
        messages.append({"role": "tool", **result})
    return messages


def to_anthropic_messages(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Write events as Anthropic messages."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please do it."}]
    for number, event in enumerate(events):
        if "name" not in event:
            role = "user" if event["actor"] == "user" else "assistant"
            messages.append({"role": role, "content": [{"type": "text", "text": event["text"]}]})
            continue
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": event["name"]}
        messages.append({"role": "assistant", "content": [{**use, "input": event["arguments"]}]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}"}
        messages.append(
            {"role": "user", "content": [{**result, "content": event.get("output", "ok")}]}
        )
    return messages
