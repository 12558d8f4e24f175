"""Answer schema of the judge `audit`: a status with evidence for each step, and the extras."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from planproof.core.finding import Status
from planproof.llm.answer_fields import Text, wrap_in_list

CONDITION_FAILED = "condition_failed"
_DASH = re.compile("[-–]")
_MAX_RANGE_CHARS = 1_000
_MAX_RANGE_IDS = 100_000
"""Maximum number of ids from all ranges of an answer; more than that is noise."""


class StepKind(StrEnum):
    """The kind of work a step asks for, as classified by the auditing model."""

    ACT = "act"
    CHECK = "check"
    TELL = "tell"
    THINK = "think"


CALL_KINDS = frozenset({StepKind.ACT, StepKind.CHECK})
"""Kinds that require a call, a command or a hand-off; text alone does not carry them out."""


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class _AnswerModel(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Citation(_AnswerModel):
    """An event, and words that stand in it."""  # words: exempt

    event: Text = Field(description="Id of one event, such as e4.")
    quote: Text = Field(description="Words copied from that event, letter by letter.")


class StepAnswer(_AnswerModel):
    """What became of a step."""

    step: Text = Field(description="Number of the step, as printed in the plan.")
    kind: Annotated[
        list[Literal["act", "check", "tell", "think"]], BeforeValidator(wrap_in_list)
    ] = Field(description="What the step asks for; several for a step of several parts.")
    status: Literal["executed", "partial", "missing", "ambiguous", "condition_failed"]
    evidence: list[Citation] = Field(description="What shows it; none for a missing step.")
    events: list[Text] = Field(
        description="Every other event that belongs to the step, as ids or ranges: e4, e7-e12."
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
    kinds: frozenset[StepKind] = frozenset({StepKind.ACT})

    def to_answer(self) -> dict[str, Any]:
        """Return the claim in the form of a model's answer."""
        return {
            "step": self.step,
            "kind": sorted(self.kinds),
            "status": CONDITION_FAILED if self.condition_failed else self.status.value,
            "evidence": [{"event": event, "quote": quote} for event, quote in self.evidence],
            "events": list(self.covers),
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


_RANK = (Status.MISSING, Status.AMBIGUOUS, Status.PARTIAL, Status.EXECUTED)


def parse_claims(answer: AuditAnswer, events: Sequence[str]) -> Claims:
    """Return the claims in an answer about these events."""
    ids = _EventIds(events)
    steps: dict[str, Claim] = {}
    for step_answer in answer.steps:
        failed = step_answer.status == CONDITION_FAILED
        claim = Claim(
            step_answer.step.strip(),
            Status.EXECUTED if failed else Status(step_answer.status),
            tuple(
                (ids.normalize(citation.event), citation.quote) for citation in step_answer.evidence
            ),
            tuple(ids.expand(step_answer.events)),
            failed,
            # A step without a kind is checked as the strictest one.
            frozenset(map(StepKind, step_answer.kind)) or frozenset({StepKind.ACT}),
        )
        steps[claim.step] = _join_claims(steps[claim.step], claim) if claim.step in steps else claim
    extras: dict[str, ClaimedExtra] = {}
    for extra in answer.extras:
        for index, event in enumerate(ids.expand(extra.events)):
            quote = "" if index else extra.quote
            extras.setdefault(event, ClaimedExtra(event, extra.severity == "minor", quote))
    return Claims(steps, extras)


def merge_claims(claims: Iterable[Claims]) -> Claims:
    """Merge the claims on several windows of one trace: the best status of each step counts.

    An extra in one window may belong to a step that began in another.
    """
    steps: dict[str, Claim] = {}
    extras: dict[str, ClaimedExtra] = {}
    for window_claims in claims:
        for number, claim in window_claims.steps.items():
            steps[number] = _join_claims(steps[number], claim) if number in steps else claim
        for event, extra in window_claims.extras.items():
            extras.setdefault(event, extra)
    return Claims(steps, extras)


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
    best = max(first, second, key=lambda claim: _RANK.index(claim.status))
    return Claim(
        first.step,
        best.status,
        tuple(dict.fromkeys((*first.evidence, *second.evidence))),
        tuple(dict.fromkeys((*first.covers, *second.covers))),
        best.condition_failed,
        first.kinds | second.kinds,
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
