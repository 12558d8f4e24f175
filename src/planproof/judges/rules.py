"""The embedded judge: explicit rules over an alignment of plan and trace; no model, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from planproof.content import Content
from planproof.digests import fingerprint_of
from planproof.finding import Findings
from planproof.judges.assembly import assembled
from planproof.judges.extras import extras_of
from planproof.judges.weighing import weigh
from planproof.plan import Plan
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary


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
    folder = files("planproof.alignment")
    known = sorted(folder.joinpath("knowledge").iterdir(), key=lambda file: file.name)
    digest = sha256(version("planproof").encode())
    for file in (folder.joinpath("weights.json"), *known):
        digest.update(file.read_bytes())
    return digest.hexdigest()
