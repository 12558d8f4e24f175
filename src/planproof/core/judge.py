"""What a judge is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, TypeAlias

from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.core.model import Model, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import Opinion, RejectedEvidence, Samples
from planproof.core.vocabulary import Vocabulary


class HasFingerprint(Protocol):
    """What every judge says of itself."""

    @property
    def name(self) -> str:
        """The name that it is registered under."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the judge's answers may."""
        ...


class Judge(HasFingerprint, Protocol):
    """Finds what became of each step and what was done besides; gives no score."""

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Hold the trace against the plan."""
        ...


class ModelJudge(HasFingerprint, Protocol):
    """A judge that asks a model. Raises `ModelFailed` when it gets no valid answer."""

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Hold the trace against the plan, and say how that came about."""
        ...

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """What would be asked about a case, as far as it does not depend on answers."""
        ...


AnyJudge: TypeAlias = Judge | ModelJudge


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a judge is to ask its model.

    `budget` is in characters a request, `deadline` in seconds a case. `doubt` is how much `rules`
    may leave before `cascade` asks. `sample` tells repeats of a judgement apart. `template` is the
    text of one that replaces the judge's own; `image_urls` lets addresses of images be passed on.
    """

    budget: int = 120_000
    deadline: float = 120.0
    doubt: float = 0.03
    sample: int = 0
    template: str | None = None
    image_urls: bool = False


class JudgeFactory(Protocol):
    """What the entry points in the group `planproof.judges` name, as a rule the judge's class."""

    def __call__(self, *, vocabulary: Vocabulary) -> Judge:
        """A judge that knows tools by this vocabulary."""
        ...


class ModelJudgeFactory(Protocol):
    """The same for a judge that asks a model, which it says by `asks_model`."""

    asks_model: ClassVar[bool]

    def __call__(
        self, *, vocabulary: Vocabulary, model: Model, options: ModelOptions
    ) -> ModelJudge:
        """A judge that asks this model, in this way."""
        ...


PROMPT = "prompt"
"""The one judge whose score and words are a model's own; it gives no findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCoverage:
    """How much of a trace a model was shown.

    `events` had at least a line, `shortened` are those of them whose text was cut; the whole took
    so many `windows`, and so many `images` went along.
    """

    events: int
    shortened: int = 0
    windows: int = 1
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Findings from which the score is computed; or, without them, the model's score and reason.

    `models` are those that answered. `notes` belong to the coverage of the trace. `warnings` are
    about the judgement: rules that a reason breaks, instructions that were found in the trace.
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


def with_totals(chosen: Judgement, judgements: Sequence[Judgement]) -> Judgement:
    """A judgement with what all of them cost and warn of."""
    return replace(
        chosen,
        models=tuple(dict.fromkeys(name for judgement in judgements for name in judgement.models)),
        usage=sum((judgement.usage for judgement in judgements), Usage()),
        warnings=tuple(
            dict.fromkeys(word for judgement in judgements for word in judgement.warnings)
        ),
    )
