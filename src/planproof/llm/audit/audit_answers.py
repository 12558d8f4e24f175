"""Answer schema of the judge `audit`: a status with evidence for each step, and the extras."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from planproof.core.finding import Status
from planproof.llm.answer_fields import Text
from planproof.llm.audit.step_values import Equation

CONDITION_FAILED = "condition_failed"
_DASH = re.compile("[-–]")
_MAX_RANGE_CHARS = 1_000
_MAX_RANGE_IDS = 100_000
"""Maximum number of ids from all ranges of an answer; more than that is noise."""


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class _AnswerModel(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Citation(_AnswerModel):
    """An event, and words that stand in it."""  # words: exempt

    event: Text = Field(description="Id of one event, such as e4.")
    quote: Text = Field(description="Words copied from that event, letter by letter.")


class SameWords(_AnswerModel):
    """Words of the step, and words of an event that mean the same."""

    plan: Text = Field(description="Words copied from the step, such as Boston.")
    event: Text = Field(description="Id of the event.")
    value: Text = Field(description="Words copied from that event, such as BOS.")


class StepAnswer(_AnswerModel):
    """What became of a step."""

    step: Text = Field(description="Number of the step, as printed in the plan.")
    status: Literal["executed", "partial", "missing", "ambiguous", "condition_failed"]
    evidence: list[Citation] = Field(description="What shows it; none for a missing step.")
    events: list[Text] = Field(
        description="Every other event that belongs to the step, as ids or ranges: e4, e7-e12."
    )
    same: list[SameWords] = Field(
        default=[],
        description="Names and words of the step that an event writes in another way; often none.",
    )


class ExtraAnswer(_AnswerModel):
    """Something that no step covers."""

    events: list[Text] = Field(description="Ids or ranges: e4, e7-e12.")
    severity: Literal["major", "minor"]
    quote: Text = Field(description="Words copied from the first of these events.")


class AuditAnswer(_AnswerModel):
    """The whole answer."""

    steps: list[StepAnswer]
    extras: list[ExtraAnswer]


@dataclass(frozen=True, slots=True)
class Claim:
    """A model's claim about a step, not yet verified."""

    step: str
    status: Status
    evidence: tuple[tuple[str, str], ...] = ()
    covers: tuple[str, ...] = ()
    condition_failed: bool = False
    same: tuple[Equation, ...] = ()

    def to_answer(self) -> dict[str, Any]:
        """Return the claim in the form of a model's answer."""
        return {
            "step": self.step,
            "status": CONDITION_FAILED if self.condition_failed else self.status.value,
            "evidence": [{"event": event, "quote": quote} for event, quote in self.evidence],
            "events": list(self.covers),
            "same": [
                {"plan": one.words, "event": one.event, "value": one.value} for one in self.same
            ],
        }


@dataclass(frozen=True, slots=True)
class ClaimedExtra:
    """An event that a model calls an extra.

    `quote` is empty for all but the first event of an answer's extra.
    """

    event: str
    minor: bool
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Claims:
    """All claims of a model about a case, with ranges of events expanded."""

    steps: Mapping[str, Claim]
    extras: Mapping[str, ClaimedExtra]


_RANK = (Status.AMBIGUOUS, Status.PARTIAL, Status.EXECUTED)


def parse_claims(answer: AuditAnswer, events: Sequence[str]) -> Claims:
    """Return the claims in an answer about these events."""
    ids = _EventIds(events)
    steps: dict[str, Claim] = {}
    for step_answer in answer.steps:
        failed = step_answer.status == CONDITION_FAILED
        number = step_answer.step.strip()
        claim = Claim(
            number,
            Status.EXECUTED if failed else Status(step_answer.status),
            tuple(
                (ids.normalize(citation.event), citation.quote) for citation in step_answer.evidence
            ),
            tuple(ids.expand(step_answer.events)),
            failed,
            tuple(
                Equation(number, same.plan.strip(), ids.normalize(same.event), same.value.strip())
                for same in step_answer.same
            ),
        )
        steps[number] = _join_claims(steps[number], claim) if number in steps else claim
    extras: dict[str, ClaimedExtra] = {}
    for extra in answer.extras:
        for index, event in enumerate(ids.expand(extra.events)):
            quote = "" if index else extra.quote
            extras.setdefault(event, ClaimedExtra(event, extra.severity == "minor", quote))
    return Claims(steps, extras)


