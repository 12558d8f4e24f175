"""How near an event is to the plan: the plan's words that it has."""

from __future__ import annotations

from planproof.alignment.terms import stems_of_token, tokens_of
from planproof.judges.prompting.escaping import as_json
from planproof.plan import Plan
from planproof.trace import Event

_LOOKED_AT = 4_000
_TELLING = 2


class PlanTerms:
    """The words of a plan, against which events are held."""

    def __init__(self, plan: Plan) -> None:
        self._terms = _terms(" ".join(step.text for step in plan.steps))

    def nearness(self, event: Event) -> int:
        """How many of the plan's words stand in what was called, said or thought."""
        return len(self._in_call(event))

    def is_told_by_output(self, event: Event) -> bool:
        """Whether what came back speaks of the plan beyond what the call itself did."""
        told = self._terms & _terms(event.output)
        return len(told) >= _TELLING and len(told - self._in_call(event)) >= _TELLING

    def _in_call(self, event: Event) -> frozenset[str]:
        arguments = "" if event.arguments is None else as_json(event.arguments)
        return self._terms & _terms(
            f"{event.name or ''} {event.text[:_LOOKED_AT]} {arguments[:_LOOKED_AT]}"
        )


def _terms(text: str) -> frozenset[str]:
    """The stems of a text's words; numbers stand everywhere and tell nothing."""
    stems = map(stems_of_token, set(tokens_of(text[: 3 * _LOOKED_AT])))
    return frozenset(stem for found in stems for stem in found if not stem.isdecimal())
