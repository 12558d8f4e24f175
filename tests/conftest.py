"""Settings that every test runs under."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.postgresql import PostgreSQL

# A test sets no `max_examples` of its own: HYPOTHESIS_PROFILE=long must reach it.
# None of them depends on how busy the machine is.
settings.register_profile(
    "default",
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("long", settings.get_profile("default"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# These tests cover the inner layers. Tracing all the others as well would double the time
# they take.
_COVERING = (
    "conformance/test_detection.py",
    "conformance/test_goldens.py",
    "conformance/test_judges.py",
    "conformance/test_native_format.py",
    "conformance/test_readers.py",
    "conformance/test_readings.py",
    "conformance/test_specification.py",
    "docs/test_docs.py",
    "system/test_",
    "unit/checking/",
    "unit/contracts/",
    "unit/core/",
    "unit/llm/",
    "unit/monitor/",
    "unit/planning/",
    "unit/readers/",
    "unit/test_",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests untraced that cover nothing more."""
    if not config.pluginmanager.hasplugin("_cov"):
        return
    here = Path(__file__).parent
    for path in _COVERING:
        assert any(here.glob(f"{path}*")), (
            f"{path} is not a test file: its coverage would be missed"
        )
    for item in items:
        if not item.path.relative_to(here).as_posix().startswith(_COVERING):
            item.add_marker("no_cover")


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
