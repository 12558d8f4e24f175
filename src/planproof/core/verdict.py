"""The verdict: outcome, score, reason, and the findings behind them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Literal, cast

from planproof.core.content import Json
from planproof.core.finding import Extra, Findings, StepFinding
from planproof.core.json_values import is_list, is_object
from planproof.core.plan import InForce
from planproof.core.pointer import escape
from planproof.core.usage import Usage
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import TypeAdapter


SCHEMA_VERSION = 2
"""The version of a verdict's JSON. In version 1 the confidence of a finding was `sureness`."""


class Outcome(StrEnum):
    """Whether a case could be judged; only a scored verdict has a score.

    `no_events`: the trace is empty. `not_understood`: it is not, but less than half of what the
    agent did in it was read.
    """

    SCORED = "scored"
    NO_PLAN = "no_plan"
    NO_EVENTS = "no_events"
    NOT_UNDERSTOOD = "not_understood"
    INVALID_INPUT = "invalid_input"
    JUDGE_FAILED = "judge_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """Which plan the trace was held against.

    For a plan that was found in the trace: the event that declared it, and its pointer; by what
    `sort` of declaration and by whom; whether before the first action. What came before the event
    was not judged. `replans` are the events of later plans, `rejected` those of plans that the
    user turned down. `in_force` says whether the `first` plan was held to throughout, or each until
    the next and the `latest` to the end; `steps` are those of the first or the latest.
    """

    origin: str
    steps: int
    event: str | None = None
    pointer: str | None = None
    sort: str | None = None
    declared_by: str | None = None
    before_acting: bool | None = None
    replans: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    in_force: InForce | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the trace was read, by which reader, and what was left out.

    Where a model was asked: how many events it was `shown`, how many of them `shortened`, in how
    many `windows`.
    """

    reader: str
    events: int
    by_kind: dict[str, int] = field(default_factory=dict[str, int])
    skipped: int = 0
    notes: tuple[str, ...] = ()
    shown: int | None = None
    shortened: int | None = None
    windows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """Which judge gave the verdict; the fingerprint changes whenever its answers may.

    `models` are those that it asked.
    """

    name: str
    fingerprint: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedEvidence:
    """Evidence that a model named and the program did not accept, and why.

    `step` is the number of the step that it was named for; None for an extra.
    """

    step: str | None
    event: str
    quote: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What the same question gave when it was asked several times.

    `agreement` is the share of steps (of scores, where there are no findings) on which all of them
    agree, `spread` the distance between the highest and the lowest score.
    """

    scores: tuple[float, ...]
    median: float
    agreement: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one model of a panel came to."""

    model: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """SHA-256 digests of what was judged."""

    task: str
    plan: str
    trace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestBetter:
    """The smallest change of findings that would reach the next level."""

    score: float
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One case, judged; or the reason why it could not be.

    `cause` is that of a judge's failure, where it is known. Where a model was asked: its `cost`,
    the evidence that was `rejected`, what the `samples` or the `panel` said, and `warnings`.
    """

    outcome: Outcome
    reason: str
    score: float | None = None
    level: float | None = None
    id: str | None = None
    steps: tuple[StepFinding, ...] = ()
    extras: tuple[Extra, ...] = ()
    nearest_better: NearestBetter | None = None
    plan: PlanSummary | None = None
    coverage: Coverage | None = None
    judge: JudgeSummary | None = None
    inputs: Inputs | None = None
    cause: str | None = None
    cost: Usage | None = None
    rejected: tuple[RejectedEvidence, ...] = ()
    warnings: tuple[str, ...] = ()
    samples: Samples | None = None
    panel: tuple[Opinion, ...] = ()
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    schema: Literal[2] = SCHEMA_VERSION

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as built-in types, which is much faster than nested dataclasses."""
        from msgspec import to_builtins  # noqa: PLC0415 - only with several processes

        # Metadata is kept as is: it may be any value that a caller gave.
        return (_rebuild, (to_builtins(replace(self, metadata={})), self.metadata))

    @property
    def findings(self) -> Findings:
        """The findings on steps and extras."""
        return Findings(self.steps, self.extras)

    def brief(self) -> dict[str, float | str | None]:
        """Return exactly the two fields of the specification; the score is null unless `scored`."""
        return {"score": self.score, "reason": self.reason}

    def full(self) -> dict[str, Json]:
        """Return the whole verdict as JSON values, as `--format full` prints it."""
        return {
            "schema": self.schema,
            "id": self.id,
            "outcome": self.outcome.value,
            "score": self.score,
            "level": self.level,
            "reason": self.reason,
            "steps": [to_json_values(step) for step in self.steps],
            "extras": [to_json_values(extra) for extra in self.extras],
            "nearest_better": self.nearest_better and to_json_values(self.nearest_better),
            "plan": self.plan and to_json_values(self.plan),
            "coverage": self.coverage and to_json_values(self.coverage),
            "judge": self.judge and to_json_values(self.judge),
            "inputs": self.inputs and to_json_values(self.inputs),
            "cause": self.cause,
            "cost": self.cost and to_json_values(self.cost),
            "rejected": to_json_values(self.rejected),
            "warnings": list(self.warnings),
            "samples": self.samples and to_json_values(self.samples),
            "panel": to_json_values(self.panel),
            "metadata": self.metadata,
        }


