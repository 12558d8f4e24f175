"""Things that belong to one event loop, such as HTTP connections, and end with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import finalize

_T = TypeVar("_T")
_AT_ONCE = 0.25
"""Seconds of a pass of a loop after which no further piece of work is begun in it."""


class OnePerLoop(Generic[_T]):
    """Makes a thing when a loop first asks for it, and keeps it for as long as the loop."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._kept: dict[asyncio.AbstractEventLoop, _T] = {}

    def here(self) -> _T:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        found = self._kept.get(loop)
        if found is None:
            for ended in [each for each in self._kept if each.is_closed()]:
                self._kept.pop(ended, None)
            found = self._kept[loop] = self._make()
        return found


class Turns:
    """Shares a loop between long work and whatever else is to be done on it.

    Who works without awaiting anything waits for his turn first. In one pass of the loop they work
    for a while and no longer, so that in between requests go out and answers come in.
    """

    def __init__(self, at_once: float = _AT_ONCE) -> None:
        self._at_once = at_once
        self._since: float | None = None

    async def mine(self) -> None:
        """Wait until there is time to work in this pass of the loop."""
        while self._since is not None and monotonic() - self._since >= self._at_once:
            await asyncio.sleep(0)
        if self._since is None:
            self._since = monotonic()
            asyncio.get_running_loop().call_soon(self._next_pass)

    def _next_pass(self) -> None:
        self._since = None


class OpenWhileLoopRuns:
    """Holds a context open until its loop shuts down, or nobody needs it any more.

    A loop closes the asynchronous generators that were started in it before it ends; one that
    stands inside the context is how the context learns of that without anybody having to say so.
    """

    def __init__(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._inside = _inside(context)
        self._entering: asyncio.Future[None] | None = None

    async def enter(self) -> None:
        """Enter the context, unless that has been done or is under way."""
        if self._entering is None:
            # The context outlives this object until it is left: connections that are collected
            # with everything else would never be closed.
            finalize(self, _leave, asyncio.get_running_loop(), self._inside).atexit = False
            self._entering = asyncio.ensure_future(anext(self._inside))
        await asyncio.shield(self._entering)


async def _inside(context: AbstractAsyncContextManager[Any]) -> AsyncGenerator[None, None]:
    async with context:
        yield


_leaving: set[asyncio.Task[None]] = set()


def _leave(loop: asyncio.AbstractEventLoop, inside: AsyncGenerator[None, None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(_begin_to_leave, loop, inside)


def _begin_to_leave(loop: asyncio.AbstractEventLoop, inside: AsyncGenerator[None, None]) -> None:
    task = loop.create_task(_left(inside))
    _leaving.add(task)
    task.add_done_callback(_leaving.discard)


async def _left(inside: AsyncGenerator[None, None]) -> None:
    for _ in range(3):
        await asyncio.sleep(0)  # a loop that ends closes it itself, and must be the first to try
    with suppress(RuntimeError):
        await inside.aclose()
