"""Many small pieces of work done together, one batch after the other, in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")


class Batcher(Generic[_Item, _Outcome]):
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
        delay: float = 0.0,
    ) -> None:
        self._work = work
        self._delay = delay
        self._thread = ThreadPoolExecutor(1, name)
        self._waiting: list[tuple[_Item, asyncio.Future[_Outcome]]] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, item: _Item) -> _Outcome:
        """Have this done with what others want; what came of it."""
        outcome: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, outcome))
        if self._task is None:
            self._task = asyncio.create_task(self._process_batches())
        return await outcome

    async def close(self) -> None:
        """Do what waits, and stop."""
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    async def _process_batches(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                if self._delay:
                    await asyncio.sleep(self._delay)
                batch, self._waiting = self._waiting, []
                items = [item for item, _ in batch]
                futures = [outcome for _, outcome in batch]
                try:
                    outcomes = await loop.run_in_executor(self._thread, self._work, items)
                except Exception as error:
                    for future in futures:
                        _set_outcome(future, error)
                else:
                    for future, outcome in zip(futures, outcomes, strict=True):
                        _set_outcome(future, outcome)
        finally:
            self._task = None


def _set_outcome(future: asyncio.Future[_Outcome], outcome: _Outcome | Exception) -> None:
    # Whoever waited may have gone away.
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
