"""The judge `rules`: the built-in compiler and the checker of contracts; no model, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from planproof.checking.requirements import compile_similarity
from planproof.checking.run_check import check_run
from planproof.checking.similarity_analysis import judge_by_similarity
from planproof.core.content import Content
from planproof.core.digests import compute_fingerprint
from planproof.core.finding import Findings
from planproof.core.judge import WorkLimitExceeded
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary

MAX_PAIRS = 10_000_000
"""Pairs of a step and an event that are compared at most; they take about 600 MB."""
_COMPARED = frozenset({Kind.ACTION, Kind.MESSAGE, Kind.REASONING})


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
        _check_work(plan, trace)
        contract = compile_similarity(plan, self.vocabulary)
        return check_run(contract, plan, trace, self.vocabulary)

    def judge_in_progress(self, plan: Plan, trace: Trace) -> Findings:
        """Check the beginning of a trace against the plan; steps not yet due are still to come."""
        return judge_by_similarity(plan, trace, self.vocabulary, in_progress=True)


def _check_work(plan: Plan, trace: Trace) -> None:
    """Raise an error if too many steps would be compared with too many events."""
    compared = sum(event.kind in _COMPARED for event in trace.events)
    if len(plan.steps) * compared > MAX_PAIRS:
        raise WorkLimitExceeded(
            f"{len(plan.steps):,} steps would be compared with {compared:,} events, more than "
            f"{MAX_PAIRS:,} pairs. Judge parts of the trace."
        )


@cache
def compute_release_fingerprint() -> str:
    """Return the part of the fingerprint without vocabulary: release, weights, knowledge files."""
    knowledge = files("planproof.core.knowledge").iterdir()
    known = sorted((f for f in knowledge if f.name.endswith(".txt")), key=lambda file: file.name)
    digest = sha256(version("planproof").encode())
    for file in (files("planproof.checking").joinpath("weights.json"), *known):
        digest.update(file.read_bytes())
    return digest.hexdigest()
