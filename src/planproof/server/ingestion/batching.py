"""Process many small work items in batches, one batch at a time, on a dedicated thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")


class Batcher(Generic[_Item, _Outcome]):
    """Call `work` with every item that arrived while the previous batch was processed.

    Many small transactions then share one commit, and batches grow with the load. Each batch waits
    `delay` seconds for more items. If `work` raises, every item of the batch fails; an exception
    among the outcomes is raised for its item only.
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
        """Process an item in the next batch, and return its outcome."""
        outcome: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, outcome))
        if self._task is None:
            self._task = asyncio.create_task(self._process_batches())
        return await outcome

    async def close(self) -> None:
        """Process the waiting items, then stop the thread."""
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
    # The caller may have been cancelled.
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
