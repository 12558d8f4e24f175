"""Every way in which a model can fail, with every judge that asks one: what comes of it.

Real clients ask a real server. All rows that end by themselves are asked at once, with time to
spare; then those that only the deadline ends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from planproof import Verdict, aevaluate
from planproof.core.judge import AnyJudge, ModelOptions
from planproof.core.model import Cause
from planproof.llm.open_judge import open_judge
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.audit_models import answer_audit, honest, inventing, inventing_events
from tests.scripted_model import ModelRequest, ScriptedModel
from tests.scripted_model.faults import MODES, SCORES
from tests.small_cases import FOLLOWED
from tests.small_contracts import answer_for_plan
from tests.timeouts import TIMEOUT_SECONDS

SECONDS = 10.0
"""The deadline of what nothing else ends."""
MOST_CALLS = 16
JUDGES = ("prompt", "audit", "cascade")
COMPILER = "contract"
SCORED = "scored"

# mode -> what comes of it, and how many calls that takes (None: as many as there is time for).
TABLE: dict[str, tuple[str, int | None]] = {
    "good": (SCORED, 1),
    "fenced": (SCORED, 1),
    "malformed": (Cause.INVALID_ANSWER, 3),
    "truncated, length": (Cause.INVALID_ANSWER, 3),
    "truncated, stop": (Cause.INVALID_ANSWER, 3),
    "empty": (Cause.INVALID_ANSWER, 3),
    "refusal, field": (Cause.REFUSED, 1),
    "refusal, text": (Cause.REFUSED, 1),
    "429 once": (SCORED, 2),
    "429 twice": (SCORED, 3),
    "429 for ever": (Cause.RATE_LIMITED, None),
    "429 once, retry-after": (SCORED, 2),
    "429 twice, retry-after": (SCORED, 3),
    "429 for ever, retry-after": (Cause.RATE_LIMITED, None),
    "429 for ever, retry-after 0": (Cause.RATE_LIMITED, None),
    "408 once": (SCORED, 2),
    "409 once": (SCORED, 2),
    "500 once": (SCORED, 2),
    "500 twice": (SCORED, 3),
    "500 for ever": (Cause.UNAVAILABLE, None),
    "context length": (Cause.TOO_LONG, 1),
    "400": (Cause.BAD_REQUEST, 1),
    "401": (Cause.UNAUTHORIZED, 1),
    "403": (Cause.UNAUTHORIZED, 1),
    "404": (Cause.NOT_FOUND, 1),
    "reset": (Cause.CONNECTION, None),
    "reset once": (SCORED, 2),
    "not json": (Cause.UNAVAILABLE, None),
    "503 for ever": (Cause.UNAVAILABLE, None),
    "wrong schema": (Cause.INVALID_ANSWER, 3),
    "duplicate keys": (Cause.INVALID_ANSWER, 3),
    "gzip": (SCORED, 1),
    "gzip bomb": (Cause.INVALID_ANSWER, 1),
    "gzip, cut": (Cause.INVALID_ANSWER, 1),
    "other encoding": (Cause.INVALID_ANSWER, 1),
    "10 MB": (Cause.INVALID_ANSWER, 1),
    "endless": (Cause.INVALID_ANSWER, 1),
    "endless 500": (Cause.INVALID_ANSWER, 1),
    "deep json": (Cause.UNAVAILABLE, None),
    "cut": (Cause.CONNECTION, None),
    "drip": (Cause.TIMEOUT, None),
    "hang": (Cause.TIMEOUT, None),
}
NOT_ACCEPTED = {"wrong ids": inventing_events, "invented quotes": inventing}


ENDLESS = frozenset({"drip", "hang"}) | {mode for mode in TABLE if mode.startswith("429 for ever")}


@dataclass(frozen=True, slots=True)
class Row:
    verdict: Verdict
    calls: int


def _compile_well(_: ModelRequest) -> str:
    """Return a good contract."""
    return json.dumps(answer_for_plan(FOLLOWED["agent_plan"]))


def _good(asked: ModelRequest) -> str:
    """Return a good answer in the form that the judge asks for."""
    if "score" in (asked.schema or {}).get("properties", {}):
        return json.dumps({"score": 1.0, "reason": "Steps 1 to 3 were executed in order."})
    return answer_audit(asked, FOLLOWED, honest)


def _says(nature: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[ModelRequest], str]:
    return lambda asked: answer_audit(asked, FOLLOWED, nature)


def _rows() -> Iterator[tuple[tuple[str, str], Any]]:
    for judge in JUDGES:
        for mode in TABLE:
            yield (mode, judge), MODES[mode](_good)
    for mode in TABLE:
        yield (mode, COMPILER), MODES[mode](_compile_well)
    for mode, fault in SCORES.items():
        yield (mode, "prompt"), fault(_good)
    for mode, nature in NOT_ACCEPTED.items():
        yield (mode, "audit"), _says(nature)
        yield (mode, "cascade"), _says(nature)


def _open_judge(mode: str, judge: str, server: ScriptedModel) -> AnyJudge:
    asking = ModelOptions(deadline=SECONDS if mode in ENDLESS else TIMEOUT_SECONDS)
    return open_judge(judge, ["openai:x"], base_url=server.url, options=asking)


async def _judge_case(judge: AnyJudge) -> Verdict:
    return await aevaluate(
        task=FOLLOWED["user_task"],
        plan=FOLLOWED["agent_plan"],
        trace=FOLLOWED["execution_trace"],
        judge=judge,
    )


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str], Row]:
    """The whole table, asked once."""
    rows = list(_rows())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-secret")
        ending = [row for row in rows if row[0][0] not in ENDLESS]
        endless = [row for row in rows if row[0][0] in ENDLESS]
        return _count_concurrent_calls(ending) | _count_concurrent_calls(endless)


def _count_concurrent_calls(rows: list[tuple[tuple[str, str], Any]]) -> dict[tuple[str, str], Row]:
    with ExitStack() as running:
        servers = {key: running.enter_context(ScriptedModel(given)) for key, given in rows}
        judges = [_open_judge(*key, server) for key, server in servers.items()]

        async def all_at_once() -> list[Verdict]:
            # Far beyond any deadline: what hangs fails.
            async with asyncio.timeout(2 * TIMEOUT_SECONDS):
                return await asyncio.gather(*map(_judge_case, judges))

        judged = zip(servers.items(), asyncio.run(all_at_once()), strict=True)
        return {key: Row(verdict, len(server.calls)) for (key, server), verdict in judged}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("mode", TABLE)
def test_what_comes_of_a_mode(table: dict[tuple[str, str], Row], mode: str, judge: str) -> None:
    row, (expected, calls) = table[mode, judge], TABLE[mode]
    verdict = row.verdict
    if expected == SCORED:
        assert (verdict.outcome, verdict.score, verdict.cause) == (SCORED, 1.0, None)
    else:
        assert (verdict.outcome, verdict.score) == ("judge_failed", None), verdict.reason
        assert verdict.cause == expected
        assert f"{expected}: " in verdict.reason
    # `audit` asks about the plan at the same time.
    questions = 1 if judge == "prompt" else 2
    assert 0 < row.calls <= MOST_CALLS * questions
    if calls is not None:
        others = 1 if expected == SCORED else calls
        assert row.calls == calls + others * (questions - 1)
    assert verdict.cost is not None
    # The last of many may have been called off before it reached the server.
    assert verdict.cost.calls - row.calls in ({0} if calls else range(questions + 1))
    assert "sk-secret" not in json.dumps(verdict.full())


@pytest.mark.parametrize("mode", TABLE)
def test_what_comes_of_a_mode_when_a_plan_is_compiled(
    table: dict[tuple[str, str], Row], mode: str
) -> None:
    row, (expected, calls) = table[mode, COMPILER], TABLE[mode]
    failed = None if expected == SCORED else expected
    score = 1.0 if failed is None else None
    assert (row.verdict.score, row.verdict.cause) == (score, failed), row.verdict.reason
    assert 0 < row.calls <= MOST_CALLS
    assert calls is None or row.calls == calls


@pytest.mark.parametrize("mode", SCORES)
def test_an_invalid_score_is_never_accepted(table: dict[tuple[str, str], Row], mode: str) -> None:
    row = table[mode, "prompt"]
    assert (row.verdict.outcome, row.verdict.score) == ("judge_failed", None)
    assert (row.verdict.cause, row.calls) == (Cause.INVALID_ANSWER, 3)


@pytest.mark.parametrize("judge", ["audit", "cascade"])
@pytest.mark.parametrize("mode", NOT_ACCEPTED)
def test_rejected_answers_are_asked_about_once_more(
    table: dict[tuple[str, str], Row], mode: str, judge: str
) -> None:
    row = table[mode, judge]
    # A cascade does not ask about what the rules are sure of, so that much may stand.
    unasked = judge == "cascade"
    assert (row.verdict.outcome, row.calls) == (SCORED, 3)
    assert row.verdict.score is not None
    assert row.verdict.score <= 0.25 * unasked
    assert 3 - 2 * unasked <= len(row.verdict.rejected) <= 3


def test_every_verdict_of_the_table_can_be_verified(table: dict[tuple[str, str], Row]) -> None:
    source = Source.from_value(FOLLOWED["execution_trace"])
    assert {
        key: verify(row.verdict.full(), source) for key, row in table.items() if key[1] != COMPILER
    } == {key: () for key in table if key[1] != COMPILER}


def test_the_table_has_every_mode() -> None:
    assert set(TABLE) == set(MODES)
