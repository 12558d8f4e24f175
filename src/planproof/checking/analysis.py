"""What the rules know of a case: what is asked, what can show it, and what shows it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.checking.alignment import Explanation, explain
from planproof.checking.candidates import Unit, units_of
from planproof.checking.confidence import signs_of_step, sureness_of
from planproof.checking.requirements import Demand, demands_of
from planproof.checking.restatements import without_restatements
from planproof.checking.similarity import affinity_of, shipped_weights
from planproof.checking.step_status import finding_of
from planproof.core.finding import Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Weighed:
    """A case as the rules see it. `demands` are those of the leaves of the plan, in plan order."""

    units: Sequence[Unit]
    demands: Sequence[Demand]
    explanation: Explanation
    actors: frozenset[str]

    @property
    def found(self) -> list[StepFinding]:
        """What became of each leaf, as far as it does not depend on the order of the others."""
        return [
            finding_of(step, demand, self.explanation, self.units, self.actors)
            for step, demand in enumerate(self.demands)
        ]

    def sureness(self, step: int, status: Status) -> float:
        """Return how sure it is that a leaf, by its index, has this status."""
        signs = signs_of_step(step, self.demands[step], self.explanation, self.units)
        return sureness_of(status, signs)

    def explained_by(self, runs: list[list[int]]) -> Weighed:
        """The same case, if these units, and no others, were what each step covers."""
        taken = {index for run in runs for index in run}
        left = [index for index in range(len(self.units)) if index not in taken]
        known = self.explanation
        other = Explanation(runs, left, known.affinity, in_order=True, nearness=known.nearness)
        return replace(self, explanation=other)


def weigh(plan: Plan, trace: Trace, vocabulary: Vocabulary, *, under_way: bool = False) -> Weighed:
    """The case with the explanation that fits it best; that of a run may be `under_way`."""
    demands = demands_of(plan, vocabulary)
    steps = [demand.folded for demand in demands]
    units = units_of(without_restatements(trace, plan), vocabulary, steps)
    explanation = explain(
        units, demands, affinity_of(units, demands, shipped_weights()), under_way=under_way
    )
    return Weighed(units, demands, explanation, _actors(units, demands))


def _actors(units: Sequence[Unit], demands: Sequence[Demand]) -> frozenset[str]:
    """Who did anything, and who should have: agents that the plan gives steps to by name."""
    acting = frozenset(unit.manner.actor for unit in units)
    charged = frozenset(demand.subject for demand in demands if demand.subject)
    return acting | charged if acting & charged else acting
