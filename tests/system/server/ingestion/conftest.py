"""A store to take spans into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from time import time

import pytest

from planproof.runs.store.open_store import open_store
from planproof.runs.store.sql_store import SqlStore
from tests.virtual_time import VirtualTime


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    """The time that leases go by: none passes unless a test lets it."""
    made = VirtualTime(time())
    for module in ("finished_traces", "verdict_export"):
        monkeypatch.setattr(f"planproof.server.ingestion.{module}.time", made)
    return made


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    opened = open_store(store_url)
    assert isinstance(opened, SqlStore)
    with closing(opened):
        yield opened
