"""How near an event is to the plan: the plan's words that it has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import filterfalse

from planproof.contracts.terms import split_tokens, stem_token
from planproof.core.plan import Plan
from planproof.core.trace import Event

_MAX_FIELD_CHARS = 4_000
_MAX_TEXT_CHARS = 3 * _MAX_FIELD_CHARS
_MIN_SHARED_TERMS = 2
_MAX_CACHED_WORDS = 50_000
_NONE = frozenset[str]()
_IRREGULAR_STEMS = frozenset({"dy", "ly", "ty"})
"""Of dying, lying and tying, which have stems that begin otherwise."""


class PlanTerms:
    """The words of a plan, against which events are held."""

    def __init__(self, plan: Plan) -> None:
        tokens = set(split_tokens(" ".join(step.text for step in plan.steps)[:_MAX_TEXT_CHARS]))
        self._terms_by_word = _TermLookup(
            # Numbers stand everywhere and tell nothing.
            stem
            for token in tokens
            for stem in stem_token(token)
            if not stem.isdecimal()
        )

    def count_shared_terms(self, event: Event, arguments: str) -> int:
        """How many of the plan's words stand in what was called, said or thought."""
        return len(self._find_in_call(event, arguments))

    def is_output_relevant(self, event: Event, arguments: str) -> bool:
        """Whether what came back speaks of the plan beyond what the call itself did."""
        output_terms = self._find_in_text(event.output)
        return (
            len(output_terms) >= _MIN_SHARED_TERMS
            and len(output_terms - self._find_in_call(event, arguments)) >= _MIN_SHARED_TERMS
        )

    def _find_in_call(self, event: Event, arguments: str) -> frozenset[str]:
        return self._find_in_text(
            f"{event.name or ''} {event.text[:_MAX_FIELD_CHARS]} {arguments[:_MAX_FIELD_CHARS]}"
        )

    def _find_in_text(self, text: str) -> frozenset[str]:
        words = filterfalse(str.isdecimal, split_tokens(text[:_MAX_TEXT_CHARS]))
        return _NONE.union(*map(self._terms_by_word.__getitem__, words))


class _TermLookup(dict[str, frozenset[str]]):
    """Word -> the plan's terms that it has. Events repeat one another: each is found once."""

    def __init__(self, terms: Iterable[str]) -> None:
        super().__init__()
        self._terms = frozenset(terms)
        # A short stem may differ from its words in the third letter already (cry, cri).
        self._beginnings = _IRREGULAR_STEMS.union(
            s[:3] if len(s) > 3 else s[:2] for s in self._terms
        )

    def __missing__(self, word: str) -> frozenset[str]:
        if len(self) > _MAX_CACHED_WORDS:
            self.clear()
        begins_like_one = word[:3] in self._beginnings or word[:2] in self._beginnings
        # Most words are none of the plan's, and begin like none.
        if not begins_like_one and word.isascii() and word.islower():
            matching = _NONE
        else:
            matching = self._terms.intersection(stem_token(word)) or _NONE
        self[word] = matching
        return matching
