"""Progress of a running trace on the terminal: a redrawn view of its plan, or lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from planproof.core.finding import Severity, Status, StepFinding
from planproof.core.plan import Plan
from planproof.monitor import Certainty, Deviation, Monitor
from planproof.reports.terminal.verdict_lines import GLYPHS, SEVERITY_STYLES
from planproof.reports.wording import STATUS_LABELS, TextSanitizer, format_score, pluralize

_MAX_DEVIATIONS = 8
_MAX_TEXT_LENGTH = 200
_PENDING_STATUSES = frozenset({Status.MISSING, Status.AMBIGUOUS})


def render_progress(monitor: Monitor, heading: str, show: TextSanitizer) -> RenderableType:
    """Render the plan with the status of each step, deviations, and the best possible score."""
    deviations = monitor.deviations
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(no_wrap=True)
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(ratio=1)
    rows.add_column(justify="right", no_wrap=True)
    expected = {step.number for step in monitor.next_steps}
    for step in monitor.steps:
        glyph, style, word = _format_step_state(step, expected)
        text = Text(show(step.text)[:_MAX_TEXT_LENGTH], no_wrap=True, overflow="ellipsis")
        rows.add_row(Text(glyph, style), Text(show(step.number), "bold"), text, Text(word, style))
    footer = [_format_deviation(deviation, show) for deviation in deviations[-_MAX_DEVIATIONS:]]
    if len(deviations) > _MAX_DEVIATIONS:
        footer.insert(0, Text(f"{len(deviations) - _MAX_DEVIATIONS} earlier deviations", "dim"))
    best = Text.assemble("best score still possible: ", (format_score(monitor.ceiling), "bold"))
    return Group(Text(show(heading), "dim"), rows, *footer, best)


class ProgressLines:
    """Reports what is new since the last call, one line each, for output that is not a terminal."""

    def __init__(self, show: TextSanitizer) -> None:
        self._show = show
        self._states: dict[str, Status] = {}
        self._ceiling = 1.0
        self._plan: Plan | None = None

    def iter_new_lines(self, monitor: Monitor, deviations: Sequence[Deviation]) -> Iterator[str]:
        """Yield changed steps, new deviations, and the best possible score if it fell."""
        if monitor.plan != self._plan:
            self._plan = monitor.plan
            self._states.clear()
            yield f"plan: {pluralize(len(self._plan.leaves), 'step')}"
        for step in monitor.steps:
            if step.covers and self._states.get(step.number) is not step.status:
                self._states[step.number] = step.status
                text = self._show(step.text)[:_MAX_TEXT_LENGTH]
                number, event = self._show(step.number), self._show(step.covers[-1])
                yield f"{event}: step {number} {STATUS_LABELS[step.status]}: {text}"
        yield from (self._show(str(deviation)) for deviation in deviations)
        if monitor.ceiling < self._ceiling:
            self._ceiling = monitor.ceiling
            yield f"best score still possible: {format_score(self._ceiling)}"


def _format_step_state(step: StepFinding, expected: set[str]) -> tuple[str, str, str]:
    if not step.covers and step.status in _PENDING_STATUSES:
        return ("▸", "bold", "next") if step.number in expected else ("·", "dim", "")
    glyph, style = GLYPHS[step.status]
    return glyph, style, STATUS_LABELS[step.status]


def _format_deviation(deviation: Deviation, show: TextSanitizer) -> Text:
    proven = deviation.certainty is Certainty.PROVEN
    style = SEVERITY_STYLES[deviation.severity] if proven else "yellow"
    mark = "!" if proven and deviation.severity is Severity.MAJOR else "?" if not proven else "+"
    return Text(f"{mark} {show(str(deviation))}", style, no_wrap=True, overflow="ellipsis")
