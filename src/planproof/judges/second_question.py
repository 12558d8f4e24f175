"""What a model is asked a second time: what of its answer was not accepted or not confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planproof.judges.audit_answers import Claim, Claims
from planproof.judges.audit_findings import Examined
from planproof.judges.prompting.escaping import (
    as_json,
    clipped,
    escaped,
    id_written,
    in_marks,
    name_written,
)
from planproof.judges.prompting.fence import fenced
from planproof.judges.prompting.templates import render
from planproof.verdict import Rejected

LEAST_ROOM = 2_200
"""Characters that a second question needs: its rules, and a part of the first answer."""
_MOST_NAMED = 40
_MOST_SHOWN = 4
_LONGEST_QUOTE = 120
_SHORT_QUOTE = 60
_LONGEST_ID = 80


class SecondQuestion:
    """The contested part of a first answer, each with what the program has against it.

    `steps` are those that are asked about, and `extras` the events whose place among the extras is.
    """

    def __init__(
        self, examined: Examined, events: Sequence[str], wanted: Iterable[str], claims: Claims
    ) -> None:
        here = frozenset(events)
        left = [event for event in examined.unaccounted if event in here]
        silent = [number for number in wanted if number not in claims.steps]
        rejected: dict[str | None, list[Rejected]] = {}
        for each in examined.rejected:
            rejected.setdefault(each.step, []).append(each)
        extras = rejected.pop(None, [])
        open_to_doubt = rejected.keys() | examined.doubts.keys()
        contested = [number for number in claims.steps if number in open_to_doubt]
        self.steps = frozenset(contested).union(silent)
        self.extras = frozenset(each.event for each in extras)
        self.entries = [
            _about_step(claims.steps[number], rejected.get(number, ()), examined.doubts.get(number))
            for number in contested
        ]
        self.entries += [f"extra {_cited(each)}\n{_not_accepted(each)}" for each in extras]
        if silent:
            named = ", ".join(map(name_written, silent[:_MOST_NAMED]))
            self.entries.append(f"steps that have no answer: {named}")
        if left:
            named = ", ".join(map(id_written, left[:_MOST_NAMED]))
            self.entries.append(f"actions under no step and no extra: {named}")

    def in_words(self, room: int, mark: str) -> str:
        """Return the question in at most so many characters, with as many entries as fit.

        The first answer is a model's, with quotes from the trace: data, fenced like the case.
        """
        kept = min(len(self.entries), _MOST_NAMED)
        while True:
            left = len(self.entries) - kept
            shown = [*self.entries[:kept], *([f"(and {left} more)"] if left else ())]
            words = render("audit_again.jinja", told=fenced("answer", "\n".join(shown), mark))
            if len(words) <= room or not kept:
                return words
            kept -= 1


def _about_step(claim: Claim, rejected: Sequence[Rejected], doubt: str | None) -> str:
    lines = [f"step {name_written(claim.step)}, you said: {as_json(_shortened(claim))}"]
    lines += [f"{_not_accepted(each)}: {_cited(each)}" for each in rejected[:_MOST_SHOWN]]
    if len(rejected) > _MOST_SHOWN:
        lines.append(f"  (and {len(rejected) - _MOST_SHOWN} more not accepted)")
    if doubt is not None:
        told = escaped(clipped(doubt, _LONGEST_QUOTE))
        lines.append(f"  not confirmed by a search for words and values: {told}")
    return "\n".join(lines)


def _not_accepted(rejected: Rejected) -> str:
    return f"  not accepted, {escaped(rejected.why)}"


def _cited(rejected: Rejected) -> str:
    quote = in_marks(clipped(rejected.quote, _SHORT_QUOTE))
    return f"{id_written(rejected.event[:_LONGEST_ID])} {quote}"


def _shortened(claim: Claim) -> dict[str, object]:
    """Return a claim as it was answered, without what would make it long."""
    answer = claim.as_answer()
    answer["evidence"] = [
        {name: clipped(text, _LONGEST_QUOTE) for name, text in one.items()}
        for one in answer["evidence"][:_MOST_SHOWN]
    ]
    answer["events"] = [event[:_LONGEST_ID] for event in answer["events"][:_MOST_NAMED]]
    return answer
