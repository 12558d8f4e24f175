"""Render HTML report pages: templates, styles, scripts and data as inert JSON, in one file.

The content security policy blocks every request and frame, and allows only the page's own style and
script, by hash. Text of a case is data, which the script inserts as text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from heapq import nsmallest
from importlib.resources import files

from planproof.calibration.figures import Figures
from planproof.core.content import Content, Json
from planproof.errors import InvalidInput
from planproof.evaluation import ReadOptions
from planproof.reports.html.calibration_page import (
    CalibrationData,
    build_calibration_data,
    read_judged_variant,
)
from planproof.reports.html.case_page import JudgedCase, build_case_data, read_judged_case
from planproof.reports.html.page_templates import get_environment
from planproof.reports.html.size_budget import SizeBudget
from planproof.reports.html.summary_view import (
    STATUS_LETTERS,
    CaseRow,
    RunSummaryView,
    build_summary_view,
    describe_run,
)
from planproof.reports.wording import STATUS_LABELS, make_sanitizer
from planproof.runs.run_records import Result, Run, deserialize_case
from planproof.runs.store.store_protocol import Store
from planproof.runs.summary import SummaryBuilder

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


def render_case_page(case: JudgedCase, *, secrets: bool = False) -> Iterator[str]:
    """Render the page of a single case, in chunks."""
    budget = SizeBudget.for_event_count(len(case.trace.events) if case.trace else 0)
    data = build_case_data(case, budget=budget, secrets=secrets)
    title = f"planproof: {data['id'] or data['headline']}"
    return _render_page(title, None, [data])


def render_run_page(
    run: Run, store: Store, reading: ReadOptions, *, min_score: float, secrets: bool = False
) -> Iterator[str]:
    """Render the page of a run with its cases, in chunks, reading one case at a time."""
    data = build_run_data(run, store.iter_results(run.id), min_score=min_score, secrets=secrets)
    pages = (
        build_case_data(
            load_judged_case(result, store, reading), budget=data.budget, secrets=secrets
        )
        for result in store.iter_results(run.id)
        if result.position in data.pages
    )
    return _render_page(f"planproof: {data.title}", data, pages)


def render_calibration_page(
    judge: str,
    figures: Figures,
    reading: ReadOptions,
    *,
    note: str | None = None,
    secrets: bool = False,
) -> Iterator[str]:
    """Render the page of a judge's calibration with its variants, in chunks."""
    data = build_calibration_data(judge, figures, note=note, secrets=secrets)
    pages = (
        build_case_data(read_judged_variant(row, reading), budget=data.budget, secrets=secrets)
        for row in data.pages
    )
    return _render_page(f"planproof: {data.title}", data, pages)


def load_judged_case(result: Result, store: Store, reading: ReadOptions) -> JudgedCase:
    """Load a case of the run; if it can't be read, return only its verdict."""
    verdict = replace(result.verdict, id=result.name)
    try:
        case = deserialize_case(store.get_case(result.case))
    except InvalidInput:
        return JudgedCase(verdict=verdict, task=Content())
    return read_judged_case(case, verdict, reading)


def _render_page(
    title: str, overview: RunData | CalibrationData | None, cases: Iterable[Json]
) -> Iterator[str]:
    import planproof  # noqa: PLC0415 - the package is fully imported by now

    style, script = _join_assets(_STYLES), _join_assets(_SCRIPTS)
    return (
        get_environment()
        .get_template("page.html.jinja")
        .generate(
            title=title,
            version=planproof.__version__,
            policy=_build_security_policy(style, script),
            style=style,
            script=script,
            overview=overview,
            is_run=isinstance(overview, RunData),
            cases=cases,
        )
    )


def _build_security_policy(style: str, script: str) -> str:
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
def _join_assets(names: tuple[str, ...]) -> str:
    assets = files("planproof.reports.html").joinpath("assets")
    return "\n".join(assets.joinpath(name).read_text(encoding="utf-8") for name in names)


# Maximum number of cases with their own page; the lowest scores have priority.
_MAX_PAGES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """Header and rows of the page, positions of the cases with a page, and the size budget."""

    title: str
    facts: list[str]
    summary_view: RunSummaryView
    table: dict[str, Json]
    pages: frozenset[int]
    budget: SizeBudget


@dataclass(frozen=True, slots=True)
class _RankedRow:
    """A case in the table: its rank from the lowest score, its number of events, its cells."""

    rank: tuple[float, int]
    events: int
    cells: list[Json]


def build_run_data(
    run: Run, results: Iterable[Result], *, min_score: float, secrets: bool
) -> RunData:
    """Build the scores, the steps that failed most often, and a row for every case."""
    show = make_sanitizer(secrets=secrets)
    builder = SummaryBuilder(min_score)
    rows: list[_RankedRow] = []
    for result in results:
        builder.add(result)
        row = CaseRow.from_result(result, show)
        rank = -1.0 if result.verdict.score is None else result.verdict.score
        rows.append(_RankedRow((rank, result.position), row.events, [*row.to_cells(), None]))
    paged = sorted(
        nsmallest(_MAX_PAGES, rows, key=lambda row: row.rank), key=lambda row: row.rank[1]
    )
    for page, row in enumerate(paged):
        row.cells[-1] = page
    summary = builder.build()
    return RunData(
        title=show(run.id),
        facts=[show(fact) for fact in describe_run(run, summary)],
        summary_view=build_summary_view(summary, show),
        table={
            "statuses": [
                [letter, status.value, STATUS_LABELS[status]]
                for status, letter in STATUS_LETTERS.items()
            ],
            "rows": [row.cells for row in rows],
            "paged": len(paged),
        },
        pages=frozenset(row.rank[1] for row in paged),
        budget=SizeBudget.for_event_count(sum(row.events for row in paged)),
    )
