"""JUnit XML report of a run: one test case per case, with its steps in the output.

Written in chunks, so that a run may be larger than memory. Secrets are masked as in other reports
for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from planproof.core.finding import Extra
from planproof.core.verdict import Verdict
from planproof.reports.terminal.run_lines import shorten_source
from planproof.reports.timeline import order_by_time
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_headline,
    format_low_confidence,
    format_score,
    make_sanitizer,
)
from planproof.runs.run_records import Result, Run
from planproof.runs.summary import Summary

_MAX_QUOTES = 3


def generate_junit_xml(
    run: Run, summary: Summary, results: Iterable[Result], *, secrets: bool = False
) -> Iterator[str]:
    """Generate the document in chunks. `summary` must be that of the same results.

    A case below the summary's minimum is a failure, a case that could not be judged an error.
    """
    show = make_sanitizer(secrets=secrets)
    counts = {
        "tests": summary.cases,
        "failures": summary.scored - summary.passed,
        "errors": summary.cases - summary.scored,
    }
    totals = _format_attributes(counts, time=f"{summary.seconds:.3f}")
    began = run.created.replace(tzinfo=None).isoformat(timespec="seconds")
    yield f"<?xml version='1.0' encoding='UTF-8'?>\n<testsuites name=\"planproof\"{totals}>\n"
    yield f"<testsuite name={quoteattr(show(shorten_source(run.source)))}{totals}"
    yield f"{_format_attributes({'skipped': 0}, timestamp=began, id=show(run.id))}>\n"
    yield from _format_properties(run, summary, show)
    for result in results:
        yield from _format_test_case(run, result, summary.min_score, show)
    yield "</testsuite>\n</testsuites>\n"


def _format_properties(run: Run, summary: Summary, show: TextSanitizer) -> Iterator[str]:
    properties = {
        "run": run.id,
        "judge": run.judge.name,
        "mean": "" if summary.mean is None else f"{summary.mean:.4f}",
        "low confidence": str(summary.low_confidence),
        **{f"tag {name}": value for name, value in sorted(run.tags.items())},
    }
    yield "<properties>\n"
    for name, value in properties.items():
        yield f"<property name={quoteattr(show(name))} value={quoteattr(show(value))}/>\n"
    yield "</properties>\n"


def _format_test_case(
    run: Run, result: Result, min_score: float, show: TextSanitizer
) -> Iterator[str]:
    verdict = result.verdict
    attributes = _format_attributes(
        {},
        classname=_format_class_name(run, show),
        name=show(result.name),
        time=f"{result.seconds:.3f}",
    )
    yield f"<testcase{attributes}>\n"
    reason = show(verdict.reason)
    if verdict.score is None:
        cause = f" ({verdict.cause})" if verdict.cause else ""
        yield _format_failure_element(
            "error", show(f"{verdict.outcome.value}{cause}"), format_headline(verdict), reason
        )
    elif verdict.score < min_score:
        message = f"{format_score(verdict.score)}, {format_headline(verdict)}"
        yield _format_failure_element("failure", f"below {min_score:g}", message, reason)
    output = "\n".join(_format_output(verdict, show))
    yield f"<system-out>{escape(output)}</system-out>\n</testcase>\n"


def _format_class_name(run: Run, show: TextSanitizer) -> str:
    # JUnit viewers treat a dot as a package separator.
    return f"planproof.{show(shorten_source(run.source)).replace('.', '_')}"


def _format_failure_element(element: str, failure_type: str, message: str, text: str) -> str:
    attributes = _format_attributes({}, type=failure_type, message=message)
    return f"<{element}{attributes}>{escape(text)}</{element}>\n"


def _format_output(verdict: Verdict, show: TextSanitizer) -> Iterator[str]:
    """Yield the score and the reason, then steps and extras in time order with their evidence."""
    if verdict.score is not None:
        yield f"{format_score(verdict.score)}, {format_headline(verdict)}"
    if low_confidence := format_low_confidence(verdict):
        yield low_confidence
    yield show(verdict.reason)
    for finding in order_by_time(verdict):
        if isinstance(finding, Extra):
            yield f"+ {finding.severity} extra: {show(finding.what)}"
            yield f"    {show(finding.event)}: {show(finding.quote)}"
            continue
        status = "left out" if finding.waived else STATUS_LABELS[finding.status]
        note = f" ({show(finding.note)})" if finding.note else ""
        yield f"{show(finding.number)}. {show(finding.text)}: {status}{note}"
        for evidence in finding.evidence[:_MAX_QUOTES]:
            yield f"    {show(evidence.event)}: {show(evidence.quote)}"


def _format_attributes(counts: dict[str, int], **texts: str) -> str:
    attributes = {**{name: str(count) for name, count in counts.items()}, **texts}
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
