"""`make bench-pages`: time to render, open and scroll large pages.

Rendering is CPU time. Opening is wall time in a real Chromium, from navigation to two frames after
the content is there; the baseline is a bare page with the same texts and no script.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from time import perf_counter, process_time

from playwright.sync_api import Browser

from benchmarks.cases import generate_case
from benchmarks.measure import BenchmarkRow, format_seconds, print_rows
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.evaluation import ReadOptions, evaluate_case
from planproof.reports.html.case_page import read_judged_case
from planproof.reports.html.report_page import render_case_page, render_run_page
from planproof.runs.run_records import Result, RunState, create_run, serialize_case
from planproof.runs.store.open_store import open_store
from scripts.chromium import open_chromium

EVENTS = 5_000
CASES = 1_000
ROUNDS = 3
_WAIT_TWO_FRAMES_JS = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)
_SCROLL_JS = """async () => {
  const frames = [];
  let last = performance.now();
  for (let frame = 0; frame < 60; frame += 1) {
    scrollBy(0, 400);
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - last);
    last = performance.now();
  }
  return frames.sort((one, other) => one - other)[30] / 1000;
}"""


def main() -> int:
    """Print every row; return 1 if a page takes more than two seconds to open, else 0."""
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        rows = [
            *_measure_case_page(Path(folder), browser),
            *_measure_run_page(Path(folder), browser),
        ]
    print_rows(rows)
    return 0 if all(row.is_within_budget for row in rows) else 1


def _measure_case_page(folder: Path, browser: Browser) -> Iterator[BenchmarkRow]:
    case = _make_case(100, EVENTS, 0)
    verdict = evaluate_case(case)
    began = process_time()
    text = "".join(render_case_page(read_judged_case(case, verdict, ReadOptions())))
    making_seconds = process_time() - began
    yield from _build_rows(f"{EVENTS:,} events", folder, browser, text, making_seconds)


def _measure_run_page(folder: Path, browser: Browser) -> Iterator[BenchmarkRow]:
    store = open_store(str(folder / "runs.db"))
    cases = [_make_case(10, 50, seed) for seed in range(20)]
    verdicts = [evaluate_case(case) for case in cases]
    judge = verdicts[0].judge
    assert judge is not None
    run = create_run(source="generated", judge=judge, fingerprint="f")
    store.begin(run)
    store.add(
        run.id,
        [
            Result(
                position,
                serialize_case(cases[position % 20]).hash,
                f"case-{position}",
                verdicts[position % 20],
                0.003,
            )
            for position in range(CASES)
        ],
        [serialize_case(case) for case in cases],
    )
    store.close_run(run.id, RunState.FINISHED)
    began = process_time()
    text = "".join(render_run_page(store.find_run(run.id), store, ReadOptions(), min_score=0.75))
    making_seconds = process_time() - began
    store.close()
    yield from _build_rows(f"{CASES:,} cases", folder, browser, text, making_seconds)


def _build_rows(
    label: str, folder: Path, browser: Browser, text: str, making_seconds: float
) -> Iterator[BenchmarkRow]:
    page_file, bare_file = folder / "whole.html", folder / "bare.html"
    page_file.write_text(text, encoding="utf-8")
    bare_file.write_text(f"<!doctype html><pre hidden>{escape(text)}</pre>", encoding="utf-8")
    floor = min(_time_opening(browser, bare_file)[0] for _ in range(ROUNDS))
    opening_seconds, frame = min(_time_opening(browser, page_file) for _ in range(ROUNDS))
    size = f"{len(text) / 1e6:.1f} MB"
    yield BenchmarkRow(
        f"{label}, rendering {size} / opening",
        format_seconds(making_seconds),
        format_seconds(opening_seconds),
        making_seconds / opening_seconds,
    )
    yield BenchmarkRow(
        f"{label}, opening / a bare page",
        format_seconds(opening_seconds),
        format_seconds(floor),
        opening_seconds / floor,
    )
    yield BenchmarkRow(
        f"{label}, opening / 2 s", format_seconds(opening_seconds), "2 s", opening_seconds / 2, 1
    )
    yield BenchmarkRow(
        f"{label}, a frame of scrolling / 1/60 s", format_seconds(frame), "16.7 ms", frame * 60
    )


def _time_opening(browser: Browser, file: Path) -> tuple[float, float]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    began = perf_counter()
    page.goto(file.as_uri())
    page.evaluate(_WAIT_TWO_FRAMES_JS)
    opening_seconds = perf_counter() - began
    frame: float = page.evaluate(_SCROLL_JS)
    page.close()
    return opening_seconds, frame


def _make_case(steps: int, events: int, seed: int) -> Case:
    generated = generate_case(steps=steps, events=events, seed=seed)
    return Case(task=Content(generated.task), plan=generated.plan, trace=generated.trace)


if __name__ == "__main__":
    sys.exit(main())