def _rebuild(fields: Json, metadata: dict[str, Json]) -> Verdict:
    from msgspec import convert  # noqa: PLC0415 - as above

    return replace(convert(fields, Verdict), metadata=metadata)


def to_json_values(obj: object) -> Json:
    """Convert a data class, and everything in it, to JSON values."""
    # Many times faster than `dataclasses.asdict`, which copies every leaf.
    if isinstance(obj, StrEnum):
        return obj.value
    if isinstance(obj, tuple):
        items = cast("tuple[object, ...]", obj)
        return [item if type(item) in _LEAVES else to_json_values(item) for item in items]
    slots: tuple[str, ...] | None = getattr(obj, "__slots__", None)
    if slots is None:
        return obj
    items_by_slot = ((slot, getattr(obj, slot)) for slot in slots)
    return {
        slot: value if type(value) in _LEAVES else to_json_values(value)
        for slot, value in items_by_slot
    }


_LEAVES = frozenset((str, int, float, bool, NoneType))


def upgrade_verdict(value: Json) -> Json:
    """Return a verdict of an older schema version in the current form; other values as they are."""
    if not is_object(value) or "schema" in value:
        return value
    upgraded: dict[str, Json] = {**value, "schema": SCHEMA_VERSION}
    for name in ("steps", "extras"):
        if is_list(findings := value.get(name)):
            upgraded[name] = [_rename_confidence(finding) for finding in findings]
    return upgraded


def _rename_confidence(finding: Json) -> Json:
    if not is_object(finding) or "confidence" in finding:
        return finding
    return {("confidence" if key == "sureness" else key): finding[key] for key in finding}


def parse_verdict(value: Json) -> Verdict:
    """Parse a verdict from a JSON value: the inverse of `Verdict.full()`."""
    from msgspec import ValidationError, convert  # noqa: PLC0415 - only here

    try:
        return convert(upgrade_verdict(value), Verdict)
    except ValidationError as error:
        raise InvalidInput(
            f"is no full verdict: {error}.",
            advice="Give what `--format full` prints or `planproof run` writes.",
        ) from error


def validate_verdict(value: Json) -> Verdict | tuple[str, ...]:
    """Return the verdict without id and metadata, or a message for each error in its shape."""
    from pydantic import ValidationError  # noqa: PLC0415 - heavy, and only here

    if not is_object(value):
        return ("The verdict is no JSON object.",)
    # The id and metadata come from the case; no check depends on them.
    bare: dict[str, Json] = {**upgrade_verdict(value), "id": None, "metadata": {}}
    try:
        return _adapter().validate_json(json.dumps(bare), strict=True)
    except ValidationError as error:
        return tuple(
            "".join(f"/{escape(str(part))}" for part in problem["loc"]) + f": {problem['msg']}."
            for problem in error.errors(include_url=False, include_input=False)
        )
    except (ValueError, TypeError, RecursionError) as error:
        return (f"The verdict is no JSON value: {error}",)


@cache
def _adapter() -> TypeAdapter[Verdict]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - heavy, and only here

    return TypeAdapter(Verdict)
