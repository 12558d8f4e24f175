"""The interface to language models: questions, answers, usage and failures.

Judges see models only through this interface; `planproof.llm` talks to the providers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from planproof.core.content import Image
from planproof.core.usage import Usage
from planproof.errors import PlanproofError

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model: instructions, the case as data, and the type of the answer.

    `template` is the digest of the prompt template. `sample` distinguishes repeats of a question:
    each has its own seed and cache entry.
    """

    instructions: str
    parts: tuple[str | Image, ...]
    answer: type[BaseModel]
    template: str
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A valid answer, the name of the model that gave it, and its usage."""

    value: BaseModel
    usage: Usage
    model: str


class Model(Protocol):
    """A model that answers in the requested form, or raises `ModelFailed`."""

    @property
    def name(self) -> str:
        """Provider and model, as in `openai:NAME`."""
        ...

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever the answers may change."""
        ...

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        """Return the answer before the monotonic clock reaches `deadline`."""
        ...


class Cause(StrEnum):
    """The reason why a model gave no valid answer."""

    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    CONNECTION = "connection"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    REFUSED = "refused"
    INVALID_ANSWER = "invalid_answer"
    TOO_LONG = "too_long"
    COST_LIMIT = "cost_limit"


_ADVICE = {
    Cause.TIMEOUT: "Increase --deadline, or lower --concurrency.",
    Cause.RATE_LIMITED: "Lower --rpm, --tpm or --concurrency, or increase --deadline.",
    Cause.UNAVAILABLE: "The provider is unavailable; try again later.",
    Cause.CONNECTION: "Check the network and the address (--base-url).",
    Cause.UNAUTHORIZED: "Check the API key in the environment and its permissions.",
    Cause.NOT_FOUND: "Check the model name and the address (--base-url).",
    Cause.INVALID_ANSWER: "Use a stronger model, which keeps to the requested format.",
    Cause.TOO_LONG: "Lower --budget, or use a model with a larger context window.",
    Cause.COST_LIMIT: "Raise --max-cost to continue.",
}


class ModelFailed(PlanproofError):
    """A model gave no valid answer: the cause, the provider's message, and the usage so far."""

    def __init__(
        self, cause: Cause, detail: str, *, model: str | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(f"{cause.value}: {detail}", where=model, advice=_ADVICE.get(cause))
        self.cause = cause
        self.detail = detail
        self.model = model
        self.usage = usage or Usage()

    def __reduce__(self) -> tuple[object, ...]:
        """Keep all attributes when pickled."""
        return (_rebuild_model_failed, (self.cause, self.detail, self.model, self.usage))


def _rebuild_model_failed(
    cause: Cause, detail: str, model: str | None, usage: Usage
) -> ModelFailed:
    return ModelFailed(cause, detail, model=model, usage=usage)
