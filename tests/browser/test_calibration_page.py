"""The page of a calibration: its figures, and the way from each to the variants behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from planproof.calibration.case_labels import Label
from planproof.calibration.figures import compute_figures
from planproof.calibration.followed_cases import load_built_in_cases
from planproof.calibration.measurement import measure
from planproof.calibration.variant_set import generate_variants
from planproof.checking.rules import Rules
from planproof.evaluation import ReadOptions
from planproof.reports.html.report_page import render_calibration_page
from planproof.runs.engines.case_judging import CaseEvaluator
from tests.browser.axe import find_serious_violations
from tests.browser.page_opener import Colours, PageOpener
from tests.unit.calibration_rows import row

CASES = load_built_in_cases()[:2]


@pytest.fixture(scope="module")
def page_html() -> str:
    """One of the two cases is not followed, if people are asked; nobody labelled a third."""
    labels = {CASES[0].id: Label(True, 1.0), CASES[1].id: Label(False, 0.5)}
    rows = [
        replace(row, variant=replace(row.variant, label=labels[row.origin]))
        if row.change is None
        else row
        for row in measure(generate_variants(CASES), CaseEvaluator(Rules()), concurrency=1)
    ]
    rows.append(row("<b>unscored", None))
    return "".join(render_calibration_page("rules", compute_figures(rows), ReadOptions()))


def test_a_figure_leads_to_its_variants_and_these_to_their_evidence(
    open_page: PageOpener, page_html: str
) -> None:
    page = open_page([page_html])
    expect(page.get_by_role("heading", level=1)).to_have_text("Calibration of “rules”")
    variants = page.locator("[data-slot=rows] tr")
    unplanned = page.locator(".figures tr", has=page.get_by_role("button", name="unplanned"))
    expect(unplanned.locator("td b")).to_have_text(["50%", "50%", "50%"])
    unplanned.get_by_role("button", name="1 not caught").click()
    expect(page.get_by_role("status").first).to_contain_text("1 of ")
    expect(variants).to_have_count(1)
    expect(variants.locator(".result")).to_have_text("✗ not caught✗ not located✗ not below")
    expect(variants.locator(".baseline")).to_have_text("1.0 original")
    variants.get_by_role("link").click()
    expect(page.locator(".case-id")).to_have_text(
        "refund-damaged, unplanned (Send the customer a confirmation e-mail.)"
    )
    expect(page.locator(".event")).to_have_count(5)
    page.keyboard.press("u")
    unplanned.get_by_role("button", name="unplanned").click()
    expect(variants).to_have_count(2)
    page.get_by_role("searchbox").first.fill("lisbon to oslo")
    expect(variants).to_have_count(1)


def test_agreement_is_shown_with_its_interval_and_the_labels(
    open_page: PageOpener, page_html: str
) -> None:
    page = open_page([page_html])
    expect(page.get_by_role("img", name=" between ")).to_have_count(1)
    page.get_by_role("button", name="unchanged").click()
    expect(page.locator("[data-slot=rows] .baseline")).to_have_text(["", "1.0 label"])
    expect(page.locator("[data-slot=rows] .name", has_text="<b>unscored")).to_have_count(1)
    page.get_by_role("button", name="unchanged").click()
    labelled = page.locator(".figures tr", has=page.get_by_role("button", name="all", exact=True))
    expect(labelled.locator("td b")).to_have_text(["100%", "0%"])
    labelled.get_by_role("button", name="1 not caught").click()
    expect(page.locator("[data-slot=rows] .baseline")).to_have_text(["0.5 label"])


@pytest.mark.parametrize(("width", "colours"), [(400, "dark"), (1280, "light")])
def test_axe_finds_nothing_and_nothing_sticks_out(
    open_page: PageOpener, page_html: str, width: int, colours: Colours
) -> None:
    page = open_page([page_html], width=width, colours=colours)
    assert find_serious_violations(page) == []
    page.get_by_role("button", name="1 not caught").first.click()
    assert find_serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
