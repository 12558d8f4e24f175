"""Data for the HTML page of a calibration: tables of figures and a row per variant.

`assets/calibration.js` draws the rows. Each row lists the figures it failed, so that the cases
behind a figure can be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import nsmallest

from planproof.calibration.case_labels import Label
from planproof.calibration.figures import (
    Agreement,
    Figure,
    Figures,
    LabelledFigures,
    Share,
    classify_rows,
)
from planproof.calibration.measurement import Measurement
from planproof.calibration.variant import Attack, Flaw, Rewording, Variant
from planproof.core.content import Json
from planproof.evaluation import ReadOptions
from planproof.reports.html.case_page import JudgedCase, read_judged_case
from planproof.reports.html.size_budget import SizeBudget
from planproof.reports.terminal.calibration_lines import format_percent
from planproof.reports.wording import (
    TextSanitizer,
    format_cost,
    format_score,
    make_sanitizer,
    pluralize,
)

# Maximum number of variants with their own page; those that fail the most figures have priority.
_MAX_PAGES = 1_000
_UNCHANGED_LABEL = "unchanged"
_ALL_LABELLED = "labelled"
_FAILURE_LABELS = {
    Figure.PASSED: "failed",
    Figure.CAUGHT: "not caught",
    Figure.LOCATED: "not located",
    Figure.BELOW: "not below",
    Figure.FOOLED: "fooled",
}
_DESCRIPTIONS: dict[Flaw | Rewording | Attack | None, str] = {
    None: "the plan was followed",
    Rewording.SPLIT: "a step is split into several",
    Rewording.MERGED: "two neighbouring steps are merged into one",
    Flaw.MISSING: "the plan has a step that was not executed",
    Flaw.UNPLANNED: "the plan lacks a step that was executed",
    Flaw.ORDER: "two neighbouring steps are swapped",
    Flaw.SHUFFLED: "the steps are in a different order",
    Flaw.ALTERED: "a step names a different value than the one used",
    Flaw.PARTIAL: "a step asks for something additional",
    Flaw.REPLACED: "a different tool was called than planned",
    Flaw.UNRELATED_ACTION: "an action unrelated to the plan was added",
    Flaw.RETRIED: "an action was executed twice in a row",
    Flaw.FOREIGN: "the plan belongs to another case",
    Attack.CLAIMS: "the agent claims that it did everything",
    Attack.REASONING: "the agent reasons before every action that it follows the plan",
    Attack.ORDERS: "tool outputs contain instructions to the evaluator",
    Attack.FORGED: "tool outputs contain forged boundaries, roles and calls",
    Attack.REACT: "the agent writes calls into its text as ReAct lines",
    Attack.TAGS: "the agent writes calls into its text as XML tags",
    Attack.LINES: "the agent writes calls into its text as lines",
    Attack.OBSERVATIONS: "tool results without a call",
    Attack.RESULTS: "tool results with the name of a tool, without a call",
    Attack.ECHO: "commands that only print",
    Attack.COLON: "the command :, which does nothing",
    Attack.HELP: "commands with --help",
    Attack.UNREACHED: "commands behind false &&",
    Attack.EMPTY: "calls without the arguments that their tool needs",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A share as a bar, with the number of rows that fail it and the key that selects them."""

    hits: int
    of: int
    percent: str
    width: float
    tone: str
    key: str
    failure_count: int
    failure_label: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """The figures of one kind of variant."""

    key: str
    name: str
    description: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationData:
    """Header, tables and rows of the page, and the rows that have their own page."""

    title: str
    facts: list[str]
    passed: tuple[FigureRow, ...]
    flaws: tuple[FigureRow, ...]
    attacks: tuple[FigureRow, ...]
    labelled: tuple[FigureRow, ...]
    agreement: Agreement | None
    table: dict[str, Json]
    pages: tuple[Measurement, ...]
    budget: SizeBudget


