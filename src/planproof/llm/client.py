"""A model that is asked: the cache first, then the provider, within limits and in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelResponse

from planproof.core.digests import fingerprint_of
from planproof.core.loop_resources import OnePerLoop, OpenWhileLoopRuns
from planproof.core.model import Answer, Cause, ModelFailed, Question, Usage
from planproof.llm.answer_cache import AnswerCache, key_of
from planproof.llm.answer_parsing import InvalidAnswer, read_answer, refuses
from planproof.llm.http_connections import Opened
from planproof.llm.key_masking import secrets_of
from planproof.llm.model_settings import ModelSettings
from planproof.llm.prices import estimated_price, estimated_tokens
from planproof.llm.provider_errors import Again, AttemptFailed, Failure, failure_of
from planproof.llm.provider_requests import (
    messages_of,
    parameters_of,
    refusal_in,
    settings_of,
    text_of,
    usage_of,
)
from planproof.llm.rate_limits import Gate, TooLate
from planproof.llm.retries import Patience


@dataclass(frozen=True, slots=True)
class _Reply:
    value: BaseModel
    usage: Usage


class AskedModel:
    """One model of one provider. Its HTTP client is shared by all questions of an event loop."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Opened],
        *,
        asked_with: tuple[str, ...],
        settings: ModelSettings,
        cache: AnswerCache | None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._cache = cache
        self._fingerprint = fingerprint_of(name, *asked_with, settings.temperature, settings.seed)
        self._clients = OnePerLoop(lambda: _Client(make(), settings))

    @property
    def name(self) -> str:
        """Provider and model, as in `openai:NAME`."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Changes with the model, its address, and every setting that decides its answers."""
        return self._fingerprint

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        """The answer, kept or new; `ModelFailed` with the cause when there is none in time."""
        kept = self._kept(question)
        if kept is not None:
            return Answer(kept, Usage(cost=0.0, from_cache=1), self._name)
        paid: list[Usage] = []
        patience = Patience(deadline)
        try:
            reply = await self._answered(question, patience, paid)
        except (AttemptFailed, TooLate):
            # A provider's own error may repeat a key; only words without it are told on.
            raise self._failed(patience.gave_up(), paid) from None
        usage = sum(paid, Usage())
        if self._cache is not None:
            key = key_of(question, self._fingerprint)
            self._cache.keep(key, reply.value.model_dump_json(), model=self._name, usage=usage)
        return Answer(reply.value, usage, self._name)

    async def _answered(self, question: Question, patience: Patience, paid: list[Usage]) -> _Reply:
        client = self._clients.here()
        await client.enter()
        wrong: str | None = None
        while True:
            try:
                reply = await client.attempt(question, wrong, patience)
            except AttemptFailed as failed:
                paid.append(failed.usage)
                wait = patience.wait_after(failed.failure)
                if wait is None:
                    raise
                if failed.failure.again is Again.WITH_COMPLAINT:
                    wrong = failed.failure.words
                await asyncio.sleep(wait)
            else:
                paid.append(reply.usage)
                return reply

    def _kept(self, question: Question) -> BaseModel | None:
        if self._cache is None:
            return None
        text = self._cache.find(key_of(question, self._fingerprint))
        try:
            return None if text is None else read_answer(text, question.answer)
        except InvalidAnswer:
            return None  # kept by another version, perhaps; a new one takes its place

    def _failed(self, failure: Failure, paid: list[Usage]) -> ModelFailed:
        usage = sum(paid, Usage())
        return ModelFailed(failure.cause, failure.words, model=self._name, usage=usage)


class _Client:
    """A provider's client and its gate, for one event loop."""

    def __init__(self, opened: Opened, settings: ModelSettings) -> None:
        self._model = model = opened.model
        self._settings = settings
        self._gate = Gate(settings.concurrency, rpm=settings.rpm, tpm=settings.tpm)
        self._open = OpenWhileLoopRuns(opened)
        self._secrets = secrets_of(getattr(model, "client", None))

    async def enter(self) -> None:
        """Open the client, for as long as the loop runs."""
        await self._open.enter()

    async def attempt(self, question: Question, wrong: str | None, patience: Patience) -> _Reply:
        """Ask once."""
        tokens = estimated_tokens(question)
        spending = self._settings.spending
        estimate = 0.0
        if spending.most is not None:
            estimate = estimated_price(self._model, tokens) or 0.0
        async with self._gate.turn(tokens, patience.deadline):
            if not spending.reserve(estimate):
                words = f"the next question could bring the run over {spending.most:g} dollars"
                raise AttemptFailed(Failure(Cause.COST_LIMIT, words), Usage())
            cost: float | None = estimate  # for what is called off may be billed all the same
            try:
                response = await self._response(question, wrong, patience)
                usage = usage_of(response)
                cost = usage.cost
            except AttemptFailed as failed:
                cost = failed.usage.cost
                raise
            finally:
                spending.settle(estimate, cost)
        self._gate.went_well()
        return _Reply(_value_in(response, question, usage), usage)

    async def _response(
        self, question: Question, wrong: str | None, patience: Patience
    ) -> ModelResponse:
        model = self._model
        request = model_request(
            model,
            messages_of(question, model, wrong=wrong),
            model_settings=settings_of(question, model, self._settings),
            model_request_parameters=parameters_of(question, model),
        )
        try:
            async with asyncio.timeout(patience.for_one_attempt):
                return await request
        except TimeoutError as error:
            failure = Failure(Cause.TIMEOUT, "there was no answer in time", Again.LATER)
            raise AttemptFailed(failure, self._called_off(question)) from error
        except Exception as error:
            # Five clients have each their own errors, and more than they document.
            failure = failure_of(error, secrets=self._secrets)
            if failure.cause is Cause.RATE_LIMITED and failure.again is Again.LATER:
                self._gate.too_much(failure.wait)
            raise AttemptFailed(failure) from error

    def _called_off(self, question: Question) -> Usage:
        """What a call may have cost that nobody waited for: estimated, for nobody told."""
        tokens = estimated_tokens(question)
        return Usage(calls=1, tokens_in=tokens, cost=estimated_price(self._model, tokens))


def _value_in(response: ModelResponse, question: Question, usage: Usage) -> BaseModel:
    refusal = refusal_in(response)
    text = "" if refusal else text_of(response)
    if refusal or refuses(text):
        said = " ".join((refusal or text).split())[:500]
        raise AttemptFailed(Failure(Cause.REFUSED, said), usage)
    try:
        return read_answer(text, question.answer)
    except InvalidAnswer as invalid:
        words = str(invalid)
        if response.finish_reason == "length":
            words = f"The answer was cut off at the longest that is allowed; be brief. {words}"
        failure = Failure(Cause.INVALID_ANSWER, words, Again.WITH_COMPLAINT)
        raise AttemptFailed(failure, usage) from invalid
