"""The embedded judge: explicit rules over an alignment of plan and trace; no model, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from planproof.checking.analysis import weigh
from planproof.checking.extras import extras_of
from planproof.checking.plan_findings import assembled
from planproof.core.content import Content
from planproof.core.digests import fingerprint_of
from planproof.core.finding import Findings
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Rules:
    """Deterministic: the same bytes in, the same findings out, on every machine."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    name: str = "rules"
    fingerprint: str = field(init=False)
    """Changes with the release, the weights, the knowledge and the vocabulary that it rests on."""

    def __post_init__(self) -> None:
        digest = fingerprint_of(release_fingerprint(), self.vocabulary.words)
        object.__setattr__(self, "fingerprint", digest)

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Hold the trace against the plan; the task neither adds a step nor excuses one."""
        del task
        return self._found(plan, trace, under_way=False)

    def so_far(self, plan: Plan, trace: Trace) -> Findings:
        """Hold the beginning of a trace against the plan: the steps not yet due are to come."""
        return self._found(plan, trace, under_way=True)

    def _found(self, plan: Plan, trace: Trace, *, under_way: bool) -> Findings:
        weighed = weigh(plan, trace, self.vocabulary, under_way=under_way)
        steps = assembled(plan, trace, weighed.found)
        return Findings(steps, extras_of(weighed.units, weighed.explanation, trace, steps))


@cache
def release_fingerprint() -> str:
    """What all vocabularies share: the release, the weights and the knowledge."""
    knowledge = files("planproof.core").joinpath("knowledge")
    known = sorted(knowledge.iterdir(), key=lambda file: file.name)
    digest = sha256(version("planproof").encode())
    for file in (files("planproof.checking").joinpath("weights.json"), *known):
        digest.update(file.read_bytes())
    return digest.hexdigest()
