"""Settings that every test runs under."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.postgresql import PostgreSQL

# A test sets no `max_examples` of its own: HYPOTHESIS_PROFILE=long must reach it.
settings.register_profile("default", max_examples=100, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgreSQL]:
    """A real PostgreSQL, started when the first test asks for it."""
    from tests.postgresql import postgresql

    with postgresql() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that is not there yet, in each of the databases."""
    if request.param == "sqlite":
        return str(tmp_path / "kept" / "runs.db")
    server: PostgreSQL = request.getfixturevalue("postgresql_server")
    return server.new_database()
