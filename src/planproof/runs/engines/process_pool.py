"""Worker processes that judge cases, one per core."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from time import perf_counter
from types import TracebackType
from typing import Self, TypeAlias

from planproof.core.verdict import Verdict
from planproof.errors import PlanproofError
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator

_POOL_START_SECONDS = 1.0
"""Seconds of judging before processes are started: each takes about half a second to start."""
CHUNK_SIZE = 16
"""Cases sent to a process together, because communication takes time too."""

TimedVerdict: TypeAlias = tuple[Verdict, float]
"""A verdict and the seconds it took."""


def count_cores() -> int:
    """Return the number of processes that can run in parallel here."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


class ProcessWorker:
    """Judges cases in worker processes.

    The first cases, or all if there is only one process, are judged in this process.
    """

    lookahead = 2

    def __init__(self, evaluator: CaseEvaluator, processes: int) -> None:
        self.max_in_flight = 2 * processes
        self._evaluator = evaluator
        self._processes = processes
        self._seconds_until_pool = _POOL_START_SECONDS
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._pool is not None and self._lifeline is not None:
            # Closing it stops running workers at once; their results are no longer needed.
            self._lifeline.close()
            self._pool.shutdown(cancel_futures=True)

    @property
    def chunk_size(self) -> int:
        """Number of cases in a chunk."""
        return 1 if self._pool is None else CHUNK_SIZE

    def submit(self, lines: list[CaseLine]) -> Future[list[TimedVerdict]]:
        """Start judging some cases."""
        if self._pool is None:
            done: Future[list[TimedVerdict]] = Future()
            done.set_result([_judge_timed(self._evaluator, line) for line in lines])
            self._seconds_until_pool -= sum(seconds for _, seconds in done.result())
            if self._seconds_until_pool <= 0 and self._processes > 1:
                self._start_pool()
            return done
        return self._pool.submit(_judge_lines, lines)

    def _start_pool(self) -> None:
        # A spawned process shares no connection, lock or thread with this one.
        context = get_context("spawn")
        end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._processes,
            context,
            initializer=_initialize_pool_process,
            initargs=(self._evaluator, end),
        )


class ProcessEnded(Exception):
    """A judging process ended before it returned a result."""


class JudgeProcess:
    """One process that judges chunks of cases and can be killed at any time.

    Not a pool: when one process of a pool ends, all work in the pool is lost.
    """

    def __init__(self, evaluator: CaseEvaluator) -> None:
        context = get_context("spawn")
        self._connection, end = context.Pipe()
        self._process = context.Process(target=_run_worker_loop, args=(evaluator, end), daemon=True)
        self._process.start()
        end.close()

    def judge(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        """Judge some cases and wait; raises `ProcessEnded` if the process was killed meanwhile."""
        try:
            self._connection.send(lines)
            answer: list[TimedVerdict] | Exception = self._connection.recv()
        except (EOFError, OSError) as error:
            raise ProcessEnded from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self) -> None:
        """Kill the process; a waiting `judge` raises `ProcessEnded`."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """Close the connection, after the process has ended and no caller waits for it."""
        self._connection.close()


def _run_worker_loop(evaluator: CaseEvaluator, connection: Connection) -> None:
    _initialize_process(evaluator, _exit_with_parent)
    with suppress(EOFError):
        while True:
            try:
                answer: list[TimedVerdict] | Exception = _judge_lines(connection.recv())
            except (PlanproofError, RecursionError) as error:
                answer = error
            connection.send(answer)


def _exit_with_parent() -> None:
    """Exit when the parent process ends, even in the middle of a case."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


_process_evaluator: list[CaseEvaluator] = []


def _initialize_pool_process(evaluator: CaseEvaluator, lifeline: Connection) -> None:
    _initialize_process(evaluator, partial(_exit_when_closed, lifeline))


def _initialize_process(evaluator: CaseEvaluator, wait_for_exit: Callable[[], None]) -> None:
    """Prepare this process for judging; `wait_for_exit` blocks until it should end, and exits."""
    # Ctrl-C is for the parent process, which ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=wait_for_exit, daemon=True).start()
    _process_evaluator.append(evaluator)


def _exit_when_closed(lifeline: Connection) -> None:
    """Exit when the other end of the pipe is closed, as it is when that process is killed."""
    lifeline.poll(None)
    os._exit(0)


def _judge_lines(lines: list[CaseLine]) -> list[TimedVerdict]:
    return [_judge_timed(_process_evaluator[0], line) for line in lines]


def _judge_timed(evaluator: CaseEvaluator, line: CaseLine) -> TimedVerdict:
    began = perf_counter()
    return evaluator.evaluate(line), perf_counter() - began
