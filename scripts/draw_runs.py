"""Take the screenshot of the server's first page for the docs, with a month of generated runs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from random import Random

from planproof.core.verdict import JudgeSummary, Verdict
from planproof.evaluation import evaluate_case
from planproof.readers.decoding.case_files import read_case
from planproof.runs.run_records import Result, Run
from planproof.runs.store.open_store import open_store
from scripts.chromium import open_chromium
from tests.server_processes import run_server
from tests.stored_runs import store_finished_run

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "runs.png"
_WIDTH, _HEIGHT = 1100, 840
_NIGHTS = 24
_CASES = 120
_FIRST = datetime(2026, 3, 1, 3, tzinfo=UTC)


def main() -> None:
    """Fill a store, serve it, and take the screenshot."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "runs.db")
        _fill_store(store)
        with run_server(store) as server, open_chromium() as browser:
            size = {"width": _WIDTH, "height": _HEIGHT}
            browser_page = browser.new_page(viewport=size, color_scheme="light")  # pyright: ignore[reportArgumentType]
            browser_page.goto(server.url)
            browser_page.locator(".means circle").first.wait_for(state="attached")
            browser_page.screenshot(path=PICTURE)


def _fill_store(path: Path) -> None:
    """Add nightly runs that improve, with a few bad nights, and runs of another data set."""
    random = Random(7)
    store = open_store(str(path))
    verdicts = [_judge_demo_case(name) for name in ("followed", "claimed", "reordered")]
    for night in range(_NIGHTS):
        bad = 30 if night in {13, 14} else 0
        tags = {"branch": "main", "commit": f"{random.getrandbits(28):07x}"}
        run = _make_run("nightly.jsonl", night, tags)
        store_finished_run(
            store, run, _make_results(verdicts, [45 + night - bad, 22, 14 + bad], random)
        )
        if night % 4 == 3:
            run = replace(
                _make_run("support.jsonl", night, {"branch": "main"}), id=f"support-{night}"
            )
            store_finished_run(
                store, run, _make_results(verdicts, [30, 25 - night / 2, 12], random)
            )
    store.close()


def _make_run(source: str, night: int, tags: dict[str, str]) -> Run:
    created = _FIRST + timedelta(days=night)
    return Run(
        id=f"{created:%Y%m%d-%H%M%S}-{night:06x}",
        created=created,
        source=source,
        judge=JudgeSummary(name="rules", fingerprint="f"),
        fingerprint="f",
        tags=tags,
    )


def _make_results(
    verdicts: Sequence[Verdict], weights: Sequence[float], random: Random
) -> list[Result]:
    sampled = random.choices(verdicts, weights, k=_CASES)
    return [
        Result(position, "", f"case-{position}", replace(verdict, id=f"case-{position}"), 0.003)
        for position, verdict in enumerate(sampled)
    ]


def _judge_demo_case(name: str) -> Verdict:
    data = files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_bytes()
    return evaluate_case(read_case(data, name=name))


if __name__ == "__main__":
    main()
