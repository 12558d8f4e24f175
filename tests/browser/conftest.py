"""A real Chromium, and pages in it that tell everything that goes wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.opening import Opening

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# It has nobody to talk to: the first start would ask for updates and accounts.
_QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


# Not for the whole session: while it runs, no other test of the process could use asyncio.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = os.environ.get("PLANPROOF_CHROMIUM") or next(
        filter(None, map(shutil.which, _NAMES)), ""
    )
    if not found:
        pytest.fail("There is no Chromium: `make browser` installs it.")
    # As root, Chromium starts only without its sandbox.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=[*_QUIET, *flags])
        yield running
        running.close()


@pytest.fixture
def opening(browser: Browser, tmp_path: Path) -> Iterator[Opening]:
    """Opens pages, and fails the test if any of them asked for anything or complained."""
    opened = Opening(browser, tmp_path)
    yield opened
    opened.close()
    assert opened.problems == []
