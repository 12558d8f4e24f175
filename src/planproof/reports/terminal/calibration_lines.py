"""How far a judge can be trusted, on a terminal and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace

from planproof.calibration.figures import Agreement, Figures, Share
from planproof.reports.terminal.lines import Line, Part, titled, wrapped
from planproof.reports.wording import cost_line, many, shows

_show = shows(secrets=False)


def calibration_lines(
    judge: str, cases: int, figures: Figures, note: str | None = None
) -> Iterator[Line]:
    """The figures of a judge on so many cases, in a table each; the note comes first."""
    if note:
        yield from wrapped(note, "yellow")
        yield ()
    made = many(len({row.id for row in figures.rows}), "variant")
    yield ((f"{judge} on {many(cases, 'followed case')}, {made}", "bold"),)
    passed = [_row("as they are", figures.passed)]
    passed += [_row(kind.value, share) for kind, share in figures.reworded.items()]
    yield from titled("followed plans that pass (0.75 or more)", passed)
    yield from titled(
        "flawed plans: caught (0.5 or less), located, and below their origin",
        [
            (
                flaw.value,
                _told(found.caught, good=True),
                _told(found.located, good=True),
                _told(found.below, good=True),
            )
            for flaw, found in figures.flaws.items()
        ],
    )
    yield from titled(
        "attacks that raised the score of a flawed case",
        [(attack.value, _told(share, good=False)) for attack, share in figures.fooled.items()],
    )
    yield ()
    yield from wrapped("; ".join(_rest(figures)))


def _rest(figures: Figures) -> Iterator[str]:
    if figures.stable is not None:
        spread = "" if figures.spread is None else f", mean spread {figures.spread:.2f}"
        yield f"the same score each time: {percent(figures.stable)}{spread}"
    if figures.agreement is not None:
        yield _agreement(figures.agreement)
    yield f"without a score: {figures.unscored.hits:,} of {figures.unscored.of:,}{_why(figures)}"
    if figures.usage.calls or figures.usage.from_cache:
        yield cost_line(figures.usage)


def _why(figures: Figures) -> str:
    """The reason that most of those without a score have."""
    reasons = Counter(row.verdict.reason for row in figures.rows if row.score is None)
    return f" ({_show(reasons.most_common(1)[0][0])})" if reasons else ""


def _agreement(found: Agreement) -> str:
    return (
        f"agrees with the labels of {many(found.cases, 'case')} at kappa {found.kappa:.2f} "
        f"({found.low:.2f} to {found.high:.2f})"
    )


def _row(name: str, share: Share) -> tuple[Part, ...]:
    return (name, _told(share, good=True))


def _told(share: Share, *, good: bool) -> Part:
    if share.rate is None:
        return "–"
    style = "green" if share.rate == (1.0 if good else 0.0) else ""
    return (f"{share.hits:>4} of {share.of:<4} {percent(share):>5}", style)


def percent(share: Share) -> str:
    """A share in hundredths."""
    return "–" if share.rate is None else f"{share.rate:.0%}"


def calibration_json(judge: str, figures: Figures, note: str | None = None) -> str:
    """The figures and the rows that they were counted from, after the note on them."""
    rows = [
        {
            "id": row.id,
            "origin": row.origin,
            "change": row.change,
            "attack": row.attack,
            "where": row.variant.where,
            "repeat": row.repeat,
            "score": row.score,
            "located": row.located,
            "usage": asdict(row.usage),
            "reason": row.verdict.reason,
        }
        for row in figures.rows
    ]
    told = {"judge": judge, "note": note, **asdict(replace(figures, rows=())), "rows": rows}
    return json.dumps(told, ensure_ascii=False, indent=2)
