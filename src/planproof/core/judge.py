"""The interface of judges: protocols, model options, and the judgement that they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

from planproof.core.catalogue import Catalogue
from planproof.core.content import Content
from planproof.core.contract import Contract
from planproof.core.finding import Findings
from planproof.core.model import Model, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import ContractSummary, Opinion, RejectedEvidence, Samples
from planproof.core.vocabulary import Vocabulary


class HasFingerprint(Protocol):
    """The name and fingerprint of a judge."""

    @property
    def name(self) -> str:
        """The name under which the judge is registered."""
        ...

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever the judge's answers may change."""
        ...


class Judge(HasFingerprint, Protocol):
    """Determines the status of each step and the extra actions; gives no score."""

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Check the trace against the plan."""
        ...


class ModelJudge(HasFingerprint, Protocol):
    """A judge that asks a model. Raises `ModelFailed` when it gets no valid answer."""

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Check the trace against the plan; the judgement includes usage, models and warnings."""
        ...

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the questions that would be asked, as far as they do not depend on answers."""
        ...


AnyJudge: TypeAlias = Judge | ModelJudge


class WorkLimitExceeded(Exception):
    """A case is too large for a judge; the verdict is `judge_failed` with the cause `limit`."""

    cause = "limit"


@runtime_checkable
class ContractChecker(Protocol):
    """A judge that can be given a contract; the steps of the contract are then the plan."""

    @property
    def contract(self) -> Contract | None:
        """The contract; None if it was given none."""
        ...

    @property
    def summary(self) -> ContractSummary | None:
        """What verdicts say about the contract."""
        ...

    @property
    def allow_drift(self) -> bool:
        """True if a given plan may differ from the one that the contract was compiled from."""
        ...

    def bind(self, metadata: Mapping[str, object]) -> AnyJudge:
        """Return the judge with the contract's variables bound to the metadata of a case."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options for a judge that asks a model.

    `budget` is in characters per request, `deadline` in seconds per case. `doubt` is how much doubt
    `rules` may leave before `cascade` asks a model. `sample` distinguishes repeats of a judgement.
    `template` is the text of a prompt template that replaces the judge's own; `image_urls` allows
    image URLs to be passed on. With a `contract`, `cascade` asks only about what it leaves open;
    `variables` are values of the contract's variables. `catalogue` are the agent's tools, for a
    model that compiles a contract.
    """

    budget: int = 120_000
    deadline: float = 120.0
    doubt: float = 0.03
    sample: int = 0
    template: str | None = None
    image_urls: bool = False
    contract: Contract | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    allow_drift: bool = False
    catalogue: Catalogue | None = None


class JudgeFactory(Protocol):
    """The type of entry points in the group `planproof.judges`; usually the judge's class."""

    def __call__(self, *, vocabulary: Vocabulary) -> Judge:
        """Return a judge that uses this vocabulary of tool names."""
        ...


class ModelJudgeFactory(Protocol):
    """The factory of a judge that asks a model, marked by `asks_model`."""

    asks_model: ClassVar[bool]
    """True for a judge that asks a model."""

    def __call__(
        self, *, vocabulary: Vocabulary, model: Model, options: ModelOptions
    ) -> ModelJudge:
        """Return a judge that asks this model with these options."""
        ...


PROMPT = "prompt"
"""The only judge whose score and reason come from a model; it gives no findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCoverage:
    """The part of a trace that a model was shown.

    `events` counts those shown with at least a line, `shortened` those whose text was cut,
    `windows` the requests they were divided into, and `images` the images sent along.
    """

    events: int
    shortened: int = 0
    windows: int = 1
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Findings to compute the score from; or, without findings, the model's score and reason.

    `models` are those that answered. `notes` belong to the coverage of the trace. `warnings`
    concern the judgement: rules that a reason breaks, instructions found in the trace. `contract`
    is the one that the model compiled.
    """

    findings: Findings | None = None
    score: float | None = None
    reason: str = ""
    models: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    shown: PromptCoverage | None = None
    notes: tuple[str, ...] = ()
    rejected: tuple[RejectedEvidence, ...] = ()
    warnings: tuple[str, ...] = ()
    samples: Samples | None = None
    panel: tuple[Opinion, ...] = ()
    contract: ContractSummary | None = None


def with_totals(chosen: Judgement, judgements: Sequence[Judgement]) -> Judgement:
    """Return a judgement with the models, usage and warnings of all of them."""
    return replace(
        chosen,
        models=tuple(dict.fromkeys(name for judgement in judgements for name in judgement.models)),
        usage=sum((judgement.usage for judgement in judgements), Usage()),
        warnings=tuple(
            dict.fromkeys(word for judgement in judgements for word in judgement.warnings)
        ),
    )