def merge_claims(claims: Sequence[Claims]) -> Claims:
    """Merge the claims on several windows of one trace.

    A window that does not show a step says nothing about it. Of several that do, the lowest status
    counts: none of them saw all of it (`find_split_steps`). An extra in one window may belong to a
    step that began in another; it stays an extra.
    """
    if len(claims) == 1:
        return claims[0]
    steps: dict[str, Claim] = {}
    extras: dict[str, ClaimedExtra] = {}
    for window_claims in claims:
        for number, claim in window_claims.steps.items():
            steps[number] = _join_claims(steps[number], claim) if number in steps else claim
        for event, extra in window_claims.extras.items():
            extras.setdefault(event, extra)
    return Claims(steps, extras)


def find_split_steps(claims: Sequence[Claims]) -> tuple[str, ...]:
    """Return the steps that several windows show, unless all of them call it executed."""
    statuses: dict[str, list[Status]] = {}
    for window_claims in claims:
        for number, claim in window_claims.steps.items():
            if claim.status is not Status.MISSING:
                statuses.setdefault(number, []).append(claim.status)
    return tuple(
        number
        for number, found in statuses.items()
        if len(found) > 1 and set(found) != {Status.EXECUTED}
    )


def revise_claims(
    first: Claims, second: Claims, steps: frozenset[str], extras: frozenset[str]
) -> Claims:
    """Return the first claims with the contested ones replaced by the second answer.

    `steps` and `extras` are what was asked about again: the claims on these steps, and that these
    events are extras. Other steps may gain events but do not change otherwise.
    """
    revised = dict(first.steps)
    for number, claim in second.steps.items():
        before = revised.get(number)
        if before is None or number in steps:
            revised[number] = claim
        else:
            covers = tuple(dict.fromkeys((*before.covers, *claim.covers)))
            revised[number] = replace(before, covers=covers)
    kept_extras = {event: extra for event, extra in first.extras.items() if event not in extras}
    return Claims(revised, {**second.extras, **kept_extras})


def _join_claims(first: Claim, second: Claim) -> Claim:
    """Join two claims on a step: the lower status, unless one of them says that it is missing."""
    shown = [claim for claim in (first, second) if claim.status is not Status.MISSING]
    lowest = min(shown, key=lambda claim: _RANK.index(claim.status), default=first)
    return Claim(
        first.step,
        lowest.status,
        tuple(dict.fromkeys((*first.evidence, *second.evidence))),
        tuple(dict.fromkeys((*first.covers, *second.covers))),
        lowest.condition_failed,
        tuple(dict.fromkeys((*first.same, *second.same))),
    )


class _EventIds:
    """The event ids of a trace, for expanding ranges."""

    def __init__(self, events: Sequence[str]) -> None:
        self._events = events
        self._index_by_id = {event: index for index, event in enumerate(events)}
        self._remaining = _MAX_RANGE_IDS

    def normalize(self, word: str) -> str:
        """Return an id as in the trace: models often put it in brackets."""
        return word if word in self._index_by_id else word.strip(" []()`'\"")

    def expand(self, words: Iterable[str]) -> Iterator[str]:
        """Yield every id that is named, alone, in a range, or in a comma-separated list."""
        for word in words:
            for part in (word,) if word in self._index_by_id else word.split(","):
                yield from self._expand_range(self.normalize(part))

    def _expand_range(self, word: str) -> Iterator[str]:
        if word in self._index_by_id:
            yield word
            return
        for at in _DASH.finditer(word, 0, _MAX_RANGE_CHARS):
            first, last = self.normalize(word[: at.start()]), self.normalize(word[at.end() :])
            if first in self._index_by_id and last in self._index_by_id:
                chosen = self._events[self._index_by_id[first] : self._index_by_id[last] + 1][
                    : self._remaining
                ]
                self._remaining -= len(chosen)
                yield from chosen
                return
        yield word
