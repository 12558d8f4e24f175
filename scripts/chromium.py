"""A real Chromium, for whatever opens the pages that planproof makes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# It has nobody to talk to: the first start would ask for updates and accounts.
_QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync")


class NoChromium(Exception):
    """None is installed; says how to get one."""


@contextmanager
def chromium() -> Generator[Browser, None, None]:
    """A browser without a window. While it runs, the process can't use asyncio otherwise."""
    found = os.environ.get("PLANPROOF_CHROMIUM") or next(
        filter(None, map(shutil.which, _NAMES)), None
    )
    if found is None:
        raise NoChromium("There is no Chromium: `make browser` installs it.")
    # As root, it starts only without its sandbox.
    flags = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=[*_QUIET, *flags])
        try:
            yield running
        finally:
            running.close()
