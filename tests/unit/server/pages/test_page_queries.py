"""Slow results are computed once for all requests, and evicted when the cache is full."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from planproof.server.pages.page_queries import ThreadSafeCache
from tests.timeouts import TIMEOUT_SECONDS


def test_a_value_is_made_once_for_all_who_ask_at_once() -> None:
    remembered: ThreadSafeCache[int] = ThreadSafeCache(2)
    going, made = Event(), list[int]()

    def make() -> int:
        assert going.wait(TIMEOUT_SECONDS)
        made.append(1)
        return 7

    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(remembered.get_or_compute, "key", make) for _ in range(4)]
        going.set()
        assert [each.result() for each in asked] == [7] * 4
    assert made == [1]


def test_the_one_that_nobody_asked_for_longest_is_forgotten() -> None:
    remembered: ThreadSafeCache[str] = ThreadSafeCache(2)
    for key in ("a", "b", "a", "c"):
        remembered.get_or_compute(key, lambda: "old")
    assert remembered.get_or_compute("a", lambda: "new") == "old"
    assert remembered.get_or_compute("b", lambda: "new") == "new"


def test_a_failure_is_not_remembered() -> None:
    remembered: ThreadSafeCache[int] = ThreadSafeCache(2)

    def fails() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        remembered.get_or_compute("key", fails)
    assert remembered.get_or_compute("key", lambda: 3) == 3
