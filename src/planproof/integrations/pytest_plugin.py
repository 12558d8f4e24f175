"""The pytest plugin: assert in a test that an agent followed its plan.

It is loaded with every run of pytest, so it imports nothing of planproof until it is used.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from planproof.core.case import Case
    from planproof.core.content import Content, Json
    from planproof.core.judge import AnyJudge
    from planproof.core.model import Model
    from planproof.core.plan import Plan
    from planproof.core.trace import Trace
    from planproof.core.verdict import Verdict
    from planproof.readers.decoding.source import Source
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.finding import Evidence, Extra, Status, StepFinding
from planproof.core.phrases import quote_text
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import JudgeSummary, Verdict, parse_verdict
from planproof.preparation import ReadOptions
from planproof.readers.native import serialize_trace
from planproof.reports.html.report_page import render_run_page
from planproof.reports.terminal.lines import truncate, wrap_text
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_coverage,
    format_headline,
    format_score,
    format_tally,
    make_sanitizer,
)
from planproof.runs.run_records import Result, RunState, StoredCase, create_run, serialize_case
from planproof.runs.store.open_store import open_store

DEFAULT_MIN_SCORE = 0.75
_running_items: list[pytest.Item] = []
"""The test that is running: one at a time in a process, whatever thread or loop it judges in."""
_PROPERTY_PREFIX = "planproof_"
_REPORT_OPTION = "--planproof-report"
_RECORDS_KEY = pytest.StashKey[list[Any]]()


class PlanNotFollowed(AssertionError):
    """The verdict is below what the test asks for, or there is no score; it holds the verdict."""

    # As it is told in the head of a traceback, which has little room.
    __module__ = "planproof"

    def __init__(self, message: str, verdict: Verdict) -> None:
        super().__init__(message)
        self.verdict = verdict


def assert_follows_plan(
    *,
    trace: str | Path | Source | Trace | Json,
    plan: str | Path | Plan | Json = None,
    task: str | Path | Content | Json = None,
    min_score: float = DEFAULT_MIN_SCORE,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Verdict:
    """Judge a case as `planproof.evaluate` does, and fail below `min_score` or without a score.

    The verdict becomes part of the test's properties, in JUnit reports too.
    """
    __tracebackhide__ = True
    from planproof.evaluation import evaluate  # noqa: PLC0415 - not before it is used
    from planproof.integrations.hosts import resolve_judge  # noqa: PLC0415
    from planproof.preparation import build_case  # noqa: PLC0415

    if not 0 <= min_score <= 1:
        from planproof.errors import InvalidInput  # noqa: PLC0415

        raise InvalidInput(f"{min_score} is no score.", where="min_score", advice="Give 0 to 1.")
    began = perf_counter()
    chosen = resolve_judge(judge, model)
    case = build_case(task, plan, trace)
    verdict = evaluate(task=case.task, plan=case.plan, trace=case.trace, judge=chosen)
    _record_verdict(case, verdict, perf_counter() - began)
    if verdict.score is None or verdict.score < min_score:
        from planproof.integrations.pytest_plugin import format_failure  # noqa: PLC0415

        raise PlanNotFollowed(format_failure(verdict, min_score), verdict)
    return verdict


def _record_verdict(case: Case, verdict: Verdict, seconds: float) -> None:
    """Let the test that is running carry the verdict in its properties, and for the report."""
    if not _running_items:
        return
    item = _running_items[-1]
    if item.config.getoption(_REPORT_OPTION) is not None:
        from planproof.integrations.pytest_plugin import serialize_result  # noqa: PLC0415 - heavy

        item.stash.setdefault(_RECORDS_KEY, []).append(serialize_result(case, verdict, seconds))
    item.user_properties += [
        (f"{_PROPERTY_PREFIX}outcome", verdict.outcome.value),
        (f"{_PROPERTY_PREFIX}score", verdict.score),
        (f"{_PROPERTY_PREFIX}reason", verdict.reason),
    ]


@dataclass(frozen=True, slots=True)
class PlanProof:
    """What the fixture gives: `assert_follows_plan` with the options of the test's marker."""

    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def assert_follows_plan(self, **arguments: Any) -> Verdict:
        """As the function of this name; what is given here outweighs the marker."""
        __tracebackhide__ = True
        return assert_follows_plan(**{**self.options, **arguments})


