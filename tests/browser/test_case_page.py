"""The page of a case: steps and events bound by lines, chosen, searched, filtered, by key."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from planproof.checking.contract_judge import ContractJudge
from planproof.contracts.contract_file import parse_contract
from planproof.core.case import Case
from planproof.evaluation import ReadOptions, evaluate_case
from planproof.reports.html.case_page import read_judged_case
from planproof.reports.html.report_page import render_case_page
from tests.browser.page_opener import PageOpener
from tests.judged_cases import EVERY_STATUS, demo_case, long_case
from tests.trace_builders import did, trace


def test_the_page_shows_the_verdict(open_page: PageOpener) -> None:
    page = open_page(render_case_page(demo_case("reordered")))
    assert page.title() == "planproof: migration-reordered"
    expect(page.locator(".digits")).to_have_text("0.25")
    expect(page.get_by_role("heading", level=1)).to_contain_text("weak adherence")
    expect(page.locator(".reason")).to_contain_text("out of plan order, at e4")
    expect(page.locator(".better")).to_have_text("→ 1.0 if step 4 had come after step 3")
    expect(page.locator(".step .label")).to_have_text(["executed"] * 3 + ["out of order"])
    expect(page.locator(".event")).to_have_count(6)


def test_lines_bind_steps_to_their_events_and_rings_mark_what_crosses(
    open_page: PageOpener,
) -> None:
    page = open_page(render_case_page(demo_case("reordered")))
    expect(page.locator(".proof .lines path")).to_have_count(4)
    expect(page.locator(".proof .lines circle.crossing")).to_have_count(2)
    ends = page.evaluate(
        """() => {
          const lines = document.querySelector(".proof .lines");
          const dot = lines.querySelector("[data-status=out_of_order] .end");
          const row = document.querySelector(".event[data-status=out_of_order]");
          return [dot.getBoundingClientRect(), row.getBoundingClientRect()];
        }"""
    )
    dot, row = ends
    assert row["top"] < dot["top"] < row["bottom"]
    assert abs(dot["right"] - row["left"]) < 8


def test_every_status_has_its_own_mark_and_extras_are_highlighted(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    expect(page.locator(".step .mark")).to_have_text(["✓", "◐", "?", "✗", "⇅"])
    expect(page.locator(".event.extra .label")).to_have_text(["+ major extra", "+ minor extra"])
    expect(page.locator(".proof .lines [data-status=missing] text")).to_have_text("✗")
    expect(page.locator(".proof .lines [data-status=major] text")).to_have_text("+")
    expect(page.locator(".proof .lines [data-status=partial] text")).to_have_text("◐")


def test_clicking_a_step_quotes_its_evidence_and_highlights_it(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    page.get_by_role("button", name="Check all figures").click()
    expect(page.locator(".step.on q")).to_have_text("3 of 5 figures checked")
    expect(page.locator(".event.on")).to_have_count(1)
    expect(page.locator(".event.on .id")).to_have_text("e6")
    expect(page.locator(".event.on pre mark.on")).to_have_text("3 of 5 figures checked")
    expect(page.locator(".proof .lines.selected g.on path")).to_have_count(1)
    page.get_by_role("button", name="Check all figures").click()
    expect(page.locator(".on")).to_have_count(0)


def test_evidence_out_of_sight_is_brought_into_view(open_page: PageOpener) -> None:
    page = open_page(render_case_page(long_case(400)))
    expect(page.locator(".event .id", has_text="e320")).not_to_be_in_viewport()
    page.get_by_role("button", name="Use argument 320").click()
    expect(page.locator(".event.on pre mark.on").first).to_be_in_viewport()
    expect(page.get_by_role("button", name="Use argument 320")).to_be_in_viewport()


def test_an_event_opens_to_all_that_it_says(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    page.locator(".event", has_text="translate").first.click()
    opened = page.locator(".event-more")
    expect(opened).to_contain_text("major extra: translate; confidence 80%")
    expect(opened).to_contain_text("status error")
    expect(opened.locator("pre")).to_have_text(["de", "no such language"])


def test_keys_lead_through_the_case(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    press = page.keyboard.press
    press("j")
    press("j")
    expect(page.locator(".step.on .number")).to_have_text("2")
    press("k")
    expect(page.locator(".step.on .number")).to_have_text("1")
    press("ArrowDown")
    expect(page.locator(".step.on .number")).to_have_text("2")
    expect(page.locator(".step.on .step-head")).to_be_focused()
    press("n")
    expect(page.locator(".event.on .event-head")).to_be_focused()
    press("x")
    expect(page.locator(".event.on .label")).to_have_text("+ major extra")
    press("x")
    expect(page.locator(".event.on .label")).to_have_text("+ minor extra")
    press("Escape")
    expect(page.locator(".on")).to_have_count(0)
    press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_search_shows_only_matching_events(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    page.keyboard.press("/")
    page.keyboard.type("FIGURES")
    expect(page.get_by_role("status")).to_have_text("1 step and 1 event of 7")
    expect(page.locator(".step .text")).to_have_text(["Check all figures"])
    expect(page.locator(".event .id")).to_have_text(["e6"])
    page.keyboard.press("Escape")
    expect(page.locator(".event")).to_have_count(7)


def test_filters_leave_one_status(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    page.get_by_role("button", name="partial 1").click()
    expect(page.locator(".step .label")).to_have_text(["partial"])
    expect(page.locator(".event .id")).to_have_text(["e6"])
    page.get_by_role("button", name="extras 2").click()
    expect(page.locator(".event .id")).to_have_text(["e4", "e5", "e6"])
    page.get_by_role("button", name="partial 1").click()
    expect(page.locator(".step")).to_have_count(5)
    expect(page.locator(".event .id")).to_have_text(["e4", "e5"])


def test_long_runs_that_no_finding_names_are_folded(open_page: PageOpener) -> None:
    page = open_page(render_case_page(long_case(200)))
    expect(page.locator(".event")).to_have_count(10)
    page.get_by_role("button", name="19 events not cited by any finding (e1 to e19)").click()
    expect(page.locator(".event")).to_have_count(29)
    page.keyboard.press("/")
    page.keyboard.type("argument 111 ")
    expect(page.locator(".event .id")).to_have_text(["e111"])


def test_the_switch_turns_the_colours(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    paper = "getComputedStyle(document.body).backgroundColor"
    system = page.evaluate(paper)
    switch = page.get_by_role("button", name="Theme:")
    switch.click()
    expect(switch).to_contain_text("light")
    assert page.evaluate(paper) == system
    switch.click()
    expect(switch).to_contain_text("dark")
    assert page.evaluate(paper) != system


@pytest.mark.parametrize("width", [400, 768, 1280])
def test_nothing_is_wider_than_the_window(open_page: PageOpener, width: int) -> None:
    page = open_page(render_case_page(EVERY_STATUS), width=width)
    page.get_by_role("button", name="Mail it to Ann").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_shows_every_quote_and_no_controls(open_page: PageOpener) -> None:
    page = open_page(render_case_page(EVERY_STATUS))
    page.emulate_media(media="print")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    expect(page.locator(".step q")).to_have_count(4)
    for quote in page.locator(".step q").all():
        expect(quote).to_be_visible()


def test_five_thousand_events_are_drawn_only_where_they_are_seen(open_page: PageOpener) -> None:
    page = open_page(render_case_page(long_case(5_000, extras=1_600)))
    expect(page.locator(".event.extra")).to_have_count(1_600)
    assert page.locator(".proof .lines g").count() < 80
    page.locator(".event.extra").nth(1_500).scroll_into_view_if_needed()
    expect(page.locator(".proof .lines [data-status=major]").first).to_be_visible()
    assert page.locator(".proof .lines g").count() < 120


def test_a_step_shows_the_requirements_of_its_contract(open_page: PageOpener) -> None:
    step = "{number: '1', text: Pay, call: pay, where: {card: company}}"
    contract = parse_contract(f"planproof: contract/1\nsteps: [{step}]", "test")
    case = Case(task=None, plan=None, trace=trace(did("pay", card="<b>personal</b>")))
    verdict = evaluate_case(case, judge=ContractJudge(contract))
    page = open_page(render_case_page(read_judged_case(case, verdict, ReadOptions())))
    page.locator(".step-head").click()
    rows = page.locator(".checks tbody tr")
    expect(rows).to_have_text(["✓callpaypay", "✗where.cardcompany<b>personal</b>"])
    assert open_page.problems == []
