"""The embedded judge: explicit rules over an alignment of plan and trace; no model, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files

from planproof.content import Content
from planproof.finding import Findings
from planproof.judges.assembly import assembled
from planproof.judges.extras import extras_of
from planproof.judges.weighing import weigh
from planproof.plan import Plan
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary

_RESTS_ON = (
    "weights.json",
    "knowledge/commands.txt",
    "knowledge/concepts.txt",
    "knowledge/deeds.txt",
    "knowledge/places.txt",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Deterministic: the same bytes in, the same findings out, on every machine."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    name: str = "rules"
    fingerprint: str = field(init=False)
    """Changes with the weights, the knowledge and the vocabulary that the rules rest on."""

    def __post_init__(self) -> None:
        known = self.vocabulary
        declared = repr(
            (sorted(known.bookkeeping), sorted(known.closing), sorted(known.aliases.items()))
        )
        digest = sha256(f"{_fingerprint()}{declared}".encode()).hexdigest()[:12]
        object.__setattr__(self, "fingerprint", digest)

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Hold the trace against the plan; the task neither adds a step nor excuses one."""
        del task
        weighed = weigh(plan, trace, self.vocabulary)
        steps = assembled(plan, trace, weighed.found)
        return Findings(steps, extras_of(weighed.units, weighed.explanation, trace, steps))


@cache
def _fingerprint() -> str:
    folder = files("planproof.alignment")
    digest = sha256()
    for name in _RESTS_ON:
        digest.update(folder.joinpath(name).read_bytes())
    return digest.hexdigest()
