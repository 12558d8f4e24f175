"""Take the screenshot of a verdict for the docs: the page of a demo case in a real Chromium."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

from planproof.evaluation import ReadOptions, evaluate_case
from planproof.readers.decoding.case_files import read_case
from planproof.reports.html.case_page import read_judged_case
from planproof.reports.html.report_page import render_case_page
from scripts.chromium import open_chromium

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "verdict.png"
_CASE = "reordered.json"
_WIDTH = 1100


def main() -> None:
    """Open the page, go to the step that is out of order, and take the screenshot."""
    data = files("planproof.cli.demo_cases").joinpath(_CASE).read_bytes()
    case = read_case(data, name=_CASE)
    page = render_case_page(read_judged_case(case, evaluate_case(case), ReadOptions()))
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        file = Path(folder, "verdict.html")
        file.write_text("".join(page), encoding="utf-8")
        browser_page = browser.new_page(
            viewport={"width": _WIDTH, "height": 700}, color_scheme="light"
        )
        browser_page.goto(file.as_uri())
        browser_page.locator(".proof .lines path").first.wait_for(state="attached")
        below = browser_page.locator(".proof").bounding_box()
        assert below is not None
        height = round(below["y"] + below["height"] + 24)
        browser_page.screenshot(
            path=PICTURE, clip={"x": 0, "y": 0, "width": _WIDTH, "height": height}, full_page=True
        )


if __name__ == "__main__":
    main()
