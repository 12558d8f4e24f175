"""What a judge is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.core.judgement import Judgement
from planproof.core.model import Model, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
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
