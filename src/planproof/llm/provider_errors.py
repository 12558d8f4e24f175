"""Classify provider errors: cause, message without secrets, and whether to retry."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import cast

from pydantic_ai import exceptions as ai

from planproof.core.model import Cause, Usage

_MAX_MESSAGE_CHARS = 500
_MAX_CHAIN = 10
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
"""Phrases for an exceeded context length, for servers that send no error code for it."""


class RetryMode(Enum):
    """Retry after a failure: not at all, later, or with feedback on the invalid answer."""

    NO = auto()
    LATER = auto()
    WITH_FEEDBACK = auto()


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt. `retry_after` is the wait in seconds that the provider asked for."""

    cause: Cause
    message: str
    retry: RetryMode = RetryMode.NO
    retry_after: float | None = None


class AttemptFailed(Exception):
    """A failed attempt, with the usage it may still have cost."""

    def __init__(self, failure: Failure, usage: Usage | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.usage = usage or Usage(calls=1, cost=0.0)


class UnusableResponse(Exception):
    """A server sent a response that is too large, or that can be read in two ways."""


def classify_error(error: Exception, *, secrets: tuple[str, ...] = ()) -> Failure:
    """Classify an error of a provider's client; `secrets` are redacted from its message."""
    if unusable := _find_unusable_response(error):
        return Failure(Cause.INVALID_ANSWER, _clip(redact_secrets(secrets, str(unusable))))
    message = _clip(redact_secrets(secrets, _extract_error_message(error)))
    cause, retry = _classify_cause(error, message.lower())
    wait = error.retry_after if isinstance(error, ai.ModelAPIError) else None
    return Failure(cause, message, retry, wait)


def _find_unusable_response(error: BaseException | None) -> UnusableResponse | None:
    """Return the `UnusableResponse` that a client raised its own error from, if any."""
    for _ in range(_MAX_CHAIN):
        if error is None or isinstance(error, UnusableResponse):
            return error
        error = error.__cause__ or error.__context__
    return None


def _classify_cause(error: Exception, message: str) -> tuple[Cause, RetryMode]:
    for kind, cause, retry in _CAUSES_BY_ERROR:
        if isinstance(error, kind):
            if cause is Cause.BAD_REQUEST and any(phrase in message for phrase in _TOO_LONG):
                return Cause.TOO_LONG, RetryMode.NO
            return cause, retry
    if isinstance(error, ai.ModelHTTPError):
        if error.status_code in _RETRIED_CONFLICTS:
            return _RETRIED_CONFLICTS[error.status_code], RetryMode.LATER
        if error.status_code == 413:
            return Cause.TOO_LONG, RetryMode.NO
        if error.status_code < 500:
            return Cause.BAD_REQUEST, RetryMode.NO
    return Cause.UNAVAILABLE, RetryMode.LATER


_CAUSES_BY_ERROR: tuple[tuple[type[Exception], Cause, RetryMode], ...] = (
    (ai.ModelContextWindowExceededError, Cause.TOO_LONG, RetryMode.NO),
    (ai.ModelAuthenticationError, Cause.UNAUTHORIZED, RetryMode.NO),
    (ai.ModelNotFoundError, Cause.NOT_FOUND, RetryMode.NO),
    (ai.ModelRequestRejectedError, Cause.BAD_REQUEST, RetryMode.NO),
    (ai.ModelQuotaExceededError, Cause.RATE_LIMITED, RetryMode.NO),
    (ai.ModelRateLimitError, Cause.RATE_LIMITED, RetryMode.LATER),
    (ai.ModelRequestTimeout, Cause.TIMEOUT, RetryMode.LATER),
    (ai.ModelTimeoutError, Cause.TIMEOUT, RetryMode.LATER),
    (ai.ModelConnectionError, Cause.CONNECTION, RetryMode.LATER),
    (ai.ModelUnavailableError, Cause.UNAVAILABLE, RetryMode.LATER),
    (ai.ModelServerError, Cause.UNAVAILABLE, RetryMode.LATER),
    (ai.ContentFilterError, Cause.REFUSED, RetryMode.NO),
    # A response body that is not an answer, such as a proxy's error page.
    (ai.UnexpectedModelBehavior, Cause.UNAVAILABLE, RetryMode.LATER),
    (ai.UserError, Cause.BAD_REQUEST, RetryMode.NO),
    (TimeoutError, Cause.TIMEOUT, RetryMode.LATER),
    (OSError, Cause.CONNECTION, RetryMode.LATER),
)
"""The first match counts. Other errors without an HTTP status are treated as transient."""


def _extract_error_message(error: Exception) -> str:
    message = _find_message(error.body) if isinstance(error, ai.ModelAPIError) else None
    if isinstance(error, ai.ModelHTTPError):
        message = f"HTTP {error.status_code}: {message}" if message else f"HTTP {error.status_code}"
    return " ".join((message or str(error) or type(error).__name__).split())


def _clip(message: str) -> str:
    return message if len(message) <= _MAX_MESSAGE_CHARS else message[:_MAX_MESSAGE_CHARS] + " ..."


def _find_message(body: object) -> str | None:
    """Return the message in an error body: `{"message": ...}`, or the one in `{"error": ...}`.

    Bedrock's client capitalizes both keys.
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


_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_FIELDS = ("api_key", "auth_token")
_SHORTEST = 5
"""Shorter values are placeholders such as `none`, and may be ordinary words."""


def collect_secrets(client: object) -> tuple[str, ...]:
    """Return the keys of a provider's client, and those in the environment it may have read."""
    inner = getattr(client, "_api_client", None)
    values = [getattr(item, name, None) for item in (client, inner) for name in _FIELDS]
    values += [value for name, value in os.environ.items() if _SECRET_NAME.search(name)]
    secrets = {item for item in values if isinstance(item, str) and len(item) >= _SHORTEST}
    return tuple(sorted(secrets, key=len, reverse=True))


def redact_secrets(secrets: tuple[str, ...], text: str) -> str:
    """Replace every secret in a text with `***`."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
