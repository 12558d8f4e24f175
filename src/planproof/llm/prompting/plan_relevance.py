"""How near an event is to the plan: the plan's words that it has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import filterfalse

from planproof.contracts.terms import stems_of_token, tokens_of
from planproof.core.plan import Plan
from planproof.core.trace import Event

_LOOKED_AT = 4_000
_LOOKED_THROUGH = 3 * _LOOKED_AT
_TELLING = 2
_MOST_KEPT = 50_000
_NONE = frozenset[str]()
_ODD = frozenset({"dy", "ly", "ty"})
"""Of dying, lying and tying, which have stems that begin otherwise."""


class PlanTerms:
    """The words of a plan, against which events are held."""

    def __init__(self, plan: Plan) -> None:
        tokens = set(tokens_of(" ".join(step.text for step in plan.steps)[:_LOOKED_THROUGH]))
        self._of_word = _TermsOfWord(
            # Numbers stand everywhere and tell nothing.
            stem
            for token in tokens
            for stem in stems_of_token(token)
            if not stem.isdecimal()
        )

    def nearness(self, event: Event, arguments: str) -> int:
        """How many of the plan's words stand in what was called, said or thought."""
        return len(self._in_call(event, arguments))

    def is_told_by_output(self, event: Event, arguments: str) -> bool:
        """Whether what came back speaks of the plan beyond what the call itself did."""
        told = self._found_in(event.output)
        return len(told) >= _TELLING and len(told - self._in_call(event, arguments)) >= _TELLING

    def _in_call(self, event: Event, arguments: str) -> frozenset[str]:
        return self._found_in(
            f"{event.name or ''} {event.text[:_LOOKED_AT]} {arguments[:_LOOKED_AT]}"
        )

    def _found_in(self, text: str) -> frozenset[str]:
        words = filterfalse(str.isdecimal, tokens_of(text[:_LOOKED_THROUGH]))
        return _NONE.union(*map(self._of_word.__getitem__, words))


class _TermsOfWord(dict[str, frozenset[str]]):
    """Word -> the plan's terms that it has. Events repeat one another: each is found once."""

    def __init__(self, terms: Iterable[str]) -> None:
        super().__init__()
        self._terms = frozenset(terms)
        # A short stem may differ from its words in the third letter already (cry, cri).
        self._beginnings = _ODD.union(s[:3] if len(s) > 3 else s[:2] for s in self._terms)

    def __missing__(self, word: str) -> frozenset[str]:
        if len(self) > _MOST_KEPT:
            self.clear()
        begins_like_one = word[:3] in self._beginnings or word[:2] in self._beginnings
        # Most words are none of the plan's, and begin like none.
        if not begins_like_one and word.isascii() and word.islower():
            found = _NONE
        else:
            found = self._terms.intersection(stems_of_token(word)) or _NONE
        self[word] = found
        return found
