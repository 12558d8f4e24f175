"""Processes that judge, as many as there are cores."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from types import TracebackType
from typing import Self, TypeAlias

from planproof.case_file import CaseLine
from planproof.runs.judging import Judging
from planproof.verdict import Verdict

_WORTH_PROCESSES = 1.0
"""Seconds of judging after which processes are started: each takes about half a second."""
CHUNK = 16
"""Cases that are handed to a process together."""


def cores() -> int:
    """How many processes can work at once here."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


Timed: TypeAlias = tuple[Verdict, float]
"""A verdict, and the seconds that it took."""


class JudgingPool:
    """Processes that do nothing but judge. They end when they are let go of, or with this one."""

    def __init__(self, judging: Judging, processes: int) -> None:
        # A process that is made from nothing shares no connection, lock or thread with this one.
        context = get_context("spawn")
        end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            processes, context, initializer=_prepare, initargs=(judging, end)
        )

    def begin(self, lines: list[CaseLine]) -> Future[list[Timed]]:
        """Begin to judge some cases."""
        return self._pool.submit(_judge, lines)

    def close(self) -> None:
        """End the processes; whoever is at work stops at once: nobody waits for it any more."""
        self._lifeline.close()
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """Judges cases in processes of their own; the first ones, and if it is to be one, all, here."""

    ahead = 2

    def __init__(self, judging: Judging, processes: int) -> None:
        self.at_once = 2 * processes
        self._judging = judging
        self._processes = processes
        self._patience = _WORTH_PROCESSES
        self._pool: JudgingPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close()

    @property
    def cases(self) -> int:
        """How many cases make a piece of work: talking to a process takes time, too."""
        return 1 if self._pool is None else CHUNK

    def begin(self, lines: list[CaseLine]) -> Future[list[Timed]]:
        """Begin to judge some cases."""
        if self._pool is None:
            done: Future[list[Timed]] = Future()
            done.set_result([_timed(self._judging, line) for line in lines])
            self._patience -= sum(seconds for _, seconds in done.result())
            if self._patience <= 0 and self._processes > 1:
                self._pool = JudgingPool(self._judging, self._processes)
            return done
        return self._pool.begin(lines)


_here: list[Judging] = []


def _prepare(judging: Judging, lifeline: Connection) -> None:
    # Ctrl-C is for the process that was started by hand; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
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
