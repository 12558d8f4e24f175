"""Run async code from sync code, on one event loop per process in its own thread.

The loop lives as long as the process, so that connections are reused between model calls. When the
process exits normally, everything open on the loop is closed first.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import finalize

_T = TypeVar("_T")
_MAX_SECONDS_PER_PASS = 0.1
"""Seconds of blocking work in one pass of the loop after which no more is started.

A request takes several passes to leave, so none leaves before a few times this long.
"""


class OnePerLoop(Generic[_T]):
    """Creates one value per event loop on first use, and keeps it until the loop is closed."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._by_loop: dict[asyncio.AbstractEventLoop, _T] = {}

    def get(self) -> _T:
        """Return the value of the running loop."""
        loop = asyncio.get_running_loop()
        value = self._by_loop.get(loop)
        if value is None:
            for ended in [other for other in self._by_loop if other.is_closed()]:
                self._by_loop.pop(ended, None)
            value = self._by_loop[loop] = self._make()
        return value


class LoopThrottle:
    """Shares a loop between long blocking work and other tasks.

    Code that works without awaiting calls `wait` first. Each pass of the loop allows a limited time
    for such work, so that requests are sent and answers received in between.
    """

    def __init__(self, max_seconds: float = _MAX_SECONDS_PER_PASS) -> None:
        self._max_seconds = max_seconds
        self._pass_started: float | None = None

    async def wait(self) -> None:
        """Wait until there is time to work in this pass of the loop."""
        while (
            self._pass_started is not None and monotonic() - self._pass_started >= self._max_seconds
        ):
            await asyncio.sleep(0)
        if self._pass_started is None:
            self._pass_started = monotonic()
            asyncio.get_running_loop().call_soon(self._end_pass)

    def _end_pass(self) -> None:
        self._pass_started = None


class OpenWhileLoopRuns:
    """Keeps a context open until its loop shuts down or this object is collected.

    Before a loop ends, it closes the asynchronous generators that were started in it. The context
    is entered inside such a generator, so it is closed without an explicit call.
    """

    def __init__(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._context = _hold_open(context)
        self._entering: asyncio.Future[None] | None = None

    async def enter(self) -> None:
        """Enter the context, unless it is already entered or being entered."""
        if self._entering is None:
            # The context must outlive this object until it is exited: connections collected
            # together with it would never be closed.
            finalize(
                self, _close_threadsafe, asyncio.get_running_loop(), self._context
            ).atexit = False
            self._entering = asyncio.ensure_future(anext(self._context))
        await asyncio.shield(self._entering)


async def _hold_open(context: AbstractAsyncContextManager[Any]) -> AsyncGenerator[None, None]:
    async with context:
        yield


_closing_tasks: set[asyncio.Task[None]] = set()


def _close_threadsafe(loop: asyncio.AbstractEventLoop, inside: AsyncGenerator[None, None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(_schedule_close, loop, inside)


def _schedule_close(loop: asyncio.AbstractEventLoop, inside: AsyncGenerator[None, None]) -> None:
    task = loop.create_task(_close_context(inside))
    _closing_tasks.add(task)
    task.add_done_callback(_closing_tasks.discard)


async def _close_context(inside: AsyncGenerator[None, None]) -> None:
    for _ in range(3):
        await asyncio.sleep(0)  # a loop that is ending closes it itself, and must do so first
    with suppress(RuntimeError):
        await inside.aclose()


async def gather_or_cancel(coroutines: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Return all results in order; if one fails, cancel the others."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


_SHUTDOWN_TIMEOUT = 2.0
"""Seconds to close everything open: exiting must not wait for an unresponsive server."""
_lock = threading.Lock()
_running: list[tuple[asyncio.AbstractEventLoop, threading.Thread]] = []


def submit(work: Coroutine[Any, Any, _T]) -> Future[_T]:
    """Schedule a coroutine on the loop."""
    return asyncio.run_coroutine_threadsafe(work, _get_loop())


def run_sync(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the loop and wait for it, even from within another event loop."""
    if _running and threading.current_thread() is _running[0][1]:
        work.close()
        raise RuntimeError("this call would block its own event loop: await aevaluate() instead")
    future = submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _get_loop() -> asyncio.AbstractEventLoop:
    with _lock:
        if not _running:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="planproof", daemon=True)
            thread.start()
            _running.append((loop, thread))
        return _running[0][0]


@atexit.register
def _shut_down() -> None:
    """Cancel running tasks, close what is open, and stop the loop."""
    if not _running:
        return
    loop, thread = _running.pop()

    async def cancel_and_close() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await loop.shutdown_asyncgens()

    shutdown = asyncio.run_coroutine_threadsafe(cancel_and_close(), loop)
    shutdown.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
    thread.join(_SHUTDOWN_TIMEOUT)
    if not thread.is_alive():
        loop.close()


def _reset_after_fork() -> None:
    """Forget the loop in a forked process: the thread that ran it does not exist there."""
    global _lock  # noqa: PLW0603 - another thread of the parent may have locked it
    _lock = threading.Lock()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
