"""Pytest plugin: assert in a test that an agent followed its plan.

It is loaded in every pytest run, so it imports nothing else of planproof until it is used.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from planproof.core.case import Case
    from planproof.core.content import Content, Json
    from planproof.core.contract import Contract
    from planproof.core.judge import AnyJudge
    from planproof.core.model import Model
    from planproof.core.plan import Plan
    from planproof.core.trace import Trace
    from planproof.core.verdict import Verdict
    from planproof.readers.decoding.source import Source
    from planproof.readers.profile_reader import ProfileReader

DEFAULT_MIN_SCORE = 0.75
_running_items: list[pytest.Item] = []
"""The running test: one at a time per process, whichever thread or loop it judges in."""
_PROPERTY_PREFIX = "planproof_"
_REPORT_OPTION = "--planproof-report"
_RECORDS_KEY = pytest.StashKey[list[Any]]()


class PlanNotFollowed(AssertionError):
    """The score is below the minimum, or there is none; `verdict` has the details."""

    # Shortens the name in the first line of a traceback.
    __module__ = "planproof"

    def __init__(self, message: str, verdict: Verdict) -> None:
        super().__init__(message)
        self.verdict = verdict


def assert_follows_plan(  # noqa: PLR0913 - all by name, nearly all with a default
    *,
    trace: str | Path | Source | Trace | Json,
    plan: str | Path | Plan | Json = None,
    task: str | Path | Content | Json = None,
    min_score: float = DEFAULT_MIN_SCORE,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
    profiles: Sequence[Path | ProfileReader] = (),
    contract: Path | Contract | None = None,
    variables: Mapping[str, str] | None = None,
) -> Verdict:
    """Judge a case as `planproof.evaluate` does, and fail below `min_score` or without a score.

    With a `contract`, the run is checked against it, without a model. The verdict is added to the
    test's properties, which JUnit reports include.
    """
    __tracebackhide__ = True
    from planproof.evaluation import build_case, evaluate  # noqa: PLC0415
    from planproof.integrations.hosts import resolve_judge  # noqa: PLC0415
    from planproof.readers.profile_files import read_profiles  # noqa: PLC0415

    if not 0 <= min_score <= 1:
        from planproof.errors import InvalidInput  # noqa: PLC0415

        raise InvalidInput(
            f"{min_score} is not a valid score.",
            where="min_score",
            advice="Use a number from 0 to 1.",
        )
    began = perf_counter()
    chosen = resolve_judge(judge, model)
    own = read_profiles(profiles)
    case = build_case(task, plan, trace, profiles=own)
    verdict = evaluate(
        task=case.task,
        plan=case.plan,
        trace=case.trace,
        judge=chosen,
        profiles=own,
        contract=contract,
        variables=variables,
    )
    _record_verdict(case, verdict, perf_counter() - began, own)
    if verdict.score is None or verdict.score < min_score:
        from planproof.integrations.assertion_message import format_failure  # noqa: PLC0415

        raise PlanNotFollowed(format_failure(verdict, min_score), verdict)
    return verdict


def _record_verdict(
    case: Case, verdict: Verdict, seconds: float, profiles: Sequence[ProfileReader]
) -> None:
    """Attach the verdict to the running test: to its properties, and for the report."""
    if not _running_items:
        return
    item = _running_items[-1]
    if item.config.getoption(_REPORT_OPTION) is not None:
        from planproof.integrations.pytest_report import serialize_result  # noqa: PLC0415 - heavy

        record = serialize_result(case, verdict, seconds, profiles)
        item.stash.setdefault(_RECORDS_KEY, []).append(record)
    item.user_properties += [
        (f"{_PROPERTY_PREFIX}outcome", verdict.outcome.value),
        (f"{_PROPERTY_PREFIX}score", verdict.score),
        (f"{_PROPERTY_PREFIX}reason", verdict.reason),
        (f"{_PROPERTY_PREFIX}confidence", verdict.confidence),
    ]
    if verdict.has_low_confidence:
        from planproof.reports.wording import format_low_confidence  # noqa: PLC0415 - heavy

        notice = format_low_confidence(verdict)
        item.user_properties.append((f"{_PROPERTY_PREFIX}low_confidence", notice))


@dataclass(frozen=True, slots=True)
class PlanProof:
    """Value of the fixture: `assert_follows_plan` with the options of the test's marker."""

    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def assert_follows_plan(self, **arguments: Any) -> Verdict:
        """Call the function of this name; arguments override the options of the marker."""
        __tracebackhide__ = True
        return assert_follows_plan(**{**self.options, **arguments})


@pytest.fixture
def planproof(request: pytest.FixtureRequest) -> PlanProof:
    """Assert that an agent followed its plan: `planproof.assert_follows_plan(...)`."""
    options: dict[str, Any] = {}
    for marker in request.node.iter_markers("planproof"):
        if marker.args:
            raise pytest.UsageError(
                "@pytest.mark.planproof takes judge=, model=, contract=, min_score= and profiles=."
            )
        options = {**marker.kwargs, **options}
    return PlanProof(options)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the report."""
    group = parser.getgroup("planproof")
    group.addoption(
        _REPORT_OPTION,
        metavar="FILE.html",
        type=Path,
        help="Write all verdicts of `assert_follows_plan` to an HTML report.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and in the controller process the report collector."""
    config.addinivalue_line(
        "markers",
        "planproof(judge=, model=, contract=, min_score=, profiles=): options of the fixture "
        "`planproof` in this test.",
    )
    file = config.getoption(_REPORT_OPTION)
    # A pytest-xdist worker sends its records to the controller, which writes the report.
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_ReportCollector(_check_writable(file.absolute())))


def _check_writable(file: Path) -> Path:
    """Return the file after creating its folder; fail before the tests run, not after."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{_REPORT_OPTION} {file}: {error.strerror}") from error
    if file.is_dir() or not os.access(file.parent, os.W_OK):
        raise pytest.UsageError(f"{_REPORT_OPTION} {file}: not writable")
    return file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Track the running test, including its fixtures, to attach verdicts to it."""
    _running_items.append(item)
    try:
        return (yield)
    finally:
        _running_items.remove(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Attach the records to the test report, which xdist sends to the controller."""
    report = yield
    if records := item.stash.get(_RECORDS_KEY, None):
        report.planproof = records
        del item.stash[_RECORDS_KEY]
    return report


class _ReportCollector:
    """Collects the records of all tests, and writes the report at the end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._records: list[tuple[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the records of a test."""
        self._records += [(report.nodeid, record) for record in getattr(report, "planproof", ())]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the report, and print its path."""
        if not self._records:
            terminalreporter.write_line("planproof: no test called assert_follows_plan")
            return
        from planproof.integrations.pytest_report import write_report  # noqa: PLC0415 - heavy

        # Workers report in any order; the page must not depend on it.
        self._records.sort(key=lambda record: record[0])
        write_report(self._records, self._file, min_score=DEFAULT_MIN_SCORE)
        terminalreporter.write_line(
            f"planproof: wrote {len(self._records)} verdicts to {self._file}"
        )
