"""One event loop for the process, in a thread of its own: the way from plain code to async code.

It lives as long as the process does, so that connections are kept from one question to the next.
When the process ends in an orderly way, what is open on the loop is closed first.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")
_SHUTDOWN_TIMEOUT = 2.0
"""For everything that is open: whoever leaves does not wait for a server that does not answer."""
_lock = threading.Lock()
_running: list[tuple[asyncio.AbstractEventLoop, threading.Thread]] = []


def submit(work: Coroutine[Any, Any, _T]) -> Future[_T]:
    """Begin some work on the loop."""
    return asyncio.run_coroutine_threadsafe(work, _get_loop())


def run_sync(work: Coroutine[Any, Any, _T]) -> _T:
    """Do some work on the loop, and wait for it: also from within another event loop."""
    if _running and threading.current_thread() is _running[0][1]:
        work.close()
        raise RuntimeError("this would wait for itself: on this loop, await aevaluate() instead")
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
    """Call off what is under way, close what is open, and end the loop."""
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
    """A forked process has the loop of its parent, but not the thread that ran it."""
    global _lock  # noqa: PLW0603 - another thread of the parent may have held it
    _lock = threading.Lock()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
