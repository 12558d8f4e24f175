"""Keep unit tests quick: none starts a process, or reaches beyond this machine."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.isolation import isolate

_HERE = Path(__file__).parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Guard a unit test, and the fixtures of every scope that are set up for it."""
    # This hook is called for the tests of all folders.
    with isolate() if item.path.is_relative_to(_HERE) else nullcontext():
        return (yield)
