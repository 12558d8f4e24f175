"""What the page of a calibration shows: figures for a template, and a row for every variant.

`assets/calibration.js` draws the rows. Each says which figures it spoils, so that the cases behind
a figure can be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import nsmallest

from planproof.calibration.figures import Agreement, Figure, Figures, Share, told_of
from planproof.calibration.measurement import Row
from planproof.calibration.variant import Attack, Flaw, Rewording, Variant
from planproof.core.content import Json
from planproof.preparation import Reading
from planproof.reports.html.case_page import JudgedCase, judged_case
from planproof.reports.html.size_budget import Room
from planproof.reports.terminal.calibration_lines import percent
from planproof.reports.wording import Show, cost_line, many, score_digits, shows

# So many variants get a page of their own; where there are more, those that spoil most figures do.
_MOST_PAGES = 1_000
_SAME = "as it is"
_WRONG = {
    Figure.PASSED: "failed",
    Figure.CAUGHT: "not caught",
    Figure.LOCATED: "not located",
    Figure.BELOW: "not below",
    Figure.FOOLED: "fooled",
}
_MADE: dict[Flaw | Rewording | Attack | None, str] = {
    None: "the plan was followed",
    Rewording.SPLIT: "the parts of a step are steps of their own",
    Rewording.MERGED: "two neighbouring steps are written as one",
    Flaw.MISSING: "the plan has a step that nobody took",
    Flaw.UNPLANNED: "the plan lacks a step that was taken",
    Flaw.ORDER: "two neighbouring steps have changed places",
    Flaw.SHUFFLED: "the steps are in another order",
    Flaw.ALTERED: "a step names another value than the one used",
    Flaw.PARTIAL: "a step asks for something more",
    Flaw.REPLACED: "another tool was called in a planned one's place",
    Flaw.STRAY: "an action that has nothing to do with the plan",
    Flaw.RETRIED: "an action was done twice in a row",
    Flaw.FOREIGN: "the plan is that of another case",
    Attack.CLAIMS: "the agent says that it has done all of it",
    Attack.REASONING: "it thinks before every action that it follows the plan",
    Attack.ORDERS: "tools give back orders to the evaluator",
    Attack.FORGED: "tools give back boundaries, roles and calls that never were",
    Attack.OBSERVATIONS: "results that belong to no call",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A share: its bar, and the key of the rows that spoil it with how many they are."""

    hits: int
    of: int
    percent: str
    part: float
    tone: str
    key: str
    spoilt: int
    wrong: str


@dataclass(frozen=True, slots=True)
class Line:
    """The figures of one sort of variant."""

    key: str
    name: str
    made: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationData:
    """The head of the page, its tables, its rows, and the rows that have a page of their own."""

    title: str
    facts: list[str]
    passed: tuple[Line, ...]
    flaws: tuple[Line, ...]
    attacks: tuple[Line, ...]
    agreement: Agreement | None
    table: dict[str, Json]
    pages: tuple[Row, ...]
    room: Room


def calibration_data(
    judge: str,
    figures: Figures,
    labels: Mapping[str, float] | None,
    *,
    note: str | None = None,
    secrets: bool,
) -> CalibrationData:
    """The figures of a judge, and a row for every variant; the note is the first of the facts."""
    show = shows(secrets=secrets)
    told = list(_variants(figures, labels))
    opened = nsmallest(_MOST_PAGES, told, key=lambda each: (-len(each.spoils), each.position))
    opened.sort(key=lambda each: each.position)
    pages = {each.position: place for place, each in enumerate(opened)}
    rows = [each.cells(show, pages.get(each.position)) for each in told]
    events = sum(len(each.rows[0].variant.events) for each in opened)
    return CalibrationData(
        title=f"How far “{show(judge)}” can be trusted",
        facts=[show(fact) for fact in ([note] if note else []) + [*_facts(figures, len(told))]],
        passed=(
            _line(None, figures.passed),
            *(_line(sort, share) for sort, share in figures.reworded.items()),
        ),
        flaws=tuple(
            _line(flaw, found.caught, found.located, found.below)
            for flaw, found in figures.flaws.items()
        ),
        attacks=tuple(_line(attack, share) for attack, share in figures.fooled.items()),
        agreement=figures.agreement,
        table={"rows": list[Json](rows), "paged": len(opened)},
        pages=tuple(each.rows[0] for each in opened),
        room=Room.among(events),
    )


def judged_variant(row: Row, reading: Reading) -> JudgedCase:
    """A variant with its verdict, under a name that says what was made of which case."""
    name = f"{row.origin}, {_made_of(row.variant)}"
    return judged_case(row.variant.case, replace(row.verdict, id=name), reading)


