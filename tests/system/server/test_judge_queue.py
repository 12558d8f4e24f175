"""The desk: a case that hangs or kills takes nobody else's with it, and not too many wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.verdict import Outcome
from planproof.errors import UnknownName
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.server.http_problems import ServerBusy
from planproof.server.judge_queue import JudgeQueue
from planproof.server.observability import Metrics
from planproof.server.worker_pool import ProcessPool
from tests.small_cases import FOLLOWED, PLAN
from tests.task_driven_judge import DIE, HANG, TaskDrivenJudge
from tests.timeouts import TIMEOUT_SECONDS


def _line(task: str) -> CaseLine:
    case = Case(task=Content(task), plan=PLAN, trace=FOLLOWED["execution_trace"], id=task)
    return CaseLine("body", case, id=task)


@asynccontextmanager
async def _open_queue(
    *, waiting: int = 10, deadline: float = TIMEOUT_SECONDS
) -> AsyncGenerator[JudgeQueue, None]:
    judgings = {"obedient": CaseEvaluator(TaskDrivenJudge())}
    desk = JudgeQueue(judgings, Metrics(), processes=1, max_waiting=waiting, deadline=deadline)
    try:
        await desk.open()
        yield desk
    finally:
        await desk.close()


def test_a_case_that_hangs_or_kills_its_process_fails_alone() -> None:
    async def judged() -> None:
        async with _open_queue() as desk:
            seats = desk._pools["obedient"]  # pyright: ignore[reportPrivateUsage]
            assert isinstance(seats, ProcessPool)
            # Short only for what is to be too late: the others begin with a new process.
            seats._deadline = 0.5  # pyright: ignore[reportPrivateUsage]
            hung = await desk.submit(_line(HANG))
            seats._deadline = TIMEOUT_SECONDS  # pyright: ignore[reportPrivateUsage]
            died, done = await asyncio.gather(
                *(desk.submit(_line(task)) for task in (DIE, "Work."))
            )
        assert (hung[0].outcome, hung[0].cause) == (Outcome.JUDGE_FAILED, "timeout")
        assert (died[0].outcome, died[0].cause) == (Outcome.JUDGE_FAILED, None)
        assert "killed" in died[0].reason
        assert [verdict.id for verdict, _ in (hung, died, done)] == [HANG, DIE, "Work."]
        assert done[0].score == 1.0

    asyncio.run(judged())


def test_of_a_piece_of_a_run_only_the_case_fails_that_kills() -> None:
    async def judged() -> None:
        async with _open_queue() as desk:
            worker = desk.make_run_worker()
            lines = [_line(task) for task in ("One.", DIE, "Two.")]
            found = await asyncio.wrap_future(worker.submit(lines))
            assert [verdict.score for verdict, _ in found] == [1.0, None, 1.0]
            worker.stop()
            assert worker.submit(lines).cancelled()

    asyncio.run(judged())


def test_a_full_queue_answers_with_retry_after() -> None:
    async def judged() -> None:
        async with _open_queue(waiting=2) as desk:
            waiting = [asyncio.create_task(desk.submit(_line("Work."))) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(ServerBusy) as busy:
                await desk.submit(_line("Work."))
            assert busy.value.retry_after == 1
            assert [verdict.score for verdict, _ in await asyncio.gather(*waiting)] == [1.0, 1.0]
            assert (await desk.submit(_line("Work.")))[0].score == 1.0

    asyncio.run(judged())


def test_a_judge_that_nobody_configured_is_not_known() -> None:
    desk = JudgeQueue({"obedient": CaseEvaluator(TaskDrivenJudge())}, Metrics(), processes=1)
    with pytest.raises(UnknownName):
        desk.get_evaluator("rules")
    assert desk.get_evaluator().judge.name == "obedient"
