"""Puts a page together: templates, style and script in one file, and the data as inert JSON.

The policy of the page lets nothing in: no request, no frame, and of styles and scripts only the
two that stand in it, by their hashes. Text of a case is data, which the script sets as text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files

from planproof.calibration.figures import Figures
from planproof.core.content import Content, Json
from planproof.errors import InvalidInput
from planproof.preparation import Reading
from planproof.reports.html.calibration_page import (
    CalibrationData,
    calibration_data,
    judged_variant,
)
from planproof.reports.html.case_page import JudgedCase, case_data, judged_case
from planproof.reports.html.page_templates import environment
from planproof.reports.html.run_page import RunData, run_data
from planproof.reports.html.size_budget import Room
from planproof.runs.case_json import case_in
from planproof.runs.run_records import Result, Run
from planproof.runs.store.store_protocol import Store

_STYLES = ("page.css", "case.css", "overview.css", "calibration.css")
_SCRIPTS = (
    "theme.js",
    "dom.js",
    "lines.js",
    "rows.js",
    "case.js",
    "overview.js",
    "calibration.js",
    "frame.js",
    "report.js",
)


def case_page(case: JudgedCase, *, secrets: bool = False) -> Iterator[str]:
    """The page of a single case, piece by piece."""
    room = Room.among(len(case.trace.events) if case.trace else 0)
    data = case_data(case, room=room, secrets=secrets)
    title = f"planproof: {data['id'] or data['headline']}"
    return _page(title, None, [data])


def run_page(
    run: Run, store: Store, reading: Reading, *, min_score: float, secrets: bool = False
) -> Iterator[str]:
    """The page of a run with those of its cases, piece by piece: one case at a time is read."""
    data = run_data(run, store.results(run.id), min_score=min_score, secrets=secrets)
    pages = (
        case_data(judged_in_store(result, store, reading), room=data.room, secrets=secrets)
        for result in store.results(run.id)
        if result.position in data.pages
    )
    return _page(f"planproof: {data.title}", data, pages)


def calibration_page(
    judge: str,
    figures: Figures,
    reading: Reading,
    *,
    labels: Mapping[str, float] | None = None,
    note: str | None = None,
    secrets: bool = False,
) -> Iterator[str]:
    """The page of what was measured of a judge, with those of the variants, piece by piece."""
    data = calibration_data(judge, figures, labels, note=note, secrets=secrets)
    pages = (
        case_data(judged_variant(row, reading), room=data.room, secrets=secrets)
        for row in data.pages
    )
    return _page(f"planproof: {data.title}", data, pages)


def judged_in_store(result: Result, store: Store, reading: Reading) -> JudgedCase:
    """A case of the run; what could not be read has nothing but its verdict."""
    verdict = replace(result.verdict, id=result.name)
    try:
        case = case_in(store.case(result.case))
    except InvalidInput:
        return JudgedCase(verdict=verdict, task=Content())
    return judged_case(case, verdict, reading)


def _page(
    title: str, overview: RunData | CalibrationData | None, cases: Iterable[Json]
) -> Iterator[str]:
    import planproof  # noqa: PLC0415 - the package is whole by now

    style, script = _joined(_STYLES), _joined(_SCRIPTS)
    return (
        environment()
        .get_template("page.html.jinja")
        .generate(
            title=title,
            version=planproof.__version__,
            policy=_policy(style, script),
            style=style,
            script=script,
            overview=overview,
            is_run=isinstance(overview, RunData),
            cases=cases,
        )
    )


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src 'sha256-{_hash(style)}'",
            f"script-src 'sha256-{_hash(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def _joined(names: tuple[str, ...]) -> str:
    assets = files("planproof.reports.html").joinpath("assets")
    return "\n".join(assets.joinpath(name).read_text(encoding="utf-8") for name in names)
