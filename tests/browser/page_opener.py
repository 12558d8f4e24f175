"""Opening pages that were made, and listening to what they do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request

from tests.timeouts import TIMEOUT_SECONDS

Colours: TypeAlias = Literal["light", "dark"]

_REPORTS_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


class PageOpener:
    """Opens pages; `problems` are requests to elsewhere, errors and broken policies."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.problems: list[str] = []
        self._browser = browser
        self._folder = folder
        self._pages: list[Page] = []

    def __call__(
        self,
        page: Iterable[str],
        *,
        width: int = 1280,
        colours: Colours = "light",
        at: str = "",
    ) -> Page:
        """The page, written to a file and opened from there."""
        file = self._folder / f"page-{len(self._pages)}.html"
        file.write_text("".join(page), encoding="utf-8")
        opened = self.new(file.as_uri(), width=width, colours=colours)
        opened.goto(file.as_uri() + at)
        return opened

    def new(self, home: str, *, width: int = 1280, colours: Colours = "light") -> Page:
        """A page that is still empty, and may ask for nothing but what begins so."""
        opened = self._browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme=colours, reduced_motion="reduce"
        )
        self._pages.append(opened)
        opened.set_default_timeout(1000 * TIMEOUT_SECONDS)
        opened.add_init_script(_REPORTS_VIOLATIONS)

        def asked(request: Request) -> None:
            if not request.url.startswith(home):
                self.problems.append(f"request: {request.url[:200]}")

        def failed(error: Error) -> None:
            self.problems.append(f"error: {error}")

        def told(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self.problems.append(f"console: {message.text}")

        opened.on("request", asked)
        opened.on("pageerror", failed)
        opened.on("console", told)
        return opened

    def close(self) -> None:
        """Close all of them."""
        for page in self._pages:
            page.close()
