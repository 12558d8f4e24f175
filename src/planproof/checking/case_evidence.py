"""Say what the events of a case can prove, however they are assigned to steps.

`audit` takes the assignment of events to steps from a model. It needs no similarity and no
alignment: only which text is the agent's own and not a copy of the plan, what a call does, what it
has in common with a step, and which actions are left over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property

from msgspec import structs

from planproof.checking.candidates import build_candidates, remove_restatements
from planproof.checking.effects import Effect, analyze_effect
from planproof.checking.event_text import (
    Leaves,
    find_known_commands,
    flatten_arguments,
    format_call,
)
from planproof.checking.extras import find_extra_actions
from planproof.contracts.terms import collect_terms, extract_terms, load_command_terms, split_tokens
from planproof.contracts.values import fold
from planproof.core.finding import Extra
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary

_MAX_TERM_CHARS = 20_000
_CALLS = frozenset({Kind.ACTION, Kind.BOOKKEEPING})
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_AGENT_NAMES = frozenset({"assistant", "agent"})


class CaseEvidence:
    """The events of one case as evidence for steps of its plan.

    `remaining` is the trace without restatements of the plan: words of the plan that were planted
    in a text or a result show nothing.
    """

    def __init__(self, plan: Plan, trace: Trace, vocabulary: Vocabulary) -> None:
        self.plan = plan
        self.trace = trace
        self.remaining = remove_restatements(trace, plan)
        self.records_calls = any(event.kind in _CALLS for event in trace.events)
        self._vocabulary = vocabulary
        self._leaves: dict[str, Leaves] = {}
        self._calls: dict[str, str] = {}
        self._effects: dict[str, Effect | None] = {}
        self._step_terms: dict[str, frozenset[str]] = {}
        self._call_terms: dict[str, frozenset[str]] = {}
        self._event_terms: dict[str, frozenset[str]] = {}
        self._steps_by_number = {step.number: step for step in plan.steps}

    def is_agent_event(self, event: str) -> bool:
        """Return whether an event is the agent's, or a result of its actions."""
        found = self.trace.by_id.get(event)
        return found is not None and found.kind is not Kind.SYSTEM and found.actor != "user"

    def is_bare_result(self, event: str) -> bool:
        """Return whether an event is a result without its call, in a trace that records calls."""
        return self.records_calls and self.trace.by_id[event].kind is Kind.OBSERVATION

    def find_remaining(self, event: str) -> Event | None:
        """Return an event of the agent without restated text; None if nothing of it can count.

        A result that the agent wrote itself shows nothing, and neither does a result without its
        call where calls are recorded.
        """
        found = self.remaining.by_id.get(event)
        if found is None or not self.is_agent_event(event):
            return None
        is_result = found.kind is Kind.OBSERVATION
        return None if is_result and self._proves_nothing(found) else found

    def can_cover(self, event: str) -> bool:
        """Return whether a step can cover an event: the agent's, and not only a restated plan."""
        return self.find_remaining(event) is not None or (
            self.is_agent_event(event) and self.trace.by_id[event].kind is Kind.ACTION
        )

    def is_message_tool(self, event: str) -> bool:
        """Return whether an event is a call that says something to somebody, or ends the run."""
        return self._vocabulary.is_message_tool(self.trace.by_id[event].name)

    def is_closing(self, event: str) -> bool:
        """Return whether an event is a call that only ends the run."""
        return self._vocabulary.is_closing(self.trace.by_id[event].name)

    def find_effect(self, event: Event) -> Effect | None:
        """Return the effective part of an action, or None if all of it can have an effect."""
        if event.kind is not Kind.ACTION:
            return None
        if event.id not in self._effects:
            self._effects[event.id] = analyze_effect(event, self._list_leaves(event))
        return self._effects[event.id]

    def _list_leaves(self, event: Event) -> Leaves:
        known = self._leaves.get(event.id)
        if known is None:
            known = self._leaves[event.id] = flatten_arguments(event.arguments)
        return known

    def format_call(self, event: Event) -> str:
        """Format an event of `remaining` with its arguments as one text."""
        known = self._calls.get(event.id)
        if known is None:
            known = self._calls[event.id] = format_call(event, self._list_leaves(event))
        return known

    def shares_terms(self, step: Step, event: str) -> bool:
        """Return whether a call has a word in common with a step, also by what commands do."""
        found = self.remaining.by_id.get(event)
        if found is None:
            return False
        planned = self.collect_step_terms(step)
        # Most tools have a name that says what they do.
        return not planned.isdisjoint(extract_terms(found.name or "")) or not planned.isdisjoint(
            self._collect_call_terms(found)
        )

    def collect_step_terms(self, step: Step) -> frozenset[str]:
        """Return the terms of a step, its headings, and the tools that its words mean."""
        known = self._step_terms.get(step.number)
        if known is None:
            texts = [step.text]
            above = self._steps_by_number.get(step.parent or "")
            while above is not None:
                texts.append(above.text)
                above = self._steps_by_number.get(above.parent or "")
            lowered = step.text.lower()
            texts += [
                tool for word, tool in self._vocabulary.aliases.items() if word.lower() in lowered
            ]
            known = self._step_terms[step.number] = extract_terms("\n".join(texts))
        return known

    def collect_event_terms(self, event: Event) -> frozenset[str]:
        """Return the terms of an event with its result."""
        known = self._event_terms.get(event.id)
        if known is None:
            text = f"{event.name or ''}\n{self.format_call(event)[:_MAX_TERM_CHARS]}"
            known = extract_terms(f"{text}\n{event.output[:_MAX_TERM_CHARS]}")
            self._event_terms[event.id] = known
        return known

    def _collect_call_terms(self, event: Event) -> frozenset[str]:
        known = self._call_terms.get(event.id)
        if known is None:
            effect = self.find_effect(event)
            if effect is None:
                effective, leaves, text = event, self._list_leaves(event), self.format_call(event)
            else:
                effective, leaves = structs.replace(event, text=effect.text), effect.leaves
                text = format_call(effective, leaves)
            commands = find_known_commands(effective, leaves) if event.kind in _CALLS else ()
            text = f"{event.name or ''} {text[:_MAX_TERM_CHARS]}"
            known = self._call_terms[event.id] = collect_terms(split_tokens(text)).union(
                *map(load_command_terms().__getitem__, commands)
            )
        return known

    def find_extra_actions(self, covered: Collection[str], confidence: float) -> tuple[Extra, ...]:
        """Return the actions that are not among the `covered` events, with their severity."""
        actions = tuple(
            event
            for event in self.remaining.events
            if event.kind is Kind.ACTION and event.actor != "user"
        )
        uncovered = {event.id for event in actions}.difference(covered)
        if not uncovered:
            return ()
        steps = [fold(step.text) for step in self.plan.leaves]
        candidates = build_candidates(
            replace(self.remaining, events=actions), self._vocabulary, steps
        )
        return find_extra_actions(candidates, self.trace, covered, confidence)

    def _proves_nothing(self, result: Event) -> bool:
        return self.records_calls or result.actor in self._speakers

    @cached_property
    def _speakers(self) -> frozenset[str]:
        """The names of everybody who speaks: a result under such a name is text of the agent."""
        spoken = {event.actor for event in self.trace.events if event.kind in _TEXT_KINDS}
        return _AGENT_NAMES.union(filter(None, spoken))
