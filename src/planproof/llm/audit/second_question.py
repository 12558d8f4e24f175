"""What a model is asked a second time: what of its answer was not accepted or not confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planproof.core.verdict import Rejected
from planproof.llm.audit.audit_answers import Claim, Claims
from planproof.llm.audit.audit_findings import Examined
from planproof.llm.prompting.escaping import (
    as_json,
    clipped,
    escaped,
    id_written,
    in_marks,
    name_written,
)
from planproof.llm.prompting.fence import fenced
from planproof.llm.prompting.templates import render

LEAST_ROOM = 2_000
"""Characters that a second question needs: its rules, and a part of the first answer."""
_MOST_NAMED = 40
_MOST_SHOWN = 3
_QUOTE_LENGTHS = (240, 80)
_LONGEST_ID = 80


class SecondQuestion:
    """The contested part of a first answer, with what the program has against it.

    `steps` are those that are asked about, and `extras` the events whose place among the extras is.
    """

    def __init__(
        self, examined: Examined, events: Sequence[str], wanted: Iterable[str], claims: Claims
    ) -> None:
        here = frozenset(events)
        self._left = [event for event in examined.unaccounted if event in here]
        self._silent = [number for number in wanted if number not in claims.steps]
        self._rejected: dict[str | None, list[Rejected]] = {}
        for each in examined.rejected:
            self._rejected.setdefault(each.step, []).append(each)
        self._doubts = examined.doubts
        open_to_doubt = self._rejected.keys() | examined.doubts.keys()
        self._contested = [c for number, c in claims.steps.items() if number in open_to_doubt]
        self.steps = frozenset(claim.step for claim in self._contested).union(self._silent)
        self.extras = frozenset(each.event for each in self._rejected.get(None, ()))

    def __bool__(self) -> bool:
        """Return whether there is anything to ask."""
        return bool(self.steps or self.extras or self._left)

    def in_words(self, room: int, mark: str) -> str:
        """Return the question in at most so many characters, with as many entries as fit.

        The first answer is a model's, with quotes from the trace: data, fenced like the case.
        """
        longest, short = _QUOTE_LENGTHS
        entries = [*self._entries(longest)]
        kept = min(len(entries), _MOST_NAMED)
        words = _written(entries, kept, mark)
        if len(words) > room:
            entries = [*self._entries(short)]
            words = _written(entries, kept, mark)
        while len(words) > room and kept:
            kept -= 1
            words = _written(entries, kept, mark)
        return words

    def _entries(self, longest: int) -> Iterator[str]:
        """Yield what is contested, one thing after another, with quotes of so many characters."""
        for claim in self._contested:
            rejected = self._rejected.get(claim.step, ())
            yield _about_step(claim, rejected, self._doubts.get(claim.step), longest)
        for each in self._rejected.get(None, ()):
            yield f"extra {_cited(each, longest)}\n{_not_accepted(each)}"
        if self._silent:
            named = ", ".join(map(name_written, self._silent[:_MOST_NAMED]))
            yield f"steps that have no answer: {named}"
        if self._left:
            named = ", ".join(map(id_written, self._left[:_MOST_NAMED]))
            yield f"actions under no step and no extra: {named}"


def _written(entries: Sequence[str], kept: int, mark: str) -> str:
    left = len(entries) - kept
    shown = [*entries[:kept], *([f"(and {left} more)"] if left else ())]
    return render("audit_again.jinja", told=fenced("answer", "\n".join(shown), mark))


def _about_step(claim: Claim, rejected: Sequence[Rejected], doubt: str | None, longest: int) -> str:
    answer = claim.as_answer()
    answer["evidence"] = [
        {name: clipped(text, longest) for name, text in one.items()}
        for one in answer["evidence"][:_MOST_SHOWN]
    ]
    answer["events"] = [event[:_LONGEST_ID] for event in answer["events"][: 3 * _MOST_SHOWN]]
    lines = [f"step {name_written(claim.step)}, you said: {as_json(answer)}"]
    # What is rejected stands in the answer already.
    lines += [
        f"{_not_accepted(each)}: {_cited(each, longest // 2)}" for each in rejected[:_MOST_SHOWN]
    ]
    if len(rejected) > _MOST_SHOWN:
        lines.append(f"  (and {len(rejected) - _MOST_SHOWN} more not accepted)")
    if doubt is not None:
        told = escaped(clipped(doubt, longest))
        lines.append(f"  not confirmed by a search for words and values: {told}")
    return "\n".join(lines)


def _not_accepted(rejected: Rejected) -> str:
    return f"  not accepted, {escaped(rejected.why)}"


def _cited(rejected: Rejected, longest: int) -> str:
    quote = in_marks(clipped(rejected.quote, longest))
    return f"{id_written(rejected.event[:_LONGEST_ID])} {quote}"
