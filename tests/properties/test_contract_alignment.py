"""The alignment of contracts, compared with a search through all assignments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from planproof.checking.contract_alignment import (
    AlignedStep,
    Objective,
    Part,
    Position,
    Taken,
    align_contract,
    rank_candidates,
)
from planproof.checking.contract_match import CheckedCondition, MatchResult
from planproof.core.contract import Match, Requirement, Truth

Case = tuple[list[AlignedStep], list[Position], list[bool], list[bool]]
CONDITIONS = st.frozensets(st.sampled_from("abc"), max_size=2)
GRADES = {Match.FULL: 3, Match.NEAR: 2, Match.OPEN: 1}


def make_result(grade: Match, conditions: frozenset[str]) -> MatchResult:
    checks = tuple(
        CheckedCondition("where.x", name, name, Truth.MATCH) for name in sorted(conditions)
    )
    return MatchResult(grade, checks, Requirement(), "e1")


@st.composite
def draw_parts(draw: st.DrawFn, candidates: int) -> Part:
    indices = (
        draw(st.sets(st.integers(0, candidates - 1), max_size=3)) if candidates else set[int]()
    )
    matches = {
        index: make_result(draw(st.sampled_from(list(GRADES))), draw(CONDITIONS))
        for index in sorted(indices)
    }
    least = draw(st.sampled_from([1, 1, 1, 2, 0]))
    most = draw(st.sampled_from([max(least, 1), max(least, 1), least + 1, None]))
    return Part(matches, least, most)


@st.composite
def draw_cases(
    draw: st.DrawFn,
) -> Case:
    candidates = draw(st.integers(0, 5))
    turns = sorted(draw(st.lists(st.integers(0, 3), min_size=candidates, max_size=candidates)))
    positions = [Position(index, turn) for index, turn in enumerate(turns)]
    steps: list[AlignedStep] = []
    for number in range(draw(st.integers(0, 4))):
        if steps and draw(st.integers(0, 4)) == 0:
            steps.append(steps[-1])
            continue
        count = draw(st.sampled_from([1, 1, 2, 3]))
        parts = tuple(
            replace(draw(draw_parts(candidates)), place=draw(st.sampled_from([place, 0])))
            for place in range(count)
        )
        ranks = rank_candidates(positions) if draw(st.booleans()) else None
        steps.append(AlignedStep(parts, draw(st.integers(0, 5)) == 0, number, ranks))
    flags = st.lists(st.booleans(), min_size=candidates, max_size=candidates)
    return steps, positions, draw(flags), draw(flags)


def list_choices(step: AlignedStep) -> list[Taken]:
    """All ways to fill the parts of a step, candidates that are shared included."""
    ways: list[list[tuple[int, ...]]] = []
    for part in step.parts:
        useful = [i for i, result in part.matches.items() if part.min or GRADES[result.match] == 3]
        room = part.min or 1
        ways.append([way for size in range(room + 1) for way in combinations(useful, size)])
    return list(product(*ways))


def is_allowed(steps: list[AlignedStep], taken: tuple[Taken, ...]) -> bool:
    uses = [
        (index, part)
        for step, own in zip(steps, taken, strict=True)
        for part, chosen in zip(step.parts, own, strict=True)
        for index in chosen
    ]
    for (index, part), (other, other_part) in combinations(uses, 2):
        if index == other:
            if {part.matches[index].match, other_part.matches[index].match} != {Match.FULL}:
                return False
            mine = part.matches[index].matched_conditions
            theirs = other_part.matches[index].matched_conditions
            if not (mine - theirs and theirs - mine):
                return False
    starts: dict[object, int] = {}
    for step, own in zip(steps, taken, strict=True):
        start = min((index for chosen in own for index in chosen), default=99)
        if start < 99 and start <= starts.get(step.key, -1):
            return False
        starts[step.key] = start
    return True


def complete(
    steps: list[AlignedStep], taken: tuple[Taken, ...], is_text: list[bool]
) -> tuple[Taken, ...]:
    used = {index for own in taken for chosen in own for index in chosen}
    result: list[Taken] = list(taken)
    for number in reversed(range(len(steps))):
        step, own = steps[number], taken[number]
        start = min((index for chosen in own for index in chosen), default=99)
        # The first and the last call of each later step that begins after this one.
        spans: list[tuple[int, int]] = []
        for later, others in zip(steps[number + 1 :], result[number + 1 :], strict=True):
            calls = {index for chosen in others for index in chosen if not is_text[index]}
            if calls and min(calls) > start and not later.free_order:
                spans.append((min(calls), max(calls)))
        spans.sort()
        end = 99 if step.free_order or not spans else spans[0][1]
        end = end if step.free_order or len(spans) < 2 else min(end, spans[1][0])
        filled: list[tuple[int, ...]] = []
        for part, chosen in zip(step.parts, own, strict=True):
            now = list(chosen)
            if any(part.matches[index].match is not Match.FULL for index in chosen):
                filled.append(chosen)
                continue
            # An ordered part takes nothing before the call with which it began.
            is_placed = step.ranks is not None and part.min > 0 and bool(chosen)
            begun = min(chosen) if is_placed else start
            for index, found in part.matches.items():
                has_room = part.max is None or len(now) < part.max
                is_own = begun < index < end and index not in used
                if has_room and is_own and found.match is Match.FULL:
                    now.append(index)
                    used.add(index)
            filled.append(tuple(now))
        result[number] = tuple(filled)
    return tuple(result)


def is_in_order(step: AlignedStep, own: Taken) -> bool:
    if step.ranks is None:
        return True
    starts = [
        (part.place, min(step.ranks[index] for index in chosen))
        for part, chosen in zip(step.parts, own, strict=True)
        if part.min and chosen
    ]
    first = {place: min(rank for other, rank in starts if other == place) for place, _ in starts}
    return sorted(first) == sorted(first, key=lambda place: (first[place], place))


def grade(step: AlignedStep, own: Taken) -> int:
    met = [
        sum(part.matches[index].match is Match.FULL for index in chosen) >= part.min
        for part, chosen in zip(step.parts, own, strict=True)
        if part.min or chosen
    ]
    if met and all(met):
        return 3 if is_in_order(step, own) else 2
    matched = [
        GRADES[part.matches[i].match]
        for part, chosen in zip(step.parts, own, strict=True)
        for i in chosen
    ]
    return 2 if any(met) else min(2, max(matched, default=0))


def count_moves(starts: list[Position]) -> int:
    """The fewest steps to remove so that the others begin in order; a turn has no order."""
    ranks = [
        min(p.event for p in starts if p.turn == start.turn) if start.turn else start.event
        for start in starts
    ]
    for moved in range(len(ranks) + 1):
        for kept in combinations(ranks, len(ranks) - moved):
            if list(kept) == sorted(kept):
                return moved
    return 0


def evaluate(case: Case, taken: tuple[Taken, ...]) -> Objective:
    steps, positions, accountable, is_text = case
    grades = [grade(step, own) for step, own in zip(steps, taken, strict=True)]
    starts = [
        positions[min((is_text[index], index) for chosen in own for index in chosen)[1]]
        for step, own, reached in zip(steps, taken, grades, strict=True)
        if reached >= 2 and not step.free_order and any(own)
    ]
    used = {index for own in taken for chosen in own for index in chosen}
    left_over = sum(accountable[index] for index in range(len(accountable)) if index not in used)
    return Objective(grades.count(3), grades.count(2), -count_moves(starts), -left_over)


def iter_assignments(steps: list[AlignedStep], is_text: list[bool]) -> Iterator[tuple[Taken, ...]]:
    for taken in product(*map(list_choices, steps)):
        if is_allowed(steps, taken):
            yield complete(steps, taken, is_text)


@given(draw_cases())
def test_no_assignment_is_better(
    case: Case,
) -> None:
    steps, positions, accountable, is_text = case
    found = align_contract(steps, positions, accountable, is_text, max_nodes=1_000_000)
    best = max(evaluate(case, taken) for taken in iter_assignments(steps, is_text))
    assert found.is_exact
    assert evaluate(case, found.taken) == found.objective == best


@given(draw_cases())
def test_a_stopped_search_returns_a_valid_assignment(
    case: Case,
) -> None:
    steps, positions, accountable, is_text = case
    found = align_contract(steps, positions, accountable, is_text, max_nodes=1)
    assert evaluate(case, found.taken) == found.objective
    for step, own in zip(steps, found.taken, strict=True):
        for part, chosen in zip(step.parts, own, strict=True):
            assert set(chosen) <= set(part.matches)
