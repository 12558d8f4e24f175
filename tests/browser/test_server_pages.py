"""The pages of `planproof serve`, in a real Chromium, from a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from planproof.runs.store.open_store import open_sql_store
from planproof.server.guard.api_keys import Keys, Role
from tests.browser.axe import find_serious_violations
from tests.browser.page_opener import Colours, PageOpener
from tests.otlp_traces import make_attribute, make_export, make_spans, post
from tests.reverse_proxy import run_proxy
from tests.run_builders import RUN
from tests.server_processes import ServerProcess, run_server
from tests.stored_runs import LONG, NIGHTLY, fill_store

PAGES = {
    "runs": "/",
    "run": f"/runs/{LONG.id}",
    "case": f"/runs/{RUN.id}/cases/3",
    "compare": "/compare",
    "live": "/live",
    "try": "/try?case=claimed",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    store = fill_store(tmp_path_factory.mktemp("served") / "runs.db")
    with run_server(store) as running:
        yield running


def visit(open_page: PageOpener, server: ServerProcess, path: str, **how: int | Colours) -> Page:
    page = open_page.new(server.url, **how)  # pyright: ignore[reportArgumentType]
    page.goto(server.url + path)
    return page


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
@pytest.mark.parametrize(("width", "colours"), [(400, "dark"), (1280, "light")])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_window(
    open_page: PageOpener, server: ServerProcess, path: str, width: int, colours: Colours
) -> None:
    page = visit(open_page, server, path, width=width, colours=colours)
    expect(page.get_by_role("button", name="Theme:")).to_be_visible()
    assert find_serious_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_list_of_runs_leads_to_a_run_by_key(
    open_page: PageOpener, server: ServerProcess
) -> None:
    page = visit(open_page, server, "/")
    expect(page.locator(".runs tbody tr")).to_have_count(3)
    expect(page.locator("[aria-labelledby=trend-title] circle")).to_have_count(3)
    # Of the three runs, one has verdicts with measures.
    expect(page.locator(".measure-trends > div")).to_have_count(3)
    expect(page.locator(".measure-trends circle")).to_have_count(3)
    expect(page.locator(".means .stroke")).to_have_count(1)
    expect(page.locator(".runs .sources a")).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(".runs tbody th > a").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".crumbs code")).to_have_text(RUN.id)
    page.keyboard.press("u")
    expect(page.locator(".runs tbody tr")).to_have_count(3)
    page.locator(".sources a", has_text="<i>other</i>").click()
    expect(page.locator(".runs tbody tr")).to_have_count(1)


def test_cases_are_filtered_searched_sorted_and_paged(
    open_page: PageOpener, server: ServerProcess
) -> None:
    page = visit(open_page, server, f"/runs/{LONG.id}")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(100)
    expect(rows.first).to_contain_text("case-004")
    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(page.get_by_role("link", name="Previous cases")).to_be_visible()
    page.get_by_role("link", name="case", exact=True).click()
    expect(rows.first).to_contain_text("case-000")
    page.get_by_role("link", name="0.25 weak adherence").click()
    expect(page.locator("#cases-title")).to_have_text("Cases 50 of 250")
    page.keyboard.press("/")
    page.keyboard.type("case-02")
    page.keyboard.press("Enter")
    expect(page.locator("tbody .name")).to_have_text(["case-020", "case-025"])
    page.get_by_role("link", name="case-025").click()
    expect(page.locator(".case-id")).to_have_text("case-025")
    page.keyboard.press("[")
    expect(page.locator(".case-id")).to_have_text("case-020")
    expect(page.get_by_role("link", name="Previous case")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("tbody .name")).to_have_text(["case-020", "case-025"])


def test_clicking_a_step_of_a_case_shows_its_evidence(
    open_page: PageOpener, server: ServerProcess
) -> None:
    page = visit(open_page, server, f"/runs/{RUN.id}/cases/3")
    page.get_by_role("button", name="Check all figures").click()
    expect(page.locator(".step.on q")).to_have_text("3 of 5 figures checked")
    expect(page.locator(".event.on .id")).to_have_text("e6")
    expect(page.locator(".proof .lines.selected g.on path")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("out of order; a ring")


def test_two_runs_are_compared(open_page: PageOpener, server: ServerProcess) -> None:
    page = visit(open_page, server, "/")
    page.locator(".change a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What changed")
    expect(page.locator(".mean-change")).to_contain_text("0.500 → 0.500")
    expect(page.locator(".counts").first).to_contain_text("1 worse")
    expect(page.locator("section", has_text="No longer scored").last).to_contain_text("<b>late")
    page.get_by_label("from").select_option(LONG.id)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".change-lines")).to_contain_text("No case has a score in both runs.")
    page.go_back()
    page.get_by_role("link", name="before: bugfix-step-claimed").click()
    expect(page.locator(".case-id")).to_have_text("bugfix-step-claimed")
    expect(page.locator(".crumbs")).to_contain_text("case 1")
    assert f"/runs/{NIGHTLY.id}/cases/1" in page.url


def test_a_pasted_case_gets_its_verdict(open_page: PageOpener, server: ServerProcess) -> None:
    page = visit(open_page, server, "/try")
    page.get_by_label("Task").fill("Ship it.")
    page.get_by_label("Plan").fill("1. Run the tests\n2. Deploy to production")
    call = '{"role": "assistant", "tool_calls": [{"function": {"name": "%s", "arguments": "{}"}}]}'
    page.get_by_label("Trace").fill(f"[{call % 'run_tests'}]")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".step .label")).to_have_text(["executed", "missing"])
    expect(page.locator(".digits")).to_have_text("0.5")
    page.get_by_role("button", name="Run the tests").click()
    expect(page.locator(".event.on .id")).to_have_text("e1")
    page.get_by_text("Change the case").click()
    expect(page.get_by_role("textbox", name="Plan")).to_have_value(
        "1. Run the tests\n2. Deploy to production"
    )
    assert find_serious_violations(page) == []


def test_a_file_can_be_tried(open_page: PageOpener, server: ServerProcess) -> None:
    page = visit(open_page, server, "/try")
    whole = '{"user_task": "x", "agent_plan": ["Sing"], "execution_trace": []}'
    page.get_by_label("or a file").set_input_files(
        {"name": "case.json", "mimeType": "application/json", "buffer": whole.encode()}
    )
    expect(page.get_by_label("Trace")).to_have_value(whole)
    page.get_by_role("button", name="Judge").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("there are no events")


def test_a_trace_is_seen_while_it_comes(open_page: PageOpener, server: ServerProcess) -> None:
    plan = "1. Call look_up.\n2. Call compute with password=hunter2hunter2.\n3. Call <b>report</b>."
    tools = ("look_up", "delete_all", "compute", "report")
    *calls, root = make_spans(0xABC, tools, plan)
    calls[0]["attributes"].append(make_attribute("planproof.plan", plan))
    page = visit(open_page, server, "/live")
    expect(page.get_by_role("heading", name="No traces yet")).to_be_visible()
    post(server.url, make_export(calls[:1], service="<i>desk</i>"))
    card = page.locator(".running-trace")
    expect(card.locator("h2")).to_have_text("<i>desk</i>")
    expect(page.get_by_role("status")).to_have_text("1 running")
    expect(card.locator(".falling")).to_have_text("1.0")
    expect(card.locator(".ticks li")).to_have_count(3)
    expect(card.locator(".ticks li").first).to_contain_text("executed")
    expect(card.locator(".ticks .text").nth(1)).to_contain_text("password=[redacted]")
    expect(card.locator(".ticks .text").nth(2)).to_have_text("Call <b>report</b>.")
    assert find_serious_violations(page) == []
    post(server.url, make_export(calls[1:], service="<i>desk</i>"))
    expect(card.locator(".off")).to_contain_text("delete_all")
    expect(card.locator(".falling s")).to_have_text("1.0")
    expect(card.locator(".falling b")).not_to_have_text("1.0")
    post(server.url, make_export([root], service="<i>desk</i>"))
    expect(page.locator(".judged-list .digits")).to_have_text("0.25")
    expect(card).to_have_count(0)
    assert find_serious_violations(page) == []
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".event.extra .name").first).to_have_text("delete_all")
    expect(page.locator(".crumbs")).to_contain_text("case 0")


def test_content_of_a_run_is_shown_as_text(open_page: PageOpener, server: ServerProcess) -> None:
    page = visit(open_page, server, "/")
    expect(page.locator(".runs tbody")).to_contain_text("<i>other</i>.jsonl")
    expect(page.locator(".runs tbody")).to_contain_text("<b>tag=password=[redacted]")
    page.goto(f"{server.url}/runs/{LONG.id}?find=%3Cscript%3Ewindow.harmed=1%3C/script%3E")
    expect(page.get_by_role("searchbox")).to_have_value("<script>window.harmed=1</script>")
    expect(page.locator("main")).to_contain_text("No cases match.")
    assert page.evaluate("window.harmed") is None
    expect(page.locator("main i, main b:not(.bars b)")).to_have_count(0)


def test_a_theme_is_kept_from_page_to_page(open_page: PageOpener, server: ServerProcess) -> None:
    page = visit(open_page, server, "/")
    page.keyboard.press("t")
    page.keyboard.press("t")
    page.keyboard.press("4")
    expect(page.get_by_role("heading", name="Try a case")).to_be_visible()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_pages_work_behind_a_path_prefix_and_a_key(open_page: PageOpener, tmp_path: Path) -> None:
    store = fill_store(tmp_path / "runs.db")
    kept = open_sql_store(str(store))
    key = Keys(kept.database).add("ann", Role.WRITE)
    kept.close()
    with run_server(store, "--demand-keys") as server, run_proxy("/team/pp", server.url) as home:
        page = open_page.new(f"{home}/")
        page.goto(f"{home}/runs/{RUN.id}")
        page.get_by_label("Key").fill(key)
        assert find_serious_violations(page) == []
        page.keyboard.press("Enter")
        page.get_by_role("link", name="report-12").click()
        expect(page.locator(".step")).to_have_count(5)
        page.keyboard.press("u")
        page.get_by_role("link", name="Compare with the previous run").click()
        page.get_by_role("link", name="before: bugfix-step-claimed").click()
        expect(page.locator(".case-id")).to_have_text("bugfix-step-claimed")
        page.get_by_role("link", name="Try").click()
        page.get_by_role("link", name="steps out of order").click()
        page.get_by_role("button", name="Judge").click()
        expect(page.locator(".digits")).to_have_text("0.25")
        assert page.url == f"{home}/try"
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Key")).to_be_visible()
    # A browser says of each answer of 401 that it was one.
    unauthorized = "console: Failed to load resource: the server responded with a status of 401"
    assert [each[: len(unauthorized)] for each in open_page.problems] == [unauthorized] * 2
    open_page.problems.clear()
