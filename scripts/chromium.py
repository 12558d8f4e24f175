"""A real Chromium, for whatever opens the pages that planproof makes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_EXECUTABLES = ("chromium", "chromium-browser", "google-chrome")
# It has nobody to talk to: the first start would ask for updates and accounts.
_FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-sync")


class ChromiumNotFound(Exception):
    """None is installed; says how to get one."""


@contextmanager
def open_chromium() -> Generator[Browser, None, None]:
    """A browser without a window. While it runs, the process can't use asyncio otherwise."""
    executable = os.environ.get("PLANPROOF_CHROMIUM") or next(
        filter(None, map(shutil.which, _EXECUTABLES)), None
    )
    if executable is None:
        raise ChromiumNotFound("There is no Chromium: `make browser` installs it.")
    # As root, it starts only without its sandbox.
    flags = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=[*_FLAGS, *flags])
        try:
            yield running
        finally:
            running.close()
