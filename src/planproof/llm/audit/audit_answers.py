"""What a model answers when it audits: for each step a status with evidence, and the extras."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from planproof.core.finding import Status

CONDITION_FAILED = "condition_failed"
_DASH = re.compile("[-–]")
_LONGEST_RANGE = 1_000
_FAR = 100_000
"""The most ids that all ranges of an answer may name: more is noise."""


def _as_text(value: object) -> object:
    """Step 3 may be called 3: models print numbers as they like."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


_Text = Annotated[str, BeforeValidator(_as_text)]


def _as_list(value: object) -> object:
    """Accept a single value where a list is asked for."""
    return [value] if isinstance(value, str) else value


class StepKind(StrEnum):
    """What a step asks for, as the model that audits says it."""

    ACT = "act"
    CHECK = "check"
    TELL = "tell"
    THINK = "think"


CALLING = frozenset({StepKind.ACT, StepKind.CHECK})
"""The kinds that take a call, a command or a hand-off: no words carry them out."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Citation(_Form):
    """An event, and words that stand in it."""

    event: _Text = Field(description="Id of one event, such as e4.")
    quote: _Text = Field(description="Words copied from that event, letter by letter.")


class StepAnswer(_Form):
    """What became of a step."""

    step: _Text = Field(description="Number of the step, as printed in the plan.")
    kind: Annotated[list[Literal["act", "check", "tell", "think"]], BeforeValidator(_as_list)] = (
        Field(description="What the step asks for; several for a step of several parts.")
    )
    status: Literal["executed", "partial", "missing", "ambiguous", "condition_failed"]
    evidence: list[Citation] = Field(description="What shows it; none for a missing step.")
    events: list[_Text] = Field(
        description="Every other event that belongs to the step, as ids or ranges: e4, e7-e12."
    )


class ExtraAnswer(_Form):
    """Something that no step covers."""

    events: list[_Text] = Field(description="Ids or ranges: e4, e7-e12.")
    severity: Literal["major", "minor"]
    quote: _Text = Field(description="Words copied from the first of these events.")


class AuditAnswer(_Form):
    """The whole answer."""

    steps: list[StepAnswer]
    extras: list[ExtraAnswer]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says of a step: not yet looked at."""

    step: str
    status: Status
    evidence: tuple[tuple[str, str], ...] = ()
    covers: tuple[str, ...] = ()
    condition_failed: bool = False
    kinds: frozenset[StepKind] = frozenset({StepKind.ACT})

    def as_answer(self) -> dict[str, Any]:
        """Return the claim in the form in which a model gives it."""
        return {
            "step": self.step,
            "kind": sorted(self.kinds),
            "status": CONDITION_FAILED if self.condition_failed else self.status.value,
            "evidence": [{"event": event, "quote": quote} for event, quote in self.evidence],
            "events": list(self.covers),
        }


@dataclass(frozen=True, slots=True)
class ClaimedExtra:
    """An event that a model calls an extra; `quote` is empty where others are named with it."""

    event: str
    minor: bool
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Claims:
    """All that a model says of a case, with ranges of events taken apart."""

    steps: Mapping[str, Claim]
    extras: Mapping[str, ClaimedExtra]


_RANK = (Status.MISSING, Status.AMBIGUOUS, Status.PARTIAL, Status.EXECUTED)


def claims_in(answer: AuditAnswer, events: Sequence[str]) -> Claims:
    """The claims in an answer about these events."""
    ids = _Ids(events)
    steps: dict[str, Claim] = {}
    for each in answer.steps:
        failed = each.status == CONDITION_FAILED
        claim = Claim(
            each.step.strip(),
            Status.EXECUTED if failed else Status(each.status),
            tuple((ids.named(one.event), one.quote) for one in each.evidence),
            tuple(ids.taken_apart(each.events)),
            failed,
            # A step of no kind is held to the strictest.
            frozenset(map(StepKind, each.kind)) or frozenset({StepKind.ACT}),
        )
        steps[claim.step] = _joined(steps[claim.step], claim) if claim.step in steps else claim
    extras: dict[str, ClaimedExtra] = {}
    for extra in answer.extras:
        for place, event in enumerate(ids.taken_apart(extra.events)):
            quote = "" if place else extra.quote
            extras.setdefault(event, ClaimedExtra(event, extra.severity == "minor", quote))
    return Claims(steps, extras)


def merged(claims: Iterable[Claims]) -> Claims:
    """The claims on several windows of one trace: a step has happened where one of them saw it.

    What one window takes for an extra may belong to a step that began in another.
    """
    steps: dict[str, Claim] = {}
    extras: dict[str, ClaimedExtra] = {}
    for each in claims:
        for number, claim in each.steps.items():
            steps[number] = _joined(steps[number], claim) if number in steps else claim
        for event, extra in each.extras.items():
            extras.setdefault(event, extra)
    return Claims(steps, extras)


def mended(first: Claims, again: Claims, steps: frozenset[str], extras: frozenset[str]) -> Claims:
    """Return the first claims, with those that were asked about again replaced.

    These are the claims on some steps, and those that some events are extras. To the other steps
    events may be added; nothing else of them changes.
    """
    mixed = dict(first.steps)
    for number, claim in again.steps.items():
        before = mixed.get(number)
        if before is None or number in steps:
            mixed[number] = claim
        else:
            covers = tuple(dict.fromkeys((*before.covers, *claim.covers)))
            mixed[number] = replace(before, covers=covers)
    kept = {event: extra for event, extra in first.extras.items() if event not in extras}
    return Claims(mixed, {**again.extras, **kept})


def _joined(one: Claim, other: Claim) -> Claim:
    best = max(one, other, key=lambda claim: _RANK.index(claim.status))
    return Claim(
        one.step,
        best.status,
        tuple(dict.fromkeys((*one.evidence, *other.evidence))),
        tuple(dict.fromkeys((*one.covers, *other.covers))),
        best.condition_failed,
        one.kinds | other.kinds,
    )


class _Ids:
    """The ids of a trace, by which ranges are taken apart."""

    def __init__(self, events: Sequence[str]) -> None:
        self._events = events
        self._places = {event: place for place, event in enumerate(events)}
        self._left = _FAR

    def named(self, word: str) -> str:
        """An id as the trace has it: models like to put it in brackets."""
        return word if word in self._places else word.strip(" []()`'\"")

    def taken_apart(self, words: Iterable[str]) -> Iterator[str]:
        """Every id that is named, alone or by a range, or in a list with commas."""
        for word in words:
            for one in (word,) if word in self._places else word.split(","):
                yield from self._range(self.named(one))

    def _range(self, word: str) -> Iterator[str]:
        if word in self._places:
            yield word
            return
        for at in _DASH.finditer(word, 0, _LONGEST_RANGE):
            first, last = self.named(word[: at.start()]), self.named(word[at.end() :])
            if first in self._places and last in self._places:
                chosen = self._events[self._places[first] : self._places[last] + 1][: self._left]
                self._left -= len(chosen)
                yield from chosen
                return
        yield word