@pytest.fixture
def planproof(request: pytest.FixtureRequest) -> PlanProof:
    """Judges whether an agent followed its plan: `planproof.assert_follows_plan(...)`."""
    options: dict[str, Any] = {}
    for marker in request.node.iter_markers("planproof"):
        if marker.args:
            raise pytest.UsageError("@pytest.mark.planproof takes judge=, model= and min_score=.")
        options = {**marker.kwargs, **options}
    return PlanProof(options)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the report."""
    group = parser.getgroup("planproof")
    group.addoption(
        _REPORT_OPTION,
        metavar="FILE.html",
        type=Path,
        help="Draw all verdicts of `assert_follows_plan` as one page.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and gather verdicts where they all come together."""
    config.addinivalue_line(
        "markers",
        "planproof(judge=, model=, min_score=): how the fixture `planproof` judges in this test.",
    )
    file = config.getoption(_REPORT_OPTION)
    # A worker of pytest-xdist hands on what it has noted, and writes nothing itself.
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_ReportCollector(_check_writable(file.absolute())))


def _check_writable(file: Path) -> Path:
    """The file, in a folder that is there; to find out in the end would be a run for nothing."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{_REPORT_OPTION} {file}: {error.strerror}") from error
    if file.is_dir() or not os.access(file.parent, os.W_OK):
        raise pytest.UsageError(f"{_REPORT_OPTION} {file}: can't be written")
    return file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Know which test is running, with its fixtures, so that a verdict can be noted with it."""
    _running_items.append(item)
    try:
        return (yield)
    finally:
        _running_items.remove(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Let the report of a test carry what was noted, from worker to controller too."""
    report = yield
    if records := item.stash.get(_RECORDS_KEY, None):
        report.planproof = records
        del item.stash[_RECORDS_KEY]
    return report


class _ReportCollector:
    """Gathers what all tests have noted, and draws it in the end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._records: list[tuple[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test has noted."""
        self._records += [(report.nodeid, record) for record in getattr(report, "planproof", ())]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the page, and say where it is."""
        if not self._records:
            terminalreporter.write_line("planproof: no test asserted that a plan was followed")
            return
        from planproof.integrations.pytest_plugin import write_report  # noqa: PLC0415 - heavy

        # Workers come in any order; the page shall not depend on it.
        self._records.sort(key=lambda record: record[0])
        write_report(self._records, self._file, min_score=DEFAULT_MIN_SCORE)
        terminalreporter.write_line(f"planproof: {len(self._records)} verdicts in {self._file}")


_WIDTH = 71
"""What pytest leaves of 80 columns."""
_MAX_FINDINGS = 12
"""Lapses that are shown in full; a plan can have thousands of steps."""
_MAX_TEXT_LENGTH = 60
_EXPECTED = {
    Status.PARTIAL: "the step as written, whole",
    Status.MISSING: "an event that executes it",
    Status.AMBIGUOUS: "evidence that it was executed",
    Status.OUT_OF_ORDER: "the step in its place in the plan",
}


def format_failure(verdict: Verdict, min_score: float) -> str:
    """Why a verdict is not good enough, in lines that fit a terminal; secrets are masked."""
    show = make_sanitizer(secrets=False)
    return "\n".join(_format_lines(verdict, min_score, show))


def _format_lines(verdict: Verdict, min_score: float, show: TextSanitizer) -> Iterator[str]:
    if verdict.score is None:
        yield format_headline(verdict)
        yield from wrap_text(show(verdict.reason), _WIDTH, "  ")
        return
    yield f"score {format_score(verdict.score)}, below {format_score(min_score)}"
    yield from wrap_text(format_tally(verdict), _WIDTH, "  ")
    deviating_steps = [
        step for step in verdict.findings.counted_steps if step.status is not Status.EXECUTED
    ]
    for step in deviating_steps[:_MAX_FINDINGS]:
        yield ""
        yield from _format_step(step, show)
    for extra in verdict.extras[:_MAX_FINDINGS]:
        yield ""
        yield from _format_extra(extra, show)
    left = max(len(deviating_steps) - _MAX_FINDINGS, 0) + max(
        len(verdict.extras) - _MAX_FINDINGS, 0
    )
    if left:
        yield ""
        yield f"  and {left:,} more"
    yield ""
    yield from wrap_text(show(verdict.reason), _WIDTH, "  ")
    if verdict.nearest_better:
        better = verdict.nearest_better
        yield from wrap_text(f"→ {format_score(better.score)} {show(better.change)}", _WIDTH, "  ")
    if verdict.coverage:
        yield from wrap_text(format_coverage(verdict.coverage), _WIDTH, "  ")


def _format_step(step: StepFinding, show: TextSanitizer) -> Iterator[str]:
    yield from wrap_text(f"step {show(step.number)}: {STATUS_LABELS[step.status]}", _WIDTH, "  ")
    yield from wrap_text(f"- {truncate(show(step.text), _MAX_TEXT_LENGTH)}", _WIDTH, "  ", "    ")
    yield from wrap_text(f"expected: {_EXPECTED[step.status]}", _WIDTH, "    ", "      ")
    note = f" ({show(step.note)})" if step.note else ""
    if not step.evidence:
        yield from wrap_text(f"shown: nothing{note}", _WIDTH, "    ", "      ")
    for evidence in step.evidence:
        yield from wrap_text(
            f"shown: {_format_evidence(evidence, show)}{note}", _WIDTH, "    ", "      "
        )


def _format_extra(extra: Extra, show: TextSanitizer) -> Iterator[str]:
    yield from wrap_text(f"{extra.severity} extra: {show(extra.what)}", _WIDTH, "  ")
    yield from wrap_text("+ no step covers it", _WIDTH, "  ", "    ")
    cited = Evidence(extra.event, extra.pointer, extra.quote)
    yield from wrap_text(f"shown: {_format_evidence(cited, show)}", _WIDTH, "    ", "      ")


def _format_evidence(evidence: Evidence, show: TextSanitizer) -> str:
    quote = quote_text(truncate(show(evidence.quote), _MAX_TEXT_LENGTH))
    return f"{show(evidence.event)} {quote} at {show(evidence.pointer)}"


def serialize_result(case: Case, verdict: Verdict, seconds: float) -> Json:
    """A case and its verdict as JSON values, so that they can go from a worker to whoever reports.

    What is planproof's own in the case is written as JSON, too.
    """
    raw = replace(
        case,
        plan=[step.text for step in case.plan.leaves] if isinstance(case.plan, Plan) else case.plan,
        trace=serialize_trace(case.trace) if isinstance(case.trace, Trace) else case.trace,
    )
    stored = serialize_case(raw)
    return {
        "hash": stored.hash,
        "case": stored.text,
        "verdict": json.loads(json.dumps(verdict.full())),
        "seconds": seconds,
    }


def write_report(records: Sequence[tuple[str, Json]], file: Path, *, min_score: float) -> None:
    """Write the page of all cases that were noted, each with the id of its test."""
    verdicts = [replace(parse_verdict(record["verdict"]), id=test) for test, record in records]
    judges = [verdict.judge for verdict in verdicts if verdict.judge is not None]
    summary = judges[0] if judges else JudgeSummary(name="rules", fingerprint="")
    run = create_run(source="pytest", judge=summary, fingerprint="")
    results = [
        Result(position, record["hash"], verdict.id, verdict, record["seconds"])
        for position, (verdict, (_, record)) in enumerate(zip(verdicts, records, strict=True))
    ]
    cases = [StoredCase(record["hash"], record["case"]) for _, record in records]
    partial = file.with_name(f"{file.name}.partial")
    with TemporaryDirectory() as folder:
        store = open_store(str(Path(folder, "runs.db")))
        try:
            store.begin(run)
            store.add(run.id, results, cases)
            store.close_run(run.id, RunState.FINISHED)
            with partial.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(
                    render_run_page(
                        store.find_run(run.id), store, ReadOptions(), min_score=min_score
                    )
                )
        finally:
            store.close()
    partial.replace(file)
