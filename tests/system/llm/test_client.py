"""Asking a model, with the real clients against a real server."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from traceback import format_exception
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from planproof.core.content import Image
from planproof.core.model import Answer, Cause, Model, ModelFailed, Question, Usage
from planproof.llm.model_settings import ModelSettings, SpendingLimit
from planproof.llm.providers import open_model
from tests.scripted_model import Behaviour, HttpError, ModelRequest, ScriptedModel
from tests.scripted_model.faults import MODES, SCORES
from tests.timeouts import TIMEOUT_SECONDS
from tests.virtual_time import VirtualTime

GOOD = json.dumps({"score": 0.5, "reason": "Step 2 is missing."})
PIXEL = b64encode(b"not looked at by anybody here").decode()


class ScoreAnswer(BaseModel):
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    reason: str


class OtherScoreAnswer(ScoreAnswer):
    """The same fields, to be filled in otherwise."""


QUESTION = Question("Judge.", ("The plan.", "The trace."), ScoreAnswer, "t1")
GOOGLE, BEDROCK = "google-gla:gemini-2.5-flash", "bedrock:anthropic.claude-3-haiku-20240307-v1:0"
DIALECTS = [
    "openai:x",
    "openai-responses:x",
    "anthropic:x",
    "anthropic:claude-sonnet-5",
    GOOGLE,
    BEDROCK,
]
KEYS = {
    "OPENAI_API_KEY": "sk-secret-of-mine",
    "ANTHROPIC_API_KEY": "sk-secret-of-mine",
    "GOOGLE_API_KEY": "sk-secret-of-mine",
    "AWS_ACCESS_KEY_ID": "sk-secret-of-mine",
    "AWS_SECRET_ACCESS_KEY": "sk-secret-of-mine",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module", autouse=True)
def warm_clients() -> None:
    """Load what is heavy before anything is timed."""
    with ScriptedModel(lambda asked: GOOD) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        for name in DIALECTS:
            ask(open_scripted(server, name))


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(lambda asked: GOOD) as running:
        yield running


def open_scripted(server: ScriptedModel, name: str = "openai:x", **settings: object) -> Model:
    address = server.url if name.startswith("openai") else server.root
    return open_model(name, base_url=address, settings=ModelSettings(**settings))  # pyright: ignore[reportArgumentType]


def ask(model: Model, question: Question = QUESTION, *, seconds: float = TIMEOUT_SECONDS) -> Answer:
    return asyncio.run(model.ask(question, deadline=monotonic() + seconds))


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_asked_for_the_form_and_read(server: ScriptedModel, name: str) -> None:
    answer = ask(open_scripted(server, name))

    (asked,) = server.calls
    assert answer.value == ScoreAnswer(score=0.5, reason="Step 2 is missing.")
    assert (answer.model, answer.usage.calls, answer.usage.tokens_out) == (name, 1, 20)
    assert answer.usage.cached_tokens == 5
    assert answer.usage.tokens_in >= 5
    assert asked.instructions == "Judge."
    assert asked.parts == ["The plan.", "The trace."]
    assert asked.schema is not None
    assert set(asked.schema["properties"]) == {"score", "reason"}


def test_temperature_is_0_and_samples_have_seeds_of_their_own(server: ScriptedModel) -> None:
    model = open_scripted(server)
    ask(model)
    ask(model, Question("Judge.", ("x",), ScoreAnswer, "t1", sample=3))

    assert [call.body["temperature"] for call in server.calls] == [0, 0]
    assert [call.body["seed"] for call in server.calls] == [0, 3]


def test_the_instructions_are_marked_for_the_provider_s_cache(server: ScriptedModel) -> None:
    ask(open_scripted(server, "anthropic:x"))
    ask(open_scripted(server, "openai:x"))

    anthropic, openai = (call.body for call in server.calls)
    assert anthropic["system"][-1]["text"] == "Judge."
    assert anthropic["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache" not in json.dumps(openai)


@pytest.mark.parametrize("name", ["openai:gpt-5", "openai:o3", "anthropic:claude-opus-4-7"])
def test_models_that_reason_are_given_no_temperature(server: ScriptedModel, name: str) -> None:
    ask(open_scripted(server, name))

    assert "temperature" not in server.calls[0].body


@pytest.mark.parametrize("name", DIALECTS)
def test_images_keep_their_positions(server: ScriptedModel, name: str) -> None:
    parts = ("before", Image("image/png", data=PIXEL), "between")
    ask(open_scripted(server, name), Question("", parts, ScoreAnswer, "t1"))

    (asked,) = server.calls
    assert asked.parts == ["before", ("image", "image/png"), "between"]


@pytest.mark.parametrize("name", DIALECTS)
def test_an_address_is_passed_on_or_refused_and_never_fetched(
    server: ScriptedModel, name: str
) -> None:
    question = Question("", (Image("image/png", url="https://x.test/a"),), ScoreAnswer, "t1")
    if name not in {GOOGLE, BEDROCK}:
        ask(open_scripted(server, name), question)
        assert server.calls[0].parts == [("image", "https://x.test/a")]
        return
    with pytest.raises(ModelFailed, match="only as data") as failed:
        ask(open_scripted(server, name), question)
    assert (failed.value.cause, server.calls) == (Cause.BAD_REQUEST, [])


SUCCESSES = {
    "good": 1, "fenced": 1, "429 once": 2, "429 once, retry-after": 2, "500 once": 2,
    "500 twice": 3, "reset once": 2, "408 once": 2, "409 once": 2,
}  # fmt: skip
FAILURES = {
    "malformed": (Cause.INVALID_ANSWER, 3),
    "truncated, length": (Cause.INVALID_ANSWER, 3),
    "truncated, stop": (Cause.INVALID_ANSWER, 3),
    "empty": (Cause.INVALID_ANSWER, 3),
    "refusal, field": (Cause.REFUSED, 1),
    "refusal, text": (Cause.REFUSED, 1),
    "429 for ever": (Cause.RATE_LIMITED, None),
    "429 for ever, retry-after": (Cause.RATE_LIMITED, None),
    "429 for ever, retry-after 0": (Cause.RATE_LIMITED, None),
    "500 for ever": (Cause.UNAVAILABLE, None),
    "not json": (Cause.UNAVAILABLE, None),
    "context length": (Cause.TOO_LONG, 1),
    "400": (Cause.BAD_REQUEST, 1),
    "401": (Cause.UNAUTHORIZED, 1),
    "403": (Cause.UNAUTHORIZED, 1),
    "404": (Cause.NOT_FOUND, 1),
    "reset": (Cause.CONNECTION, None),
    "cut": (Cause.CONNECTION, None),
    "wrong schema": (Cause.INVALID_ANSWER, 3),
    "10 MB": (Cause.INVALID_ANSWER, 1),
    "endless": (Cause.INVALID_ANSWER, 1),
    "gzip bomb": (Cause.INVALID_ANSWER, 1),
}


SLOW_TO_OPEN = {
    "429 once, retry-after", "500 once", "reset once",
    "malformed", "refusal, field", "context length", "401", "hang", "endless",
}  # fmt: skip
"""The modes that the clients of Google and Amazon are tried with: those that they word apart."""


def pair_modes(table: Iterable[str]) -> list[tuple[str, str]]:
    clients = ("openai:x", "openai-responses:x", "anthropic:x", GOOGLE, BEDROCK)
    return [
        (mode, name)
        for mode in sorted(table)
        for name in clients
        if mode in SLOW_TO_OPEN or name not in {GOOGLE, BEDROCK}
        if mode != "endless" or name != BEDROCK  # its client reads a body whole
    ]


def answer_well(_: ModelRequest) -> str:
    return GOOD


@pytest.fixture
def virtual_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only waiting between attempts brings the deadline nearer, not how long an attempt takes."""
    VirtualTime(monotonic()).patch_asyncio(
        monkeypatch, "planproof.llm.rate_limits.monotonic", "planproof.llm.rate_limits.monotonic"
    )


