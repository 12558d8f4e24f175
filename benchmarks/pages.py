"""`make pages`: how long pages take to make and to open, and whether they stay smooth.

Making is CPU time. Opening is wall time in a real Chromium, from the address to two frames after
everything is there; against it stands a bare page that holds the same texts and does nothing with
them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from time import perf_counter, process_time

from playwright.sync_api import Browser

from benchmarks.cases import generate
from benchmarks.measure import Row, per_call, show
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.evaluation import evaluate_case
from planproof.preparation import Reading
from planproof.reports.html.case_page import judged_case
from planproof.reports.html.report_page import case_page, run_page
from planproof.runs.case_json import kept
from planproof.runs.run_records import Result, RunState, new_run
from planproof.runs.store.open_store import open_store
from scripts.chromium import chromium

EVENTS = 5_000
CASES = 1_000
ROUNDS = 3
_TWO_FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)
_SCROLLED = """async () => {
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
    """Print every row; 1 when a page takes more than two seconds to open, else 0."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        rows = [*_case(Path(folder), browser), *_run(Path(folder), browser)]
    show(rows)
    return 0 if all(row.holds for row in rows) else 1


def _case(folder: Path, browser: Browser) -> Iterator[Row]:
    case = _case_of(100, EVENTS, 0)
    verdict = evaluate_case(case)
    began = process_time()
    text = "".join(case_page(judged_case(case, verdict, Reading())))
    made = process_time() - began
    yield from _rows(f"{EVENTS:,} events", folder, browser, text, made)


def _run(folder: Path, browser: Browser) -> Iterator[Row]:
    store = open_store(str(folder / "runs.db"))
    cases = [_case_of(10, 50, seed) for seed in range(20)]
    verdicts = [evaluate_case(case) for case in cases]
    judge = verdicts[0].judge
    assert judge is not None
    run = new_run(source="generated", judge=judge, fingerprint="f")
    store.begin(run)
    store.add(
        run.id,
        [
            Result(
                place, kept(cases[place % 20]).hash, f"case-{place}", verdicts[place % 20], 0.003
            )
            for place in range(CASES)
        ],
        [kept(case) for case in cases],
    )
    store.close_run(run.id, RunState.FINISHED)
    began = process_time()
    text = "".join(run_page(store.find(run.id), store, Reading(), min_score=0.75))
    made = process_time() - began
    store.close()
    yield from _rows(f"{CASES:,} cases", folder, browser, text, made)


def _rows(what: str, folder: Path, browser: Browser, text: str, made: float) -> Iterator[Row]:
    whole, bare = folder / "whole.html", folder / "bare.html"
    whole.write_text(text, encoding="utf-8")
    bare.write_text(f"<!doctype html><pre hidden>{escape(text)}</pre>", encoding="utf-8")
    floor = min(_opened(browser, bare)[0] for _ in range(ROUNDS))
    opened, frame = min(_opened(browser, whole) for _ in range(ROUNDS))
    size = f"{len(text) / 1e6:.1f} MB"
    yield Row(f"{what}, making {size} / opening", per_call(made), per_call(opened), made / opened)
    yield Row(f"{what}, opening / a bare page", per_call(opened), per_call(floor), opened / floor)
    yield Row(f"{what}, opening / 2 s", per_call(opened), "2 s", opened / 2, 1)
    yield Row(f"{what}, a frame of scrolling / 1/60 s", per_call(frame), "16.7 ms", frame * 60)


def _opened(browser: Browser, file: Path) -> tuple[float, float]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    began = perf_counter()
    page.goto(file.as_uri())
    page.evaluate(_TWO_FRAMES)
    opened = perf_counter() - began
    frame: float = page.evaluate(_SCROLLED)
    page.close()
    return opened, frame


def _case_of(steps: int, events: int, seed: int) -> Case:
    made = generate(steps=steps, events=events, seed=seed)
    return Case(task=Content(made.task), plan=made.plan, trace=made.trace)


if __name__ == "__main__":
    sys.exit(main())
