"""Asking a model: a question, its answer, what it cost, and how it can fail.

Judges see models only through this; who talks to providers stands in `planproof.llm`.
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
    """What a model is asked: the rules, the case as data, and the form of the answer.

    `template` is the digest of what the words were made from. `sample` tells repeats of one
    question apart: each has a seed, and a place in the cache, of its own.
    """

    instructions: str
    parts: tuple[str | Image, ...]
    answer: type[BaseModel]
    template: str
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A valid answer, from the model of this name, and what it took to get it."""

    value: BaseModel
    usage: Usage
    model: str


class Model(Protocol):
    """Something that answers questions in the form that they ask for, or raises `ModelFailed`."""

    @property
    def name(self) -> str:
        """Provider and model, as in `openai:NAME`."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever its answers may."""
        ...

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        """The answer, before the monotonic clock shows `deadline`."""
        ...


class Cause(StrEnum):
    """Why a model gave no valid answer."""

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
    Cause.TIMEOUT: "Allow more time (--deadline), or fewer questions at once (--concurrency).",
    Cause.RATE_LIMITED: "Ask more slowly (--rpm, --tpm, --concurrency), or allow more time.",
    Cause.UNAVAILABLE: "The provider is at fault; try again later.",
    Cause.CONNECTION: "Check the address (--base-url) and the network.",
    Cause.UNAUTHORIZED: "Check the key in the environment, and what it may be used for.",
    Cause.NOT_FOUND: "Check the model's name and the address (--base-url).",
    Cause.INVALID_ANSWER: "A stronger model keeps to the form that is asked for.",
    Cause.TOO_LONG: "Lower the budget (--budget), or take a model that reads more.",
    Cause.COST_LIMIT: "Raise --max-cost to go on.",
}


class ModelFailed(PlanproofError):
    """A model gave no valid answer: the cause, the provider's own words, what was paid so far."""

    def __init__(
        self, cause: Cause, detail: str, *, model: str | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(f"{cause.value}: {detail}", where=model, advice=_ADVICE.get(cause))
        self.cause = cause
        self.detail = detail
        self.model = model
        self.usage = usage or Usage()

    def __reduce__(self) -> tuple[object, ...]:
        """Keep everything when it crosses a process boundary."""
        return (_rebuild_model_failed, (self.cause, self.detail, self.model, self.usage))


def _rebuild_model_failed(
    cause: Cause, detail: str, model: str | None, usage: Usage
) -> ModelFailed:
    return ModelFailed(cause, detail, model=model, usage=usage)