@pytest.mark.usefixtures("virtual_waits")
@pytest.mark.parametrize(("mode", "name"), pair_modes(SUCCESSES))
def test_what_passes_is_asked_again(mode: str, name: str) -> None:
    with ScriptedModel(MODES[mode](answer_well)) as server:
        answer = ask(open_scripted(server, name))

    assert answer.value == ScoreAnswer(score=0.5, reason="Step 2 is missing.")
    assert len(server.calls) == answer.usage.calls == SUCCESSES[mode]


@pytest.mark.usefixtures("virtual_waits")
@pytest.mark.parametrize(("mode", "name"), pair_modes(FAILURES))
def test_what_does_not_pass_has_a_cause(mode: str, name: str) -> None:
    cause, calls = FAILURES[mode]
    with (
        ScriptedModel(MODES[mode](answer_well)) as server,
        pytest.raises(ModelFailed) as failed,
    ):
        ask(open_scripted(server, name), seconds=60)

    assert failed.value.cause is cause
    assert failed.value.detail
    assert len(server.calls) == (calls or len(server.calls))
    # The deadline may end a call between what one side and the other have seen of it.
    assert abs(failed.value.usage.calls - len(server.calls)) <= (calls is None)
    assert "sk-secret" not in str(failed.value)


@pytest.mark.parametrize(("mode", "name"), pair_modes(["drip", "hang"]))
def test_the_deadline_ends_what_takes_too_long(mode: str, name: str) -> None:
    with (
        ScriptedModel(MODES[mode](answer_well)) as server,
        pytest.raises(ModelFailed) as failed,
    ):
        ask(open_scripted(server, name), seconds=0.5)

    assert failed.value.cause is Cause.TIMEOUT
    assert len(server.calls) <= 1


