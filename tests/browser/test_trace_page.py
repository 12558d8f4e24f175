"""The page of a trace as it was read: records and events side by side, linked both ways."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.reports.html.trace_page import render_trace_page
from tests.browser.axe import find_serious_violations
from tests.browser.page_opener import Colours, PageOpener
from tests.own_format import TRACE, make_reader

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> &amp; \u202e ]]>"
LONG = "word" * 400


def _page(trace: str = TRACE) -> str:
    source = Source.from_text(trace, name=f"run <b>.jsonl {HOSTILE}")
    read = read_trace(source, reader="shop-bot", profiles=[make_reader()])
    return "".join(render_trace_page(source, read))


def test_records_and_events_are_side_by_side_and_linked(open_page: PageOpener) -> None:
    page = open_page([_page()])
    rows = page.locator(".row")
    expect(rows).to_have_count(6)
    raw, event = rows.nth(1).locator(".raw"), rows.nth(1).locator(".event")
    expect(event).to_contain_text("archive_report")
    left, right = raw.bounding_box(), event.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    event.get_by_role("link", name="result").click()
    expect(page).to_have_url(page.url.partition("#")[0] + "#r2")
    expect(rows.nth(2)).to_contain_text("the result of e2")
    rows.nth(2).locator(".note").get_by_role("link", name="e2").click()
    assert page.url.endswith("#e1")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_cut_off_and_everybody_can_read_it(
    open_page: PageOpener, width: int, colours: Colours
) -> None:
    lines = [json.dumps({"k": "say", "t": text}) for text in (HOSTILE, LONG, "a b\n" * 200)]
    unknown = json.dumps({"k": "x" * 300, "t": HOSTILE})
    page = open_page([_page(TRACE + "\n".join([*lines, unknown]))], width=width, colours=colours)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    expect(page.get_by_role("heading", name="Least certain")).to_be_visible()
    assert find_serious_violations(page) == []


def test_text_of_a_trace_stays_text(open_page: PageOpener) -> None:
    trace = json.dumps({"k": "do", "fn": HOSTILE, "p": {HOSTILE: HOSTILE}, "n": HOSTILE})
    page = open_page([_page(f"{trace}\n{json.dumps({'k': 'got', 't': HOSTILE, 'n': HOSTILE})}\n")])
    assert page.locator("script, img, iframe").count() == 0
    expect(page.locator(".event .said b")).to_contain_text("<script>alert(1)</script>")


def test_a_policy_forbids_all_but_its_own_style() -> None:
    made = _page()
    assert "default-src 'none'; style-src 'sha256-" in made.replace("&#39;", "'")
    assert "<script" not in made
    assert "http://" not in made
    assert "https://" not in made
