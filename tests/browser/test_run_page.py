"""The page of a run: scores, what broke, the table of cases, and the way to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from planproof.core.verdict import Outcome, Verdict
from planproof.evaluation import ReadOptions
from planproof.reports.html.case_page import JudgedCase
from planproof.reports.html.report_page import render_run_page
from planproof.runs.store.open_store import open_store
from tests.browser.axe import find_serious_violations
from tests.browser.page_opener import Colours, PageOpener
from tests.judged_cases import EVERY_STATUS, demo_case, long_case, store_run

CASES = (
    demo_case("followed"),
    demo_case("claimed"),
    demo_case("reordered"),
    EVERY_STATUS,
    long_case(5_000, extras=100),
    Verdict(outcome=Outcome.JUDGE_FAILED, reason="No answer came.", cause="timeout", id="<b>late"),
)


def render_run(folder: Path, cases: Sequence[JudgedCase | Verdict]) -> str:
    store = open_store(str(folder / "runs.db"))
    run = store_run(store, cases)
    page = "".join(render_run_page(run, store, ReadOptions(), min_score=0.75))
    store.close()
    return page


@pytest.fixture(scope="module")
def page_html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render_run(tmp_path_factory.mktemp("run"), CASES)


def test_the_overview_counts_scores_steps_and_what_was_not_judged(
    open_page: PageOpener, page_html: str
) -> None:
    page = open_page([page_html])
    expect(page.get_by_role("heading", level=1)).to_have_text("20260101-030000-abc123")
    expect(page.locator(".facts")).to_contain_text("1 of 6 cases at 0.75 or above")
    expect(page.locator(".shares b")).to_have_text(["0.83", "0.92", "1.00"])
    expect(page.locator(".bars:not(.shares) b")).to_have_text(
        ["1.0", "0.75", "0.5", "0.25", "0.0", "–"]
    )
    expect(page.locator(".bars .number")).to_have_text(["1", "0", "1", "1", "2", "1"])
    expect(page.locator(".causes li")).to_have_text(["judge_failed (timeout): 1"])
    expect(page.locator(".counts")).to_contain_text("1 missing")
    expect(page.locator(".failed-steps .text")).to_have_count(6)
    expect(page.locator(".failed-steps .how").first).to_contain_text("of 1")


def test_the_table_is_sorted_filtered_and_searched(open_page: PageOpener, page_html: str) -> None:
    page = open_page([page_html])
    names = page.locator("tbody .name")
    order = ["<b>late", "report-12", "long-5000", "migration-reordered"]
    expect(names).to_have_text([*order, "bugfix-step-claimed", "refund-followed"])
    page.get_by_role("button", name="score").click()
    expect(names.first).to_have_text("refund-followed")
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="events").click()
    page.get_by_role("button", name="events").click()
    expect(names.first).to_have_text("long-5000")
    page.locator(".bars button", has_text="no adherence").click()
    expect(names).to_have_text(["long-5000", "report-12"])
    page.locator(".bars button", has_text="not judged").click()
    expect(names).to_have_text(["long-5000", "report-12", "<b>late"])
    page.get_by_role("searchbox").fill("timeout")
    expect(names).to_have_text(["<b>late"])
    expect(page.get_by_role("status")).to_have_text("1 of 6")


def test_the_marks_of_a_row_have_text_labels(open_page: PageOpener, page_html: str) -> None:
    page = open_page([page_html])
    row = page.locator("tbody tr", has_text="report-12")
    expect(row.locator(".mark")).to_have_text(["✓", "◐", "?", "✗", "⇅"])
    expect(row.locator(".steps .unseen")).to_contain_text("1 executed, 1 partial")
    expect(row.locator(".extras")).to_have_text("+1 major+1 minor")


def test_a_case_is_opened_left_and_gone_on_from(open_page: PageOpener, page_html: str) -> None:
    page = open_page([page_html])
    page.get_by_role("link", name="report-12").click()
    expect(page.locator(".digits")).to_have_text("0.0")
    expect(page.locator(".step")).to_have_count(5)
    page.keyboard.press("]")
    expect(page.locator(".case-id")).to_have_text("long-5000")
    page.keyboard.press("[")
    expect(page.locator(".case-id")).to_have_text("report-12")
    page.keyboard.press("[")
    expect(page.get_by_role("heading", level=1)).to_contain_text("not judged: the judge failed")
    expect(page.get_by_role("button", name="Previous case")).to_be_disabled()
    page.keyboard.press("u")
    expect(page.locator("tbody tr").first).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(6)
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="<b>late")).to_be_focused()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("not judged")


def test_a_page_can_be_opened_at_a_case(open_page: PageOpener, page_html: str) -> None:
    page = open_page([page_html], at="#case-2")
    expect(page.locator(".case-id")).to_have_text("migration-reordered")
    expect(page.locator(".proof .lines path")).to_have_count(4)
    lost = open_page([page_html], at="#case-99")
    expect(lost.locator("tbody tr")).to_have_count(6)


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(
    open_page: PageOpener, page_html: str, width: int, colours: Colours
) -> None:
    page = open_page([page_html], width=width, colours=colours)
    page.locator(".bars button").first.click()
    assert find_serious_violations(page) == []
    page.get_by_role("link", name="refund-followed").click()
    assert find_serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_thousand_cases_are_listed_as_one_goes_down(
    open_page: PageOpener, tmp_path: Path
) -> None:
    short = replace(EVERY_STATUS, trace=None)
    cases = [
        replace(short, verdict=replace(short.verdict, id=f"case {number}"))
        for number in range(1_200)
    ]
    page = open_page([render_run(tmp_path, cases)])
    expect(page.locator(".unpaged")).to_contain_text("Only 1,000 cases can be opened here")
    assert page.locator("tbody tr").count() < 400
    page.get_by_role("button", name="#").click()
    page.get_by_role("button", name="#").click()
    expect(page.locator("tbody .name").first).to_have_text("case 1199")
    expect(page.locator("tbody .name").first.get_by_role("link")).to_have_count(0)
    page.get_by_role("searchbox").fill("case 999")
    page.get_by_role("link", name="case 999").click()
    expect(page.locator(".case-id")).to_have_text("case 999")
