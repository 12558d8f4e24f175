"""The pytest plugin: assert in a test that an agent followed its plan.

It is loaded with every run of pytest, so it imports nothing of planproof until it is used.
"""

from __future__ import annotations

from collections.abc import Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from planproof.case import Case
    from planproof.content import Content, Json
    from planproof.judges.asking import Model
    from planproof.judges.protocol import AnyJudge
    from planproof.plan import Plan
    from planproof.readers.source import Source
    from planproof.trace import Trace
    from planproof.verdict import Verdict

DEFAULT_MIN_SCORE = 0.75
_item: ContextVar[pytest.Item | None] = ContextVar("item", default=None)
_PROPERTY = "planproof_"
_REPORT = "--planproof-report"
_NOTES = pytest.StashKey[list[Any]]()


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
    from planproof.integrations.hosts import judge_for  # noqa: PLC0415
    from planproof.preparation import case_of  # noqa: PLC0415

    began = perf_counter()
    chosen = judge_for(judge, model)
    case = case_of(task, plan, trace, None, None)
    verdict = evaluate(task=case.task, plan=case.plan, trace=case.trace, judge=chosen)
    _note(case, verdict, perf_counter() - began)
    if verdict.score is None or verdict.score < min_score:
        from planproof.integrations.assertion import failure_text  # noqa: PLC0415

        raise PlanNotFollowed(failure_text(verdict, min_score), verdict)
    return verdict


def _note(case: Case, verdict: Verdict, seconds: float) -> None:
    """Let the test that is running carry the verdict in its properties, and for the report."""
    item = _item.get()
    if item is None:
        return
    if item.config.getoption(_REPORT) is not None:
        from planproof.integrations.pytest_report import noted  # noqa: PLC0415 - heavy

        item.stash.setdefault(_NOTES, []).append(noted(case, verdict, seconds))
    item.user_properties += [
        (f"{_PROPERTY}outcome", verdict.outcome.value),
        (f"{_PROPERTY}score", verdict.score),
        (f"{_PROPERTY}reason", verdict.reason),
    ]


@dataclass(frozen=True, slots=True)
class PlanProof:
    """What the fixture gives: `assert_follows_plan` with the options of the test's marker."""

    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def assert_follows_plan(self, **given: Any) -> Verdict:
        """As the function of this name; what is given here outweighs the marker."""
        __tracebackhide__ = True
        return assert_follows_plan(**{**self.options, **given})


@pytest.fixture
def planproof(request: pytest.FixtureRequest) -> PlanProof:
    """Judges whether an agent followed its plan: `planproof.assert_follows_plan(...)`."""
    options: dict[str, Any] = {}
    for marker in request.node.iter_markers("planproof"):
        options = {**marker.kwargs, **options}
    return PlanProof(options)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the report."""
    group = parser.getgroup("planproof")
    group.addoption(
        _REPORT,
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
    file = config.getoption(_REPORT)
    # A worker of pytest-xdist hands on what it has noted, and writes nothing itself.
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Gathering(file))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Know which test is running, so that a verdict can be noted with it."""
    token = _item.set(item)
    try:
        return (yield)
    finally:
        _item.reset(token)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Let the report of a test carry what was noted, from worker to controller too."""
    report = yield
    if report.when == "call" and (notes := item.stash.get(_NOTES, None)):
        report.planproof = notes
    return report


class _Gathering:
    """Gathers what all tests have noted, and draws it in the end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._notes: list[tuple[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test has noted."""
        notes = getattr(report, "planproof", ()) if report.when == "call" else ()
        self._notes += [(report.nodeid, note) for note in notes]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the page, and say where it is."""
        if not self._notes:
            terminalreporter.write_line("planproof: no test asserted that a plan was followed")
            return
        from planproof.integrations.pytest_report import write_page  # noqa: PLC0415 - heavy

        # Workers come in any order; the page shall not depend on it.
        self._notes.sort(key=lambda noted: noted[0])
        write_page(self._notes, self._file, min_score=DEFAULT_MIN_SCORE)
        terminalreporter.write_line(f"planproof: {len(self._notes)} verdicts in {self._file}")
