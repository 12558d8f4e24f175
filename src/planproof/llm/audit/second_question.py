"""What a model is asked a second time: what of its answer was not accepted or not confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planproof.core.verdict import RejectedEvidence
from planproof.llm.audit.audit_answers import Claim, Claims
from planproof.llm.audit.audit_findings import VerifiedClaims
from planproof.llm.prompting.escaping import (
    clip_middle,
    escape_text,
    to_compact_json,
    wrap_in_guillemets,
    write_id,
    write_name,
)
from planproof.llm.prompting.fence import wrap_in_fence
from planproof.llm.prompting.templates import render

MIN_SECOND_QUESTION_CHARS = 2_000
"""Characters that a second question needs: its rules, and a part of the first answer."""
_MAX_NAMED = 40
_MAX_SHOWN = 3
_QUOTE_LENGTHS = (240, 80)
_MAX_ID_CHARS = 80


class SecondQuestion:
    """The contested part of a first answer, with what the program has against it.

    `steps` are those that are asked about, and `extras` the events whose place among the extras is.
    """

    def __init__(
        self,
        verified: VerifiedClaims,
        events: Sequence[str],
        step_numbers: Iterable[str],
        claims: Claims,
    ) -> None:
        here = frozenset(events)
        self._unaccounted = [event for event in verified.unaccounted_actions if event in here]
        self._unanswered = [number for number in step_numbers if number not in claims.steps]
        self._rejected: dict[str | None, list[RejectedEvidence]] = {}
        for rejection in verified.rejected:
            self._rejected.setdefault(rejection.step, []).append(rejection)
        self._doubts = verified.doubts
        open_to_doubt = self._rejected.keys() | verified.doubts.keys()
        self._contested = [c for number, c in claims.steps.items() if number in open_to_doubt]
        self.steps = frozenset(claim.step for claim in self._contested).union(self._unanswered)
        self.extras = frozenset(rejection.event for rejection in self._rejected.get(None, ()))

    def __bool__(self) -> bool:
        """Return whether there is anything to ask."""
        return bool(self.steps or self.extras or self._unaccounted)

    def render_prompt(self, max_chars: int, mark: str) -> str:
        """Return the question in at most so many characters, with as many entries as fit.

        The first answer is a model's, with quotes from the trace: data, fenced like the case.
        """
        longest, short = _QUOTE_LENGTHS
        entries = [*self._list_entries(longest)]
        entry_count = min(len(entries), _MAX_NAMED)
        words = _render_entries(entries, entry_count, mark)
        if len(words) > max_chars:
            entries = [*self._list_entries(short)]
            words = _render_entries(entries, entry_count, mark)
        while len(words) > max_chars and entry_count:
            entry_count -= 1
            words = _render_entries(entries, entry_count, mark)
        return words

    def _list_entries(self, longest: int) -> Iterator[str]:
        """Yield what is contested, one thing after another, with quotes of so many characters."""
        for claim in self._contested:
            rejected = self._rejected.get(claim.step, ())
            yield _describe_step(claim, rejected, self._doubts.get(claim.step), longest)
        for rejection in self._rejected.get(None, ()):
            yield f"extra {_format_citation(rejection, longest)}\n{_describe_rejection(rejection)}"
        if self._unanswered:
            named = ", ".join(map(write_name, self._unanswered[:_MAX_NAMED]))
            yield f"steps that have no answer: {named}"
        if self._unaccounted:
            named = ", ".join(map(write_id, self._unaccounted[:_MAX_NAMED]))
            yield f"actions under no step and no extra: {named}"


def _render_entries(entries: Sequence[str], entry_count: int, mark: str) -> str:
    omitted = len(entries) - entry_count
    shown = [*entries[:entry_count], *([f"(and {omitted} more)"] if omitted else ())]
    return render("audit_again.jinja", told=wrap_in_fence("answer", "\n".join(shown), mark))


def _describe_step(
    claim: Claim, rejected: Sequence[RejectedEvidence], doubt: str | None, longest: int
) -> str:
    answer = claim.to_answer()
    answer["evidence"] = [
        {name: clip_middle(text, longest) for name, text in citation.items()}
        for citation in answer["evidence"][:_MAX_SHOWN]
    ]
    answer["events"] = [event[:_MAX_ID_CHARS] for event in answer["events"][: 3 * _MAX_SHOWN]]
    lines = [f"step {write_name(claim.step)}, you said: {to_compact_json(answer)}"]
    # What is rejected stands in the answer already.
    lines += [
        f"{_describe_rejection(rejection)}: {_format_citation(rejection, longest // 2)}"
        for rejection in rejected[:_MAX_SHOWN]
    ]
    if len(rejected) > _MAX_SHOWN:
        lines.append(f"  (and {len(rejected) - _MAX_SHOWN} more not accepted)")
    if doubt is not None:
        doubt_text = escape_text(clip_middle(doubt, longest))
        lines.append(f"  not confirmed by a search for words and values: {doubt_text}")
    return "\n".join(lines)


def _describe_rejection(rejected: RejectedEvidence) -> str:
    return f"  not accepted, {escape_text(rejected.why)}"


def _format_citation(rejected: RejectedEvidence, longest: int) -> str:
    quote = wrap_in_guillemets(clip_middle(rejected.quote, longest))
    return f"{write_id(rejected.event[:_MAX_ID_CHARS])} {quote}"
