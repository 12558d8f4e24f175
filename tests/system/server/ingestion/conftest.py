"""A store to take spans into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from planproof.runs.store.opening import open_store
from planproof.runs.store.sql import SqlStore


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    opened = open_store(store_url)
    assert isinstance(opened, SqlStore)
    with closing(opened):
        yield opened
