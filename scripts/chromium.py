"""Open a real Chromium for the HTML pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_EXECUTABLES = ("chromium", "chromium-browser", "google-chrome")
# No network requests for updates and accounts at the first start.
_FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-sync")


class ChromiumNotFound(Exception):
    """Chromium is not installed; the message says how to install it."""


@contextmanager
def open_chromium() -> Generator[Browser, None, None]:
    """Open a headless browser. While it is open, the process can't use asyncio."""
    executable = os.environ.get("PLANPROOF_CHROMIUM") or next(
        filter(None, map(shutil.which, _EXECUTABLES)), None
    )
    if executable is None:
        raise ChromiumNotFound("Chromium not found. Run `make browser` to install it.")
    # As root, Chromium only starts without its sandbox.
    flags = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=[*_FLAGS, *flags])
        try:
            yield running
        finally:
            running.close()