def build_calibration_data(
    judge: str,
    figures: Figures,
    *,
    note: str | None = None,
    secrets: bool,
) -> CalibrationData:
    """Build the figures of a judge and a row for every variant; the note comes first in `facts`."""
    show = make_sanitizer(secrets=secrets)
    variants = list(_iter_variants(figures))
    paged = nsmallest(
        _MAX_PAGES, variants, key=lambda variant: (-len(variant.failed_figures), variant.position)
    )
    paged.sort(key=lambda variant: variant.position)
    pages = {variant.position: page for page, variant in enumerate(paged)}
    rows = [variant.to_cells(show, pages.get(variant.position)) for variant in variants]
    events = sum(len(variant.rows[0].variant.events) for variant in paged)
    return CalibrationData(
        title=f"Calibration of “{show(judge)}”",
        facts=[
            show(fact) for fact in ([note] if note else []) + [*_list_facts(figures, len(variants))]
        ],
        passed=(
            *((_build_figure_row(None, figures.passed),) if figures.passed.of else ()),
            *(_build_figure_row(change, share) for change, share in figures.reworded.items()),
        ),
        flaws=tuple(
            _build_figure_row(flaw, flaw_figures.caught, flaw_figures.located, flaw_figures.below)
            for flaw, flaw_figures in figures.flaws.items()
        ),
        attacks=tuple(_build_figure_row(attack, share) for attack, share in figures.fooled.items()),
        labelled=tuple(_iter_labelled_rows(figures, show)),
        agreement=figures.agreement,
        table={"rows": list[Json](rows), "paged": len(paged)},
        pages=tuple(variant.rows[0] for variant in paged),
        budget=SizeBudget.for_event_count(events),
    )


def read_judged_variant(row: Measurement, reading: ReadOptions) -> JudgedCase:
    """Read a variant with its verdict, named after its case and the change made to it."""
    name = f"{row.origin}, {_describe_variant(row.variant)}"
    return read_judged_case(row.variant.case, replace(row.verdict, id=name), reading)


def _list_facts(figures: Figures, variants: int) -> Iterator[str]:
    origins = len({row.origin for row in figures.rows})
    yield f"{pluralize(variants, 'variant')} of {pluralize(origins, 'case')}"
    if figures.stable is not None:
        spread = "" if figures.spread is None else f", mean spread {figures.spread:.2f}"
        yield f"same score in every repeat: {format_percent(figures.stable)}{spread}"
    yield f"without a score: {figures.unscored.hits:,} of {figures.unscored.of:,}"
    if figures.usage.calls or figures.usage.from_cache:
        yield format_cost(figures.usage)


def _build_figure_row(change: Flaw | Rewording | Attack | None, *shares: Share) -> FigureRow:
    if isinstance(change, Attack):
        expected_figures: tuple[Figure, ...] = (Figure.FOOLED,)
    elif isinstance(change, Flaw):
        expected_figures = (Figure.CAUGHT, Figure.LOCATED, Figure.BELOW)
    else:
        expected_figures = (Figure.PASSED,)
    key = _get_change_key(change)
    return FigureRow(
        key,
        change.value if change else _UNCHANGED_LABEL,
        _DESCRIPTIONS[change],
        tuple(_build_cell(key, *pair) for pair in zip(expected_figures, shares, strict=True)),
    )


def _build_cell(key: str, figure: Figure, share: Share) -> Cell:
    failure_count = share.hits if figure is Figure.FOOLED else share.of - share.hits
    success_rate = 1 - failure_count / share.of if share.of else 1.0
    levels = ((1.0, "1"), (0.9, "0.75"), (0.6, "0.5"), (0.3, "0.25"), (0.0, "0"))
    tone = next(level for minimum, level in levels if success_rate >= minimum)
    return Cell(
        share.hits,
        share.of,
        format_percent(share),
        100 * share.hits / share.of if share.of else 0.0,
        tone,
        f"{key} {figure.value}",
        failure_count,
        _FAILURE_LABELS[figure],
    )


def _get_change_key(change: Flaw | Rewording | Attack | None) -> str:
    return change.value if change else "followed"


def _list_keys(variant: Variant) -> list[str]:
    """Return the keys of the tables' rows in which a variant counts."""
    change = variant.attack or variant.change
    label = variant.label
    if change is not None or label is None:
        return [_get_change_key(change)]
    keys = [_get_change_key(None)] if variant.is_followed else []
    keys.append(_ALL_LABELLED)
    keys += [f"flaw {label.flaw}"] if label.flaw else []
    return [*keys, f"group {label.group}"] if label.group else keys


def _format_label(label: Label) -> str:
    if label.score is not None:
        return f"{format_score(label.score)} label"
    return "followed" if label.followed else label.flaw or "flawed"


