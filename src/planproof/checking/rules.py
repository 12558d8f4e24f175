"""Judge a trace by explicit rules over its alignment with the plan; no model, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from planproof.checking.alignment import Alignment, align
from planproof.checking.candidates import Candidate, build_candidates, remove_restatements
from planproof.checking.confidence import compute_step_features, estimate_confidence
from planproof.checking.extras import find_extras
from planproof.checking.plan_findings import assemble_findings
from planproof.checking.requirements import Requirement, compile_steps
from planproof.checking.similarity import compute_similarity, load_shipped_weights
from planproof.checking.step_status import judge_step
from planproof.core.content import Content
from planproof.core.digests import compute_fingerprint
from planproof.core.finding import Findings, Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Rules:
    """The rule-based judge. Deterministic: same input, same findings, on every machine."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    name: str = "rules"
    fingerprint: str = field(init=False)
    """Changes with the release, the weights, the knowledge files and the vocabulary."""

    def __post_init__(self) -> None:
        digest = compute_fingerprint(compute_release_fingerprint(), self.vocabulary.sorted_entries)
        object.__setattr__(self, "fingerprint", digest)

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Check the trace against the plan; the task neither adds a step nor excuses one."""
        del task
        return self._judge_trace(plan, trace, in_progress=False)

    def judge_in_progress(self, plan: Plan, trace: Trace) -> Findings:
        """Check the beginning of a trace against the plan; steps not yet due are still to come."""
        return self._judge_trace(plan, trace, in_progress=True)

    def _judge_trace(self, plan: Plan, trace: Trace, *, in_progress: bool) -> Findings:
        analysis = analyze(plan, trace, self.vocabulary, in_progress=in_progress)
        steps = assemble_findings(plan, trace, analysis.step_findings)
        return Findings(steps, find_extras(analysis.candidates, analysis.alignment, trace, steps))


@cache
def compute_release_fingerprint() -> str:
    """Return the part of the fingerprint without vocabulary: release, weights, knowledge files."""
    knowledge = files("planproof.core.knowledge").iterdir()
    known = sorted((f for f in knowledge if f.name.endswith(".txt")), key=lambda file: file.name)
    digest = sha256(version("planproof").encode())
    for file in (files("planproof.checking").joinpath("weights.json"), *known):
        digest.update(file.read_bytes())
    return digest.hexdigest()


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
    assigned = frozenset(requirement.subject for requirement in requirements if requirement.subject)
    return acting | assigned if acting & assigned else acting
