"""Many small pieces of work done together, one batch after the other, in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")


class Together(Generic[_Item, _Outcome]):
    """Does `work` on everything that has come while the batch before it was worked on.

    So many small transactions cost one commit together, and the more there is to do, the larger
    the batches are; each waits so many seconds for others to come. Work that raises has failed for
    all that were in the batch; an exception among the outcomes is raised for its item only.
    """

    def __init__(
        self,
        work: Callable[[list[_Item]], Sequence[_Outcome | Exception]],
        name: str,
        *,
        wait: float = 0.0,
    ) -> None:
        self._work = work
        self._wait = wait
        self._thread = ThreadPoolExecutor(1, name)
        self._waiting: list[tuple[_Item, asyncio.Future[_Outcome]]] = []
        self._working: asyncio.Task[None] | None = None

    async def __call__(self, item: _Item) -> _Outcome:
        """Have this done with what others want; what came of it."""
        outcome: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, outcome))
        if self._working is None:
            self._working = asyncio.create_task(self._work_all())
        return await outcome

    async def close(self) -> None:
        """Do what waits, and stop."""
        if self._working is not None:
            await self._working
        self._thread.shutdown()

    async def _work_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                if self._wait:
                    await asyncio.sleep(self._wait)
                batch, self._waiting = self._waiting, []
                items = [item for item, _ in batch]
                awaited = [outcome for _, outcome in batch]
                try:
                    outcomes = await loop.run_in_executor(self._thread, self._work, items)
                except Exception as error:
                    for future in awaited:
                        _settle(future, error)
                else:
                    for future, outcome in zip(awaited, outcomes, strict=True):
                        _settle(future, outcome)
        finally:
            self._working = None


def _settle(future: asyncio.Future[_Outcome], outcome: _Outcome | Exception) -> None:
    # Whoever waited may have gone away.
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
