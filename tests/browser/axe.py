"""What axe says of a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def find_serious_violations(page: Page) -> list[str]:
    """What axe finds that is serious or worse, with the elements."""
    return [
        f"{violation['id']}: {node['html']}: {node['failureSummary']}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
    ]
