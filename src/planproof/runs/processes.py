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
from typing import Self

from planproof.case_file import CaseLine
from planproof.runs.judging import Judging
from planproof.verdict import Verdict

_WORTH_PROCESSES = 1.0
"""Seconds of judging after which processes are started: each takes about half a second."""
_CHUNK = 16


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
        """How many cases make a piece of work: talking to a process takes time, too."""
        return 1 if self._pool is None else _CHUNK

    def begin(self, lines: list[CaseLine]) -> Future[list[tuple[Verdict, float]]]:
        """Begin to judge some cases."""
        if self._pool is None:
            done: Future[list[tuple[Verdict, float]]] = Future()
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


def _judge(lines: list[CaseLine]) -> list[tuple[Verdict, float]]:
    return [_timed(_here[0], line) for line in lines]


def _timed(judging: Judging, line: CaseLine) -> tuple[Verdict, float]:
    began = perf_counter()
    return judging.verdict(line), perf_counter() - began