@pytest.mark.parametrize("mode", sorted(SCORES))
def test_no_score_is_bent_into_shape(mode: str) -> None:
    with ScriptedModel(SCORES[mode](answer_well)) as server, pytest.raises(ModelFailed) as failed:
        ask(open_scripted(server))

    assert failed.value.cause is Cause.INVALID_ANSWER
    assert "score" in failed.value.detail
    assert len(server.calls) == 3


def test_two_refusals_with_retry_after_pass() -> None:
    began = monotonic()
    with ScriptedModel(MODES["429 twice, retry-after"](answer_well)) as server:
        answer = ask(open_scripted(server))

    assert answer.usage.calls == 3
    assert monotonic() - began >= 2


def test_an_invalid_answer_is_asked_again_with_what_was_wrong() -> None:
    def second_time_lucky(asked: ModelRequest) -> str:
        return GOOD if asked.number > 1 else '{"score": 7.5, "reason": "x"}'

    with ScriptedModel(second_time_lucky) as server:
        answer = ask(open_scripted(server))

    assert answer.usage.calls == 2
    assert "score: Input should be less than or equal to 1" in server.calls[1].parts[-1]


@pytest.mark.parametrize("name", DIALECTS)
def test_keys_echoed_by_a_server_are_masked(name: str) -> None:
    told = HttpError(401, "the key sk-secret-of-mine is not known")
    with ScriptedModel(lambda asked: told) as server, pytest.raises(ModelFailed) as failed:
        ask(open_scripted(server, name))

    assert failed.value.detail == "HTTP 401: the key *** is not known"
    assert "sk-secret" not in "".join(format_exception(failed.value))


def test_an_address_that_says_v1_does_for_anthropic_too(server: ScriptedModel) -> None:
    model = open_model("anthropic:x", base_url=server.url, settings=ModelSettings())

    assert ask(model).usage.calls == 1


