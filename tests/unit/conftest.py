"""Keep unit tests quick: none starts a process, or reaches beyond this machine."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.isolation import isolated


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Guard a test, and the fixtures of every scope that are set up for it."""
    with isolated():
        return (yield)
