"""Grade the similarity of events to steps: what the built-in compiler's requirements ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.checking.alignment import Alignment, align
from planproof.checking.candidates import Candidate, build_candidates, remove_restatements
from planproof.checking.extras import find_extras
from planproof.checking.plan_findings import assemble_ordered
from planproof.checking.requirements import Requirement, compile_steps
from planproof.checking.similarity import compute_similarity, load_shipped_weights
from planproof.checking.step_status import judge_step
from planproof.checking.withdrawal import DeviationRater
from planproof.contracts.terms import split_identifier
from planproof.core.finding import Findings, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary

_ACTS = frozenset({Kind.ACTION, Kind.BOOKKEEPING})
_ROLES = frozenset({"assistant", "agent", "tool"})
"""What formats call any agent: a step that says "the assistant" names none of several."""
_BEFORE_NAME = frozenset({"the", "let", "have", "ask"})
_TRANSACTIONS = frozenset({"transact", "remove"})
"""Action types that a message alone never performs."""


def judge_by_similarity(
    plan: Plan, trace: Trace, vocabulary: Vocabulary, *, in_progress: bool = False
) -> Findings:
    """Judge a trace by the events that are most similar to each step."""
    analysis = analyze(plan, trace, vocabulary, in_progress=in_progress)
    candidates, alignment = analysis.candidates, analysis.alignment
    rater = DeviationRater(analysis)
    leaves = rater.rate_steps(analysis.step_findings)
    steps = assemble_ordered(plan, trace, rater.rate_order(trace, leaves))
    extras = rater.rate_extras(find_extras(candidates, alignment, trace, steps))
    if doubtful := rater.select_doubtful_extras(extras):
        leaves = rater.cover(leaves, doubtful)
        steps = assemble_ordered(plan, trace, rater.rate_order(trace, leaves))
        extras = rater.rate_extras(find_extras(candidates, alignment, trace, steps))
    return Findings(steps, extras)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A case as the rules see it; `requirements` are those of the plan's leaves, in plan order.

    `trace` has no restatements of the plan.
    """

    candidates: Sequence[Candidate]
    requirements: Sequence[Requirement]
    alignment: Alignment
    actors: frozenset[str]
    trace: Trace

    @property
    def step_findings(self) -> list[StepFinding]:
        """The findings of the leaves, apart from their order relative to each other."""
        return [*map(self.judge_step, range(len(self.requirements)))]

    def judge_step(self, step: int) -> StepFinding:
        """Return the finding of a leaf, by its index, apart from its order."""
        requirement = self.requirements[step]
        return judge_step(step, requirement, self.alignment, self.candidates, self.actors)


def analyze(
    plan: Plan, trace: Trace, vocabulary: Vocabulary, *, in_progress: bool = False
) -> Analysis:
    """Analyze a case with its best alignment; the run may still be `in_progress`."""
    remaining = remove_restatements(trace, plan)
    requirements = _accept_speech(compile_steps(plan, vocabulary), remaining)
    steps = [requirement.folded_text for requirement in requirements]
    candidates = build_candidates(remaining, vocabulary, steps)
    alignment = align(
        candidates,
        requirements,
        compute_similarity(candidates, requirements, load_shipped_weights()),
        in_progress=in_progress,
    )
    actors = _collect_actors(candidates, requirements)
    return Analysis(candidates, requirements, alignment, actors, remaining)


def _accept_speech(requirements: Sequence[Requirement], trace: Trace) -> Sequence[Requirement]:
    """Let messages execute the steps that an agent without tools is to do: it acts by speaking."""
    own = [event for event in trace.events if event.actor and event.actor != "user"]
    acting = {event.actor for event in own if event.kind in _ACTS}
    speakers = {event.actor for event in own if event.kind is Kind.MESSAGE} - acting
    names = [" ".join(split_identifier(name or "")) for name in speakers if name not in _ROLES]
    if not names or len(acting | speakers) == 1:
        return requirements
    return [
        replace(requirement, accepts_message=True, requires_action=False)
        if requirement.requires_action
        and not requirement.needs_call
        and requirement.all_action_types.isdisjoint(_TRANSACTIONS)
        and _begins_with_any(requirement, names)
        else requirement
        for requirement in requirements
    ]


def _begins_with_any(requirement: Requirement, names: Sequence[str]) -> bool:
    """Return whether a step begins with the name of an agent: "The Reviewer ...", "Let Ann ..."."""
    words = split_identifier(requirement.step.text)
    while words and words[0] in _BEFORE_NAME:
        words = words[1:]
    start = f"{' '.join(words)} "
    return any(start.startswith(f"{name} ") for name in names)


def _collect_actors(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> frozenset[str]:
    """Return all actors of the trace, and the agents that the plan assigns steps to by name."""
    acting = frozenset(candidate.signature.actor for candidate in candidates)
    assigned = frozenset(requirement.subject for requirement in requirements if requirement.subject)
    return acting | assigned if acting & assigned else acting
