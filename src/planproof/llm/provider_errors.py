"""What went wrong at a provider: its cause from the fixed list, its words, whether to try again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import cast

from pydantic_ai import exceptions as ai

from planproof.core.model import Cause, Usage
from planproof.llm.key_masking import without

_LONGEST_WORDS = 500
_RETRIED_CONFLICTS = {408: Cause.TIMEOUT, 409: Cause.UNAVAILABLE, 425: Cause.UNAVAILABLE}
_TOO_LONG = (
    "context length",
    "context size",
    "context window",
    "context_length",
    "input is too long",
    "maximum context",
    "prompt is too long",
    "too many tokens",
)
"""How servers word it that send no code for it."""


class Again(Enum):
    """Whether a question is asked again after a failure."""

    NO = auto()
    LATER = auto()
    WITH_COMPLAINT = auto()


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt. `wait` is how long the provider asked to be left alone, in seconds."""

    cause: Cause
    words: str
    again: Again = Again.NO
    wait: float | None = None


class AttemptFailed(Exception):
    """An attempt that came to nothing, and what it cost all the same."""

    def __init__(self, failure: Failure, usage: Usage | None = None) -> None:
        super().__init__(failure.words)
        self.failure = failure
        self.usage = usage or Usage(calls=1, cost=0.0)


def failure_of(error: Exception, *, secrets: tuple[str, ...] = ()) -> Failure:
    """What an error of a provider's client means; `secrets` never show in its words."""
    words = _clipped(without(secrets, _words(error)))
    cause, again = _cause(error, words.lower())
    wait = error.retry_after if isinstance(error, ai.ModelAPIError) else None
    return Failure(cause, words, again, wait)


def _cause(error: Exception, words: str) -> tuple[Cause, Again]:
    for kind, cause, again in _KINDS:
        if isinstance(error, kind):
            if cause is Cause.BAD_REQUEST and any(phrase in words for phrase in _TOO_LONG):
                return Cause.TOO_LONG, Again.NO
            return cause, again
    if isinstance(error, ai.ModelHTTPError):
        if error.status_code in _RETRIED_CONFLICTS:
            return _RETRIED_CONFLICTS[error.status_code], Again.LATER
        if error.status_code == 413:
            return Cause.TOO_LONG, Again.NO
        if error.status_code < 500:
            return Cause.BAD_REQUEST, Again.NO
    return Cause.UNAVAILABLE, Again.LATER


_KINDS: tuple[tuple[type[Exception], Cause, Again], ...] = (
    (ai.ModelContextWindowExceededError, Cause.TOO_LONG, Again.NO),
    (ai.ModelAuthenticationError, Cause.UNAUTHORIZED, Again.NO),
    (ai.ModelNotFoundError, Cause.NOT_FOUND, Again.NO),
    (ai.ModelRequestRejectedError, Cause.BAD_REQUEST, Again.NO),
    (ai.ModelQuotaExceededError, Cause.RATE_LIMITED, Again.NO),
    (ai.ModelRateLimitError, Cause.RATE_LIMITED, Again.LATER),
    (ai.ModelRequestTimeout, Cause.TIMEOUT, Again.LATER),
    (ai.ModelTimeoutError, Cause.TIMEOUT, Again.LATER),
    (ai.ModelConnectionError, Cause.CONNECTION, Again.LATER),
    (ai.ModelUnavailableError, Cause.UNAVAILABLE, Again.LATER),
    (ai.ModelServerError, Cause.UNAVAILABLE, Again.LATER),
    (ai.ContentFilterError, Cause.REFUSED, Again.NO),
    # A body that is no answer at all, such as the page of a proxy.
    (ai.UnexpectedModelBehavior, Cause.UNAVAILABLE, Again.LATER),
    (ai.UserError, Cause.BAD_REQUEST, Again.NO),
    (TimeoutError, Cause.TIMEOUT, Again.LATER),
    (OSError, Cause.CONNECTION, Again.LATER),
)
"""The first that fits. What is not here and has no HTTP status is taken for a passing fault."""


def _words(error: Exception) -> str:
    said = _message_in(error.body) if isinstance(error, ai.ModelAPIError) else None
    if isinstance(error, ai.ModelHTTPError):
        said = f"HTTP {error.status_code}: {said}" if said else f"HTTP {error.status_code}"
    return " ".join((said or str(error) or type(error).__name__).split())


def _clipped(words: str) -> str:
    return words if len(words) <= _LONGEST_WORDS else words[:_LONGEST_WORDS] + " ..."


def _message_in(body: object) -> str | None:
    """The message in an error's body: `{"message": ...}`, or that in `{"error": ...}`.

    Bedrock's client writes both with a capital letter.
    """
    for _ in range(3):
        if isinstance(body, str):
            return body
        if not isinstance(body, dict):
            return None
        fields = cast("dict[str, object]", body)
        named = {name.lower(): value for name, value in fields.items()}
        body = named.get("error") or named.get("message")
    return None
