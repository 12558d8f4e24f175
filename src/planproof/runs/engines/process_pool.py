"""Processes that judge, as many as there are cores."""

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
from planproof.runs.engines.case_judging import Judging

_WORTH_PROCESSES = 1.0
"""Seconds of judging after which processes are started: each takes about half a second."""
CHUNK = 16
"""Cases that are handed to a process together: talking to one takes time, too."""

Timed: TypeAlias = tuple[Verdict, float]
"""A verdict, and the seconds that it took."""


def cores() -> int:
    """How many processes can work at once here."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


class Processes:
    """Judges cases in processes of their own; the first ones, and if it is to be one, all, here."""

    ahead = 2

    def __init__(self, judging: Judging, processes: int) -> None:
        self.at_once = 2 * processes
        self._judging = judging
        self._processes = processes
        self._patience = _WORTH_PROCESSES
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._pool is not None and self._lifeline is not None:
            # Whoever is at work stops at once: nobody waits for it any more.
            self._lifeline.close()
            self._pool.shutdown(cancel_futures=True)

    @property
    def cases(self) -> int:
        """How many cases make a piece of work."""
        return 1 if self._pool is None else CHUNK

    def begin(self, lines: list[CaseLine]) -> Future[list[Timed]]:
        """Begin to judge some cases."""
        if self._pool is None:
            done: Future[list[Timed]] = Future()
            done.set_result([_timed(self._judging, line) for line in lines])
            self._patience -= sum(seconds for _, seconds in done.result())
            if self._patience <= 0 and self._processes > 1:
                self._start()
            return done
        return self._pool.submit(_judge, lines)

    def _start(self) -> None:
        # A process that is made from nothing shares no connection, lock or thread with this one.
        context = get_context("spawn")
        end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._processes, context, initializer=_prepare, initargs=(self._judging, end)
        )


class ProcessEnded(Exception):
    """A process that judged has ended before it gave an answer."""


class JudgingProcess:
    """One process that judges what it is handed, piece after piece, and can be ended at any time.

    A pool would not do: when one process of it ends, all that is in the pool is lost.
    """

    def __init__(self, judging: Judging) -> None:
        context = get_context("spawn")
        self._talk, end = context.Pipe()
        self._process = context.Process(target=_work, args=(judging, end), daemon=True)
        self._process.start()
        end.close()

    def judged(self, lines: list[CaseLine]) -> list[Timed]:
        """Judge some cases, and wait for it; raises `ProcessEnded` when it was ended meanwhile."""
        try:
            self._talk.send(lines)
            answer: list[Timed] | Exception = self._talk.recv()
        except (EOFError, OSError) as error:
            raise ProcessEnded from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """End it, whatever it does; whoever waits for an answer is told so."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """Let go of it, once it was ended and nobody waits for it."""
        self._talk.close()


def _work(judging: Judging, talk: Connection) -> None:
    _settle(judging, _end_with_parent)
    with suppress(EOFError):
        while True:
            try:
                answer: list[Timed] | Exception = _judge(talk.recv())
            except (PlanproofError, RecursionError) as error:
                answer = error
            talk.send(answer)


def _end_with_parent() -> None:
    """End this process with the one that started it, also in the middle of a case."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


_here: list[Judging] = []


def _prepare(judging: Judging, lifeline: Connection) -> None:
    _settle(judging, partial(_end_with, lifeline))


def _settle(judging: Judging, ending: Callable[[], None]) -> None:
    """Be ready to judge; `ending` waits until this process is to end."""
    # Ctrl-C is for the process that was started by hand; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=ending, daemon=True).start()
    _here.append(judging)


def _end_with(lifeline: Connection) -> None:
    """End this process when the other end is let go of, as it is when that process is killed."""
    lifeline.poll(None)
    os._exit(0)


def _judge(lines: list[CaseLine]) -> list[Timed]:
    return [_timed(_here[0], line) for line in lines]


def _timed(judging: Judging, line: CaseLine) -> Timed:
    began = perf_counter()
    return judging.verdict(line), perf_counter() - began