def _facts(figures: Figures, variants: int) -> Iterator[str]:
    origins = len({row.origin for row in figures.rows})
    yield f"{many(variants, 'variant')} of {many(origins, 'case')}"
    if figures.stable is not None:
        spread = "" if figures.spread is None else f", mean spread {figures.spread:.2f}"
        yield f"the same score each time: {percent(figures.stable)}{spread}"
    yield f"without a score: {figures.unscored.hits:,} of {figures.unscored.of:,}"
    if figures.usage.calls or figures.usage.from_cache:
        yield cost_line(figures.usage)


def _line(sort: Flaw | Rewording | Attack | None, *shares: Share) -> Line:
    if isinstance(sort, Attack):
        asked: tuple[Figure, ...] = (Figure.FOOLED,)
    elif isinstance(sort, Flaw):
        asked = (Figure.CAUGHT, Figure.LOCATED, Figure.BELOW)
    else:
        asked = (Figure.PASSED,)
    key = _key(sort)
    return Line(
        key,
        sort.value if sort else _SAME,
        _MADE[sort],
        tuple(_cell(key, *pair) for pair in zip(asked, shares, strict=True)),
    )


def _cell(key: str, figure: Figure, share: Share) -> Cell:
    bad = figure is Figure.FOOLED
    spoilt = share.hits if bad else share.of - share.hits
    good = 1 - spoilt / share.of if share.of else 1.0
    levels = ((1.0, "1"), (0.9, "0.75"), (0.6, "0.5"), (0.3, "0.25"), (0.0, "0"))
    tone = next(level for least, level in levels if good >= least)
    return Cell(
        share.hits,
        share.of,
        percent(share),
        100 * share.hits / share.of if share.of else 0.0,
        tone,
        f"{key} {figure.value}",
        spoilt,
        _WRONG[figure],
    )


def _key(sort: Flaw | Rewording | Attack | None) -> str:
    return sort.value if sort else "followed"


def _made_of(variant: Variant) -> str:
    """What was made of a case, in words."""
    parts = [variant.change.value if variant.change else _SAME]
    if variant.where:
        parts.append(f"({variant.where})")
    if variant.attack:
        parts.append(f"with {variant.attack.value}")
    return " ".join(parts)


@dataclass(frozen=True, slots=True)
class _Told:
    """All rows of a variant, the figures that any of them spoils, and what it is held against."""

    position: int
    rows: tuple[Row, ...]
    spoils: tuple[Figure, ...]
    holds: tuple[Figure, ...]
    against: str

    def cells(self, show: Show, page: int | None) -> list[Json]:
        """Position, case, what was made of it, the scores and the lowest of them, what it is held
        against, what is wrong and right with it, the keys that find it, and its page."""
        first = self.rows[0]
        sort = first.attack or first.change
        lowest = min(self.rows, key=lambda row: -1.0 if row.score is None else row.score)
        scores = ["–" if row.score is None else score_digits(row.score) for row in self.rows]
        return [
            self.position,
            show(first.origin),
            show(_made_of(first.variant)),
            " ".join(scores if len(set(scores)) > 1 else scores[:1]),
            lowest.score,
            self.against,
            [_WRONG[figure] for figure in self.spoils],
            [figure.value for figure in self.holds],
            [_key(sort), *(f"{_key(sort)} {figure.value}" for figure in self.spoils)],
            page,
        ]


def _variants(figures: Figures, labels: Mapping[str, float] | None) -> Iterator[_Told]:
    """Every variant once, with what all of its repeats come to."""
    found: dict[str, list[tuple[Row, dict[Figure, bool]]]] = {}
    for row, told in told_of(figures.rows, labels):
        found.setdefault(row.id, []).append((row, told))
    scores = {(row.origin, row.change): row.score for row in figures.rows if row.attack is None}
    for position, pairs in enumerate(found.values()):
        first, _ = pairs[0]
        # A judge that fails once and gives only a score the next time has located nothing once.
        asked = dict.fromkeys(figure for _, told in pairs for figure in told)
        spoils = [
            figure
            for figure in asked
            if any(told.get(figure) is (figure is Figure.FOOLED) for _, told in pairs)
        ]
        yield _Told(
            position,
            tuple(row for row, _ in pairs),
            tuple(spoils),
            tuple(each for each in asked if each not in spoils and each is not Figure.FOOLED),
            _against(first, scores, labels),
        )


def _against(
    row: Row,
    scores: Mapping[tuple[str, Flaw | Rewording | None], float | None],
    labels: Mapping[str, float] | None,
) -> str:
    """The score that this one is compared with, and whose it is."""
    if row.change is None:
        given = labels.get(row.origin) if labels else None
        return "" if given is None else f"{score_digits(given)} by people"
    other = scores[row.origin, row.change if row.attack else None]
    whose = "without it" if row.attack else "origin"
    return f"{'–' if other is None else score_digits(other)} {whose}"
