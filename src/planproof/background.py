"""One event loop for the process, in a thread of its own: the way from plain code to async code.

It lives as long as the process does, so that connections are kept from one question to the next.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")
_lock = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def start(work: Coroutine[Any, Any, _T]) -> Future[_T]:
    """Begin some work on the loop."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def wait_for(work: Coroutine[Any, Any, _T]) -> _T:
    """Do some work on the loop, and wait for it: also from within another event loop."""
    begun = start(work)
    try:
        return begun.result()
    except BaseException:
        begun.cancel()
        raise


def _loop() -> asyncio.AbstractEventLoop:
    with _lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="planproof", daemon=True).start()
            _loops.append(loop)
        return _loops[0]
