"""Analyze a case with the rules: compile requirements, build candidates, align them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.checking.alignment import Alignment, align
from planproof.checking.candidates import Candidate, build_candidates
from planproof.checking.confidence import compute_step_features, estimate_confidence
from planproof.checking.requirements import Requirement, compile_steps
from planproof.checking.restatements import remove_restatements
from planproof.checking.similarity import compute_similarity, load_shipped_weights
from planproof.checking.step_status import judge_step
from planproof.core.finding import Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Analysis:
    """A case as the rules see it; `requirements` are those of the plan's leaves, in plan order."""

    candidates: Sequence[Candidate]
    requirements: Sequence[Requirement]
    alignment: Alignment
    actors: frozenset[str]

    @property
    def step_findings(self) -> list[StepFinding]:
        """The findings of the leaves, apart from their order relative to each other."""
        return [
            judge_step(step, requirement, self.alignment, self.candidates, self.actors)
            for step, requirement in enumerate(self.requirements)
        ]

    def confidence(self, step: int, status: Status) -> float:
        """Return the confidence that a leaf, by its index, has this status."""
        features = compute_step_features(
            step, self.requirements[step], self.alignment, self.candidates
        )
        return estimate_confidence(status, features)

    def with_assignment(self, assigned: list[list[int]]) -> Analysis:
        """Return the same case with these candidates, and no others, assigned to each step."""
        assigned_indices = {index for indices in assigned for index in indices}
        unassigned = [
            index for index in range(len(self.candidates)) if index not in assigned_indices
        ]
        known = self.alignment
        other = Alignment(
            assigned,
            unassigned,
            known.scores,
            is_monotonic=True,
            lexical_overlap=known.lexical_overlap,
        )
        return replace(self, alignment=other)


def analyze(
    plan: Plan, trace: Trace, vocabulary: Vocabulary, *, in_progress: bool = False
) -> Analysis:
    """Analyze a case with its best alignment; the run may still be `in_progress`."""
    requirements = compile_steps(plan, vocabulary)
    steps = [requirement.folded_text for requirement in requirements]
    candidates = build_candidates(remove_restatements(trace, plan), vocabulary, steps)
    alignment = align(
        candidates,
        requirements,
        compute_similarity(candidates, requirements, load_shipped_weights()),
        in_progress=in_progress,
    )
    return Analysis(candidates, requirements, alignment, _collect_actors(candidates, requirements))


def _collect_actors(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> frozenset[str]:
    """Return all actors of the trace, and the agents that the plan assigns steps to by name."""
    acting = frozenset(candidate.signature.actor for candidate in candidates)
    charged = frozenset(requirement.subject for requirement in requirements if requirement.subject)
    return acting | charged if acting & charged else acting
