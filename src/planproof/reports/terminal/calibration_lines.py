"""Calibration figures of a judge, for the terminal and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace

from planproof.calibration.figures import Agreement, Figures, LabelledFigures, Share
from planproof.calibration.measurement import Measurement
from planproof.reports.terminal.lines import Line, Part, format_section, truncate, wrap_lines
from planproof.reports.wording import format_cost, make_sanitizer, pluralize

_MAX_NAME_CHARS = 24
_show = make_sanitizer(secrets=False)


def format_calibration(judge: str, figures: Figures, note: str | None = None) -> Iterator[Line]:
    """Format the figures of a judge in tables, after the note."""
    if note:
        yield from wrap_lines(note, "yellow")
        yield ()
    variant_count = pluralize(len({row.id for row in figures.rows}), "variant")
    cases = Counter(row.variant.is_followed for row in _list_originals(figures))
    counted = pluralize(cases[True], "followed case")
    if cases[False]:
        counted += f" and {cases[False]:,} {'other' if cases[False] == 1 else 'others'}"
    yield ((f"{judge} on {counted}, {variant_count}", "bold"),)
    passed = [_format_row("unchanged", figures.passed)]
    if figures.passed.of == 0:
        passed.clear()
    passed += [_format_row(kind.value, share) for kind, share in figures.reworded.items()]
    yield from format_section("followed plans that pass (0.75 or more)", passed)
    yield from format_section(
        "flawed plans: caught (0.5 or less), located, and below the original",
        [
            (
                flaw.value,
                _format_share(flaw_figures.caught, good=True),
                _format_share(flaw_figures.located, good=True),
                _format_share(flaw_figures.below, good=True),
            )
            for flaw, flaw_figures in figures.flaws.items()
        ],
    )
    if figures.labelled is not None:
        yield from _format_labelled(figures.labelled, figures)
    yield from format_section(
        "attacks that raised the score of a flawed case",
        [
            (attack.value, _format_share(share, good=False))
            for attack, share in figures.fooled.items()
        ],
    )
    yield ()
    yield from wrap_lines("; ".join(_format_remaining_figures(figures)))


def _list_originals(figures: Figures) -> list[Measurement]:
    """Return the first rows of the cases from which variants were made."""
    clean = (row for row in figures.rows if row.change is None and row.attack is None)
    return [row for row in clean if row.repeat == 0]


def _format_labelled(labelled: LabelledFigures, figures: Figures) -> Iterator[Line]:
    """Format the figures of labelled cases: of all, by flaw and by group."""
    named = [("all", labelled), *figures.labelled_flaws.items()]
    yield from format_section(
        "labelled as flawed: caught (0.5 or less), located",
        [
            (
                truncate(_show(name), _MAX_NAME_CHARS),
                _format_share(part.caught, good=True),
                _format_share(part.located, good=True),
            )
            for name, part in named
            if part.caught.of
        ],
    )
    groups = [("all", labelled), *figures.labelled_groups.items()]
    yield from format_section(
        "labelled cases: followed that pass, flawed that are caught, ranking",
        [
            (
                truncate(_show(name), _MAX_NAME_CHARS),
                _format_share(part.passed, good=True),
                _format_share(part.caught, good=True),
                "–" if part.ranking is None else f"{part.ranking:.2f}",
            )
            for name, part in groups
        ],
    )


def _format_remaining_figures(figures: Figures) -> Iterator[str]:
    if figures.stable is not None:
        spread = "" if figures.spread is None else f", mean spread {figures.spread:.2f}"
        yield f"same score in every repeat: {format_percent(figures.stable)}{spread}"
    if figures.agreement is not None:
        yield _format_agreement(figures.agreement)
    yield (
        f"without a score: {figures.unscored.hits:,} of "
        f"{figures.unscored.of:,}{_find_main_reason(figures)}"
    )
    if figures.usage.calls or figures.usage.from_cache:
        yield format_cost(figures.usage)


def _find_main_reason(figures: Figures) -> str:
    """Return the most frequent reason for a missing score."""
    reasons = Counter(row.verdict.reason for row in figures.rows if row.score is None)
    return f" ({_show(reasons.most_common(1)[0][0])})" if reasons else ""


def _format_agreement(agreement: Agreement) -> str:
    return (
        f"agreement with the labels of {pluralize(agreement.cases, 'case')}: kappa "
        f"{agreement.kappa:.2f} "
        f"({agreement.low:.2f} to {agreement.high:.2f})"
    )


def _format_row(name: str, share: Share) -> tuple[Part, ...]:
    return (name, _format_share(share, good=True))


def _format_share(share: Share, *, good: bool) -> Part:
    if share.rate is None:
        return "–"
    style = "green" if share.rate == (1.0 if good else 0.0) else ""
    return (f"{share.hits:>4} of {share.of:<4} {format_percent(share):>5}", style)


def format_percent(share: Share) -> str:
    """Format a share as a percentage."""
    return "–" if share.rate is None else f"{share.rate:.0%}"


def calibration_to_json(judge: str, figures: Figures, note: str | None = None) -> str:
    """Return the note, the figures, and the rows they were computed from."""
    rows = [
        {
            "id": row.id,
            "origin": row.origin,
            "change": row.change,
            "attack": row.attack,
            "where": row.variant.where,
            "repeat": row.repeat,
            "score": row.score,
            "label": None if row.variant.label is None else asdict(row.variant.label),
            "located": row.located,
            "usage": asdict(row.usage),
            "reason": row.verdict.reason,
        }
        for row in figures.rows
    ]
    fields = {"judge": judge, "note": note, **asdict(replace(figures, rows=())), "rows": rows}
    return json.dumps(fields, ensure_ascii=False, indent=2)
