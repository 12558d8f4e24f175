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
from planproof.core.trace import RecordKind
from planproof.core.usage import Usage
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import TypeAdapter


SCHEMA_VERSION = 2
"""The version of a verdict's JSON; version 1 had another name for the confidence of findings."""
LOW_CONFIDENCE = 0.5
"""A level with a lower confidence is more likely wrong than right."""
_OLD_CONFIDENCE = "sureness"  # words: exempt


class Outcome(StrEnum):
    """The outcome of judging a case; only a `scored` verdict has a score."""

    SCORED = "scored"
    """The case was judged."""
    NO_PLAN = "no_plan"
    """No plan was given and none is declared in the trace, or the plan has no steps."""
    NO_EVENTS = "no_events"
    """The trace is empty."""
    NOT_UNDERSTOOD = "not_understood"
    """The trace is not empty, but less than half of the agent's activity in it was read."""
    INVALID_INPUT = "invalid_input"
    """The input can't be read."""
    JUDGE_FAILED = "judge_failed"
    """The judge failed, for the `cause` in the verdict; or planproof itself failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """The plan that the trace was judged against.

    For a plan declared in the trace: `event` and `pointer` say where, `sort` is the type of the
    declaration, `declared_by` is who declared it, and `before_acting` is true if no action came
    before it. Earlier events were not judged. `replans` are the events of later plans, `rejected`
    those of plans that the user rejected. `in_force` is `first` if the first plan applied
    throughout, and `latest` if each plan applied until the next one; `steps` is the number of steps
    of the first or the latest plan.
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

    `skipped` counts parts of the source that gave no event, `unread_characters` the text in them.
    If a model was asked: the number of events `shown` to it, how many of them were `shortened`, and
    the number of `windows` that the trace was divided into. With the reader `records`, `kinds` are
    those that the model gave to the records, as far as they were accepted.
    """

    reader: str
    events: int
    by_kind: dict[str, int] = field(default_factory=dict[str, int])
    skipped: int = 0
    unread_characters: int = 0
    notes: tuple[str, ...] = ()
    shown: int | None = None
    shortened: int | None = None
    windows: int | None = None
    kinds: tuple[RecordKind, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """The judge that gave the verdict, and the models that it asked.

    The `fingerprint` changes whenever the judge's answers may change.
    """

    name: str
    fingerprint: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSummary:
    """The contract that the trace was checked against.

    `plan`, `catalogue` and `compiler` say where it comes from. A contract sees actions only:
    messages and reasoning that no step names are not reported as extras.
    """

    digest: str
    name: str | None = None
    plan: str
    catalogue: str
    compiler: str
    extras_judged: Literal["actions"] = "actions"


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedEvidence:
    """Evidence that a model cited and the program rejected, and why.

    `step` is the number of the step that it was cited for; None for an extra.
    """

    step: str | None
    event: str
    quote: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The results of asking the same question several times.

    `agreement` is the share of steps on which all samples agree (of scores, if there are no
    findings); `spread` is the difference between the highest and the lowest score.
    """

    scores: tuple[float, ...]
    median: float
    agreement: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The score and reason of one model of a panel."""

    model: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """SHA-256 digests of the task, plan and trace that were judged."""

    task: str
    plan: str
    trace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestBetter:
    """The smallest change of findings that would reach a higher score."""

    score: float
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Shares for sorting cases and watching trends; they do not replace the score.

    `step_share` is the share of counted steps that were executed, `order_share` the share in plan
    order of those that began and have a fixed position, and `action_share` the share of the agent's
    actions that steps cover. A share of nothing is None.
    """

    step_share: float | None = None
    order_share: float | None = None
    action_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one case; if it could not be judged, the `outcome` and `reason` say why.

    `level` is the score rounded down to a level of the table, `confidence` the probability that it
    is rightly at least 0.75, or rightly below, and `nearest_better` the smallest change that would
    have given a higher one. `steps` and `extras` are the findings, `measures` are shares of them.
    `plan`, `coverage`, `judge`, `contract` and `inputs` say what was judged and how. `cause` is the
    known cause of a judge's failure. If a model was asked: `cost`, the evidence that was
    `rejected`, `warnings`, and the results of `samples` or a `panel`.
    """

    outcome: Outcome
    reason: str
    score: float | None = None
    level: float | None = None
    confidence: float | None = None
    id: str | None = None
    steps: tuple[StepFinding, ...] = ()
    extras: tuple[Extra, ...] = ()
    nearest_better: NearestBetter | None = None
    measures: Measures | None = None
    plan: PlanSummary | None = None
    coverage: Coverage | None = None
    judge: JudgeSummary | None = None
    contract: ContractSummary | None = None
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

    @property
    def has_low_confidence(self) -> bool:
        """Whether the level is more likely wrong than right, as far as its confidence is known."""
        return self.confidence is not None and self.confidence < LOW_CONFIDENCE

    def is_below_confidence(self, minimum: float | None) -> bool:
        """Return whether there is a score, and its confidence is below a minimum or not known."""
        if self.score is None or minimum is None:
            return False
        return self.confidence is None or self.confidence < minimum

    def brief(self) -> dict[str, float | str | None]:
        """Return only `score` and `reason`; the score is None unless the outcome is `scored`."""
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
            "confidence": self.confidence,
            "steps": [to_json_values(step) for step in self.steps],
            "extras": [to_json_values(extra) for extra in self.extras],
            "nearest_better": self.nearest_better and to_json_values(self.nearest_better),
            "measures": self.measures and to_json_values(self.measures),
            "plan": self.plan and to_json_values(self.plan),
            "coverage": self.coverage and to_json_values(self.coverage),
            "judge": self.judge and to_json_values(self.judge),
            "contract": self.contract and to_json_values(self.contract),
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
    return {("confidence" if key == _OLD_CONFIDENCE else key): finding[key] for key in finding}


def parse_verdict(value: Json) -> Verdict:
    """Parse a verdict from a JSON value: the inverse of `Verdict.full()`."""
    from msgspec import ValidationError, convert  # noqa: PLC0415 - only here

    try:
        return convert(upgrade_verdict(value), Verdict)
    except ValidationError as error:
        raise InvalidInput(
            f"not a full verdict: {error}.",
            advice="Pass the output of `planproof judge --format full` or `planproof run`.",
        ) from error


def validate_verdict(value: Json) -> Verdict | tuple[str, ...]:
    """Return the verdict without id and metadata, or a message for each error in its shape."""
    from pydantic import ValidationError  # noqa: PLC0415 - heavy, and only here

    if not is_object(value):
        return ("The verdict is not a JSON object.",)
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
        return (f"The verdict is not a JSON value: {error}",)


@cache
def _adapter() -> TypeAdapter[Verdict]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - heavy, and only here

    return TypeAdapter(Verdict)