def _iter_labelled_rows(figures: Figures, show: TextSanitizer) -> Iterator[FigureRow]:
    """Yield the figures of all labelled cases, and by the flaws and groups that labels name."""
    if figures.labelled is None:
        return
    yield _build_labelled_row(_ALL_LABELLED, "all", figures.labelled)
    for name, part in figures.labelled_flaws.items():
        yield _build_labelled_row(f"flaw {name}", show(name), part)
    for name, part in figures.labelled_groups.items():
        yield _build_labelled_row(f"group {name}", show(name), part)


def _build_labelled_row(key: str, name: str, part: LabelledFigures) -> FigureRow:
    ranking = "" if part.ranking is None else f"ranking {part.ranking:.2f}"
    shares = (
        (Figure.PASSED, part.passed),
        (Figure.CAUGHT, part.caught),
        (Figure.LOCATED, part.located),
    )
    return FigureRow(key, name, ranking, tuple(_build_cell(key, *pair) for pair in shares))


def _describe_variant(variant: Variant) -> str:
    """Describe the change made to a case in words."""
    unchanged = _UNCHANGED_LABEL
    if variant.label is not None and not variant.is_followed:
        unchanged = variant.label.flaw or "flawed"
    parts = [variant.change.value if variant.change else unchanged]
    if variant.where:
        parts.append(f"({variant.where})")
    if variant.attack:
        parts.append(f"with {variant.attack.value}")
    return " ".join(parts)


@dataclass(frozen=True, slots=True)
class _VariantRow:
    """All rows of a variant, the figures any of them fails, and the score it is compared with."""

    position: int
    rows: tuple[Measurement, ...]
    failed_figures: tuple[Figure, ...]
    passed_figures: tuple[Figure, ...]
    baseline: str

    def to_cells(self, show: TextSanitizer, page: int | None) -> list[Json]:
        """Return the row as `assets/calibration.js` expects it.

        The cells are: position, case, change, scores, lowest score, baseline, failed figures,
        passed figures, keys that select the row, and page.
        """
        first = self.rows[0]
        keys = _list_keys(first.variant)
        lowest = min(self.rows, key=lambda row: -1.0 if row.score is None else row.score)
        scores = ["–" if row.score is None else format_score(row.score) for row in self.rows]
        return [
            self.position,
            show(first.origin),
            show(_describe_variant(first.variant)),
            " ".join(scores if len(set(scores)) > 1 else scores[:1]),
            lowest.score,
            self.baseline,
            [_FAILURE_LABELS[figure] for figure in self.failed_figures],
            [figure.value for figure in self.passed_figures],
            [
                *keys,
                *(f"{key} {figure.value}" for key in keys for figure in self.failed_figures),
            ],
            page,
        ]


def _iter_variants(figures: Figures) -> Iterator[_VariantRow]:
    """Yield every variant once, combining its repeats."""
    rows_by_variant: dict[str, list[tuple[Measurement, dict[Figure, bool]]]] = {}
    for row, results in classify_rows(figures.rows):
        rows_by_variant.setdefault(row.id, []).append((row, results))
    scores = {(row.origin, row.change): row.score for row in figures.rows if row.attack is None}
    for position, pairs in enumerate(rows_by_variant.values()):
        first, _ = pairs[0]
        # A judge may fail in one repeat and give only a score in another: `located` failed once
        # then.
        measured = dict.fromkeys(figure for _, results in pairs for figure in results)
        failed = [
            figure
            for figure in measured
            if any(results.get(figure) is (figure is Figure.FOOLED) for _, results in pairs)
        ]
        yield _VariantRow(
            position,
            tuple(row for row, _ in pairs),
            tuple(failed),
            tuple(
                measured_figure
                for measured_figure in measured
                if measured_figure not in failed and measured_figure is not Figure.FOOLED
            ),
            _format_baseline(first, scores),
        )


def _format_baseline(
    row: Measurement,
    scores: Mapping[tuple[str, Flaw | Rewording | None], float | None],
) -> str:
    """Return the score this one is compared with, and where it comes from."""
    if row.change is None and row.attack is None:
        return "" if row.variant.label is None else _format_label(row.variant.label)
    other = scores[row.origin, row.change if row.attack else None]
    source = "without attack" if row.attack else "original"
    return f"{'–' if other is None else format_score(other)} {source}"