def test_what_is_called_off_counts_as_if_it_had_been_answered() -> None:
    spending = SpendingLimit(limit=1.0)
    with ScriptedModel(MODES["hang"](answer_well)) as server:
        model = open_scripted(server, "openai:gpt-4o", spending=spending)
        with pytest.raises(ModelFailed) as failed:
            ask(model, seconds=5)

    usage = failed.value.usage
    assert usage.tokens_in > 0
    assert usage.cost == pytest.approx(spending.spent)  # pyright: ignore[reportUnknownMemberType]
    assert spending.spent > 0


def test_nobody_is_asked_again_at_once_who_refuses() -> None:
    with (
        ScriptedModel(MODES["429 for ever, retry-after 0"](answer_well)) as server,
        pytest.raises(ModelFailed),
    ):
        ask(open_scripted(server), seconds=3)

    assert len(server.calls) <= 4


@pytest.mark.usefixtures("virtual_waits")
def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    model = open_model("openai:x", base_url="http://127.0.0.1:9/v1", settings=ModelSettings())

    with pytest.raises(ModelFailed) as failed:
        ask(model)

    assert failed.value.cause is Cause.CONNECTION


def test_a_deadline_that_has_passed_asks_nobody(server: ScriptedModel) -> None:
    with pytest.raises(ModelFailed) as failed:
        ask(open_scripted(server), seconds=-1)

    assert failed.value.cause is Cause.TIMEOUT
    assert not server.calls


def test_one_client_serves_all_questions_of_a_loop(server: ScriptedModel) -> None:
    model = open_scripted(server, concurrency=4)

    async def many() -> None:
        questions = [Question("", (str(number),), ScoreAnswer, "t1") for number in range(20)]
        deadline = monotonic() + TIMEOUT_SECONDS
        await asyncio.gather(*(model.ask(each, deadline=deadline) for each in questions))

    asyncio.run(many())
    asyncio.run(many())

    assert len(server.calls) == 40
    assert server.most_at_once <= 4


def test_a_kept_answer_costs_nothing(server: ScriptedModel, tmp_path: Path) -> None:
    first = ask(open_scripted(server, cache=tmp_path / "kept"))
    second = ask(open_scripted(server, cache=tmp_path / "kept"))

    assert second.value == first.value
    assert second.usage == Usage(cost=0.0, from_cache=1)
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, instructions="Other."),
        replace(QUESTION, parts=("The plan.", "Another trace.")),
        replace(QUESTION, parts=(*QUESTION.parts, Image("image/png", data=PIXEL))),
        replace(QUESTION, template="t2"),
        replace(QUESTION, answer=OtherScoreAnswer),
        replace(QUESTION, sample=1),
    ],
)
def test_only_the_very_same_question_has_a_kept_answer(
    server: ScriptedModel, tmp_path: Path, other: Question
) -> None:
    model = open_scripted(server, cache=tmp_path / "kept")
    ask(model)
    ask(model, other)

    assert len(server.calls) == 2


def test_failures_are_not_kept(tmp_path: Path) -> None:
    behaviour: Behaviour = lambda asked: GOOD if asked.number > 1 else HttpError(400, "no")  # noqa: E731
    with ScriptedModel(behaviour) as server:
        model = open_scripted(server, cache=tmp_path / "kept")
        with pytest.raises(ModelFailed):
            ask(model)
        assert ask(model).usage.calls == 1


def test_a_known_price_is_reported(server: ScriptedModel) -> None:
    assert (ask(open_scripted(server, "openai:gpt-4o")).usage.cost or 0) > 0
    assert ask(open_scripted(server, "openai:x")).usage.cost is None


def test_a_run_stops_before_it_costs_too_much(server: ScriptedModel) -> None:
    spending = SpendingLimit(limit=0.03)
    model = open_scripted(server, "openai:gpt-4o", spending=spending)

    def asking() -> None:
        for number in range(500):
            ask(model, Question("", (str(number),), ScoreAnswer, "t1"))

    with pytest.raises(ModelFailed) as failed:
        asking()

    assert failed.value.cause is Cause.COST_LIMIT
    assert len(server.calls) > 1
    assert 0 < spending.spent <= 0.03
