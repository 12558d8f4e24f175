"""A real Chromium, and pages in it that tell everything that goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from scripts.chromium import open_chromium
from tests.browser.page_opener import PageOpener
from tests.timeouts import TIMEOUT_SECONDS

expect.set_options(timeout=1000 * TIMEOUT_SECONDS)


# Not for the whole session: while it runs, no other test of the process could use asyncio.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_chromium() as running:
        yield running


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[PageOpener]:
    """Opens pages, and fails the test if any of them asked for anything or complained."""
    opened = PageOpener(browser, tmp_path)
    yield opened
    opened.close()
    assert opened.problems == []
