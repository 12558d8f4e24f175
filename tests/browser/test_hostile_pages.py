"""Case content is shown as text: it runs no script, sends no request and breaks no page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from planproof.core.content import Content
from planproof.core.finding import Status
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import Coverage
from planproof.reports.html.case_page import JudgedCase
from planproof.reports.html.report_page import render_case_page
from tests.browser.page_opener import PageOpener
from tests.judged_cases import EVERY_STATUS, action_event, extra, step

ATTACKS = {
    "script": "<script>window.harmed = 1</script>",
    "data element": '</script><script>window.harmed = 1</script><script type="application/json">',
    "comment": "<!--<script>window.harmed = 1",
    "handler": '"><img src=x onerror="window.harmed = 1">',
    "style": "</style><style>body { display: none }</style>",
    "frame": '<iframe src="https://example.invalid/"></iframe>',
    "link": '<a href="javascript:window.harmed = 1">click</a>',
    "entity": "&lt;script&gt;window.harmed = 1&lt;/script&gt;",
    "template": "{{ 7 * 7 }}{% raw %}{% include 'x' %}",
    "refresh": '<meta http-equiv="refresh" content="0; url=https://example.invalid/">',
}


def make_hostile_case(text: str) -> JudgedCase:
    """A case in which everything that a trace can hold is this text."""
    events = (
        Event(id="e1", kind=Kind.MESSAGE, pointer="/1", actor=text, text=text, time=text),
        action_event(2, text, text, arguments={text: text}, output=text),
        action_event(3, text, output=text),
    )
    verdict = replace(
        EVERY_STATUS.verdict,
        id=text,
        reason=text,
        steps=(replace(step(text, text, Status.EXECUTED, ("e2", text)), note=text),),
        extras=(extra("e3", text),),
        coverage=Coverage(reader=text, events=3, notes=(text,)),
    )
    return JudgedCase(verdict=verdict, task=Content(text), trace=Trace(events))


def open_all_details(page: Page) -> None:
    """Choose everything, open everything, and search."""
    page.locator(".step-head").click()
    page.locator(".task summary").click()
    for head in page.locator(".event-head").all():
        if head.get_attribute("aria-expanded") == "false":
            head.click()
    page.keyboard.press("x")
    page.keyboard.press("?")
    page.keyboard.press("Escape")


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_markup_is_shown_as_text(open_page: PageOpener, text: str) -> None:
    page = open_page(render_case_page(make_hostile_case(text)))
    open_all_details(page)
    assert page.evaluate("window.harmed") is None
    expect(
        page.locator("img, iframe, object, embed, main a, main script, body style")
    ).to_have_count(0)
    expect(page.locator("script")).to_have_count(2)
    for place in (".reason", ".case-id", ".step .text", ".task pre", ".notes li >> nth=1"):
        expect(page.locator(place)).to_have_text(text)
    for shown in page.locator(".event-more pre").all():
        if not (shown.text_content() or "").startswith("{"):
            expect(shown).to_have_text(text)
    page.get_by_role("searchbox").fill(text)
    expect(page.locator(".event")).to_have_count(3)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("half \ud83d of a pair", "half \\ud83d of a pair"),
        ("other half \udca9", "other half \\udca9"),
        ("right\u202eto left", "right\\u202eto left"),
        ("nothing \x00 at all", "nothing \\x00 at all"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\ufeffmark", "\\ufeffmark"),
        ("private \ue000", "private \\ue000"),
        ("शुभ 家族 👨‍👩‍👧", "शुभ 家族 👨‍👩‍👧"),
    ],
)
def test_broken_unicode_is_shown_as_what_it_is(
    open_page: PageOpener, text: str, shown: str
) -> None:
    page = open_page(render_case_page(make_hostile_case(text)))
    open_all_details(page)
    expect(page.locator(".event.extra pre")).to_have_text(shown)


def test_a_megabyte_is_cut_and_its_quote_still_shown(open_page: PageOpener) -> None:
    case = make_hostile_case("x" * 1_000_000)
    events = (
        action_event(2, "read", output=f"{'a b ' * 200_000} the needle {'c' * 200_000}"),
        action_event(3, "x" * 1_000_000),
    )
    steps = (step("1", "Find the needle", Status.EXECUTED, ("e2", "the needle")),)
    page = open_page(
        render_case_page(
            replace(case, verdict=replace(case.verdict, steps=steps), trace=Trace(events))
        )
    )
    page.locator(".step-head").click()
    expect(page.locator("pre mark.on")).to_have_text("the needle")
    expect(page.locator("pre mark.on")).to_be_visible()
    expect(page.locator(".event.on .cut")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert len(page.content()) < 400_000


def test_what_looks_like_a_secret_is_masked_unless_it_is_asked_for(open_page: PageOpener) -> None:
    secret = "password: hunter2hunter2"
    case = make_hostile_case(secret)
    quoting = step("1", "Log in", Status.EXECUTED, ("e2", "hunter2hunter2"))
    case = replace(case, verdict=replace(case.verdict, steps=(quoting,)))
    assert "hunter2" not in "".join(render_case_page(case))
    page = open_page(render_case_page(case))
    open_all_details(page)
    expect(page.locator(".step q")).to_have_text("[redacted]")
    assert "hunter2" in "".join(render_case_page(case, secrets=True))
