"""Model client: look up the cache, then ask the provider within rate, cost and time limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelResponse

from planproof.core.async_bridge import OnePerLoop, OpenWhileLoopRuns
from planproof.core.digests import compute_fingerprint
from planproof.core.model import Answer, Cause, ModelFailed, Question, Usage
from planproof.llm.answer_cache import AnswerCache, compute_key
from planproof.llm.http_connections import ModelConnection
from planproof.llm.model_settings import ModelSettings
from planproof.llm.prices import estimate_cost, estimate_tokens
from planproof.llm.provider_errors import (
    AttemptFailed,
    Failure,
    RetryMode,
    classify_error,
    collect_secrets,
)
from planproof.llm.provider_requests import (
    InvalidAnswer,
    build_messages,
    build_request_parameters,
    build_settings,
    extract_text,
    extract_usage,
    find_refusal,
    is_refusal,
    parse_answer,
)
from planproof.llm.rate_limits import DeadlineExceeded, RateLimiter, RetryPolicy


@dataclass(frozen=True, slots=True)
class _Reply:
    value: BaseModel
    usage: Usage


class ModelClient:
    """One model of one provider. Its HTTP client is shared by all questions of an event loop."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], ModelConnection],
        *,
        identity: tuple[str, ...],
        settings: ModelSettings,
        cache: AnswerCache | None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._cache = cache
        self._fingerprint = compute_fingerprint(
            name, *identity, settings.temperature, settings.seed
        )
        self._clients = OnePerLoop(lambda: _LoopClient(connect(), settings))

    @property
    def name(self) -> str:
        """Provider and model, as in `openai:NAME`."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """A hash of the model, its address and every setting that affects its answers."""
        return self._fingerprint

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        """Return the answer from the cache or the provider.

        Raises `ModelFailed` with the cause if there is no answer before the deadline.
        """
        cached = self._find_cached(question)
        if cached is not None:
            return Answer(cached, Usage(cost=0.0, from_cache=1), self._name)
        paid: list[Usage] = []
        retries = RetryPolicy(deadline)
        try:
            reply = await self._request_answer(question, retries, paid)
        except (AttemptFailed, DeadlineExceeded):
            # A provider's own error may contain an API key: chain nothing, report the redacted
            # text.
            raise self._build_failure(retries.get_final_failure(), paid) from None
        usage = sum(paid, Usage())
        if self._cache is not None:
            key = compute_key(question, self._fingerprint)
            self._cache.store(key, reply.value.model_dump_json(), model=self._name, usage=usage)
        return Answer(reply.value, usage, self._name)

    async def _request_answer(
        self, question: Question, retries: RetryPolicy, paid: list[Usage]
    ) -> _Reply:
        client = self._clients.get()
        await client.enter()
        feedback: str | None = None
        while True:
            try:
                reply = await client.attempt(question, feedback, retries)
            except AttemptFailed as failed:
                paid.append(failed.usage)
                wait = retries.compute_delay(failed.failure)
                if wait is None:
                    raise
                if failed.failure.retry is RetryMode.WITH_FEEDBACK:
                    feedback = failed.failure.message
                await asyncio.sleep(wait)
            else:
                paid.append(reply.usage)
                return reply

    def _find_cached(self, question: Question) -> BaseModel | None:
        if self._cache is None:
            return None
        text = self._cache.find(compute_key(question, self._fingerprint))
        try:
            return None if text is None else parse_answer(text, question.answer)
        except InvalidAnswer:
            return None  # possibly stored by another version; a new answer replaces it

    def _build_failure(self, failure: Failure, paid: list[Usage]) -> ModelFailed:
        usage = sum(paid, Usage())
        return ModelFailed(failure.cause, failure.message, model=self._name, usage=usage)


class _LoopClient:
    """A provider's client and its rate limiter, for one event loop."""

    def __init__(self, connection: ModelConnection, settings: ModelSettings) -> None:
        self._model = model = connection.model
        self._settings = settings
        self._rate_limiter = RateLimiter(settings.concurrency, rpm=settings.rpm, tpm=settings.tpm)
        self._open_connection = OpenWhileLoopRuns(connection)
        self._secrets = collect_secrets(getattr(model, "client", None))

    async def enter(self) -> None:
        """Open the client for as long as the loop runs."""
        await self._open_connection.enter()

    async def attempt(
        self, question: Question, feedback: str | None, retries: RetryPolicy
    ) -> _Reply:
        """Send the question once."""
        tokens = estimate_tokens(question)
        spending = self._settings.spending
        estimate = 0.0
        if spending.limit is not None:
            estimate = estimate_cost(self._model, tokens) or 0.0
        async with self._rate_limiter.acquire(tokens, retries.deadline):
            if not spending.reserve(estimate):
                message = f"the next question could exceed the limit of {spending.limit:g} dollars"
                raise AttemptFailed(Failure(Cause.COST_LIMIT, message), Usage())
            cost: float | None = estimate  # a cancelled call may still be billed
            try:
                response = await self._send(question, feedback, retries)
                usage = extract_usage(response)
                cost = usage.cost
            except AttemptFailed as failed:
                cost = failed.usage.cost
                raise
            finally:
                spending.settle(estimate, cost)
        self._rate_limiter.record_success()
        return _Reply(_parse_response(response, question, usage), usage)

    async def _send(
        self, question: Question, feedback: str | None, retries: RetryPolicy
    ) -> ModelResponse:
        model = self._model
        request = model_request(
            model,
            build_messages(question, model, feedback=feedback),
            model_settings=build_settings(question, model, self._settings),
            model_request_parameters=build_request_parameters(question, model),
        )
        try:
            async with asyncio.timeout(retries.attempt_timeout):
                return await request
        except TimeoutError as error:
            failure = Failure(Cause.TIMEOUT, "the request timed out", RetryMode.LATER)
            raise AttemptFailed(failure, self._estimate_cancelled_usage(question)) from error
        except Exception as error:
            # Each provider's client raises its own exceptions, including undocumented ones.
            failure = classify_error(error, secrets=self._secrets)
            if failure.cause is Cause.RATE_LIMITED and failure.retry is RetryMode.LATER:
                self._rate_limiter.back_off(failure.retry_after)
            raise AttemptFailed(failure) from error

    def _estimate_cancelled_usage(self, question: Question) -> Usage:
        """Return the estimated usage of a call that timed out: the provider may bill it."""
        tokens = estimate_tokens(question)
        return Usage(calls=1, tokens_in=tokens, cost=estimate_cost(self._model, tokens))


def _parse_response(response: ModelResponse, question: Question, usage: Usage) -> BaseModel:
    refusal = find_refusal(response)
    text = "" if refusal else extract_text(response)
    if refusal or is_refusal(text):
        message = " ".join((refusal or text).split())[:500]
        raise AttemptFailed(Failure(Cause.REFUSED, message), usage)
    try:
        return parse_answer(text, question.answer)
    except InvalidAnswer as invalid:
        message = str(invalid)
        if response.finish_reason == "length":
            message = f"The answer was cut off at the maximum length; be brief. {message}"
        failure = Failure(Cause.INVALID_ANSWER, message, RetryMode.WITH_FEEDBACK)
        raise AttemptFailed(failure, usage) from invalid
