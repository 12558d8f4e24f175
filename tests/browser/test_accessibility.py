"""axe finds nothing serious, whatever is open and in whichever colours."""

from __future__ import annotations

import pytest

from planproof.reports.html.report_page import render_case_page
from tests.browser.axe import find_serious_violations
from tests.browser.page_opener import Colours, PageOpener
from tests.judged_cases import EVERY_STATUS, long_case


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_a_case(open_page: PageOpener, colours: Colours, width: int) -> None:
    page = open_page(render_case_page(EVERY_STATUS), colours=colours, width=width)
    assert find_serious_violations(page) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_case_with_everything_open(open_page: PageOpener, colours: Colours) -> None:
    page = open_page(render_case_page(EVERY_STATUS), colours=colours)
    for head in page.locator(".event-head").all():
        head.click()
    page.get_by_role("button", name="Mail it to Ann").click()
    page.get_by_role("button", name="executed 1").click()
    assert find_serious_violations(page) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_folds_and_the_keys(open_page: PageOpener, colours: Colours) -> None:
    page = open_page(render_case_page(long_case(100, extras=2)), colours=colours)
    assert find_serious_violations(page) == []
    page.keyboard.press("?")
    assert find_serious_violations(page) == []
