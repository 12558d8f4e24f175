"""Things that belong to one event loop, such as HTTP connections, and end with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import finalize

_T = TypeVar("_T")
_MAX_SECONDS_PER_PASS = 0.25
"""Seconds of a pass of a loop after which no further piece of work is begun in it."""


class OnePerLoop(Generic[_T]):
    """Makes a thing when a loop first asks for it, and keeps it for as long as the loop."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._by_loop: dict[asyncio.AbstractEventLoop, _T] = {}

    def get(self) -> _T:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        value = self._by_loop.get(loop)
        if value is None:
            for ended in [other for other in self._by_loop if other.is_closed()]:
                self._by_loop.pop(ended, None)
            value = self._by_loop[loop] = self._make()
        return value


class LoopThrottle:
    """Shares a loop between long work and whatever else is to be done on it.

    Who works without awaiting anything waits for his turn first. In one pass of the loop they work
    for a while and no longer, so that in between requests go out and answers come in.
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
    """Holds a context open until its loop shuts down, or nobody needs it any more.

    A loop closes the asynchronous generators that were started in it before it ends; one that
    stands inside the context is how the context learns of that without anybody having to say so.
    """

    def __init__(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._context = _hold_open(context)
        self._entering: asyncio.Future[None] | None = None

    async def enter(self) -> None:
        """Enter the context, unless that has been done or is under way."""
        if self._entering is None:
            # The context outlives this object until it is left: connections that are collected
            # with everything else would never be closed.
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
        await asyncio.sleep(0)  # a loop that ends closes it itself, and must be the first to try
    with suppress(RuntimeError):
        await inside.aclose()
