"""Assign candidates to the steps of a contract.

The best assignment is, in this order: most steps met in full; most steps met in part; fewest steps
out of order; fewest actions left over; earliest candidates. An assignment in plan order is found
first by dynamic programming. If it can't be shown to be the best one, a branch-and-bound search
looks for better ones, up to a number of nodes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from planproof.checking.contract_match import MatchResult
from planproof.checking.step_order import find_out_of_order
from planproof.core.contract import Match, Requirement

MAX_NODES = 5_000
_CANDIDATES_PER_NODE = 200
_GRADES = {Match.FULL: 3, Match.NEAR: 2, Match.OPEN: 1, Match.NONE: 0}
FULL, NEAR, OPEN, NONE = 3, 2, 1, 0


class Part(Struct, frozen=True, eq=False):
    """One requirement of a step with the candidates that match it, by index.

    It takes at least `min` candidates and at most `max`; None means any number. `place` is the
    position of the requirement in its step.
    """

    matches: dict[int, MatchResult]
    min: int = 1
    max: int | None = 1
    requirement: Requirement = Requirement()
    place: int = 0


class AlignedStep(Struct, frozen=True, eq=False):
    """A step to align: its parts, and whether the plan leaves its position open.

    If its parts have an order, `ranks` says when each candidate was issued.
    """

    parts: tuple[Part, ...]
    free_order: bool = False
    key: object = None
    """Equal for steps with equal requirements, which are filled in plan order."""
    ranks: Sequence[int] | None = None


class Position(NamedTuple):
    """Where a candidate is: the index of its event, and its turn (0 if unknown)."""

    event: int
    turn: int


Taken: TypeAlias = tuple[tuple[int, ...], ...]
"""The candidates of each part of a step."""


class Objective(NamedTuple):
    """The value of an assignment; larger is better."""

    full: int
    near: int
    moves: int
    left_over: int


class ContractAlignment(Struct, frozen=True, eq=False):
    """The assignment of candidates to steps.

    `taken` has for each step the candidates of each of its parts. `rivals` are the grades that
    steps have in other assignments that are equally good. `is_exact` is False if the search
    stopped before it had seen all assignments.
    """

    taken: tuple[Taken, ...]
    objective: Objective
    rivals: tuple[frozenset[int], ...]
    is_exact: bool


def align_contract(
    steps: Sequence[AlignedStep],
    positions: Sequence[Position],
    accountable: Sequence[bool],
    is_text: Sequence[bool],
    *,
    max_nodes: int = MAX_NODES,
) -> ContractAlignment:
    """Return the best assignment of candidates to steps.

    Of each candidate the position is given, whether it is an action that must be accounted for, and
    whether it is text.
    """
    problem = _Problem(steps, positions, accountable, is_text)
    taken = _take_first_matches(problem)
    best = problem.complete(_align_in_plan_order(problem) if taken is None else taken)
    value = problem.evaluate(best)
    if taken is not None and not problem.is_best(value):
        best = problem.complete(_align_in_plan_order(problem))
        value = problem.evaluate(best)
    if problem.is_best(value):
        return ContractAlignment(best, value, _no_rivals(steps), is_exact=True)
    search = _Search(problem, best, value, max_nodes)
    search.run()
    rivals = tuple(frozenset(grades) for grades in search.grades)
    return ContractAlignment(search.best, search.value, rivals, is_exact=search.is_exact)


def _no_rivals(steps: Sequence[AlignedStep]) -> tuple[frozenset[int], ...]:
    return tuple(frozenset[int]() for _ in steps)


def grade_step(step: AlignedStep, taken: Taken) -> int:
    """Return the grade of a step: full if all parts are, near if anything of it was done.

    Parts that did not begin in their order are near.
    """
    grade = _grade_parts(step, taken)
    return NEAR if grade == FULL and not are_parts_in_order(step, taken) else grade


def are_parts_in_order(step: AlignedStep, taken: Taken) -> bool:
    """Return whether the parts of a step that must be done began in the order of the step."""
    if step.ranks is None:
        return True
    starts: dict[int, int] = {}
    for part, chosen in zip(step.parts, taken, strict=True):
        if part.min and chosen:
            start = min(step.ranks[index] for index in chosen)
            starts[part.place] = min(start, starts.get(part.place, start))
    return all(one <= other for one, other in pairwise(starts[place] for place in sorted(starts)))


def rank_candidates(positions: Sequence[Position]) -> list[int]:
    """Return when each candidate was issued; those of one turn, or of one event, have one rank."""
    first: dict[int, int] = {}
    for event, turn in positions:
        first[turn] = min(event, first.get(turn, event))
    return [first[turn] if turn else event for event, turn in positions]


def _grade_parts(step: AlignedStep, taken: Taken) -> int:
    """Return the grade of a step without regard to the order of its parts."""
    grades: list[int] = []
    for part, chosen in zip(step.parts, taken, strict=True):
        if not part.min and not chosen:
            continue
        matched = [_GRADES[part.matches[index].match] for index in chosen]
        if matched.count(FULL) >= part.min:
            grades.append(FULL)
        else:
            grades.append(min(NEAR, max(matched, default=NONE)))
    if grades and min(grades) == FULL:
        return FULL
    return min(NEAR, max(grades, default=NONE))


class _Groups:
    """Sets of candidates that compete for the same parts."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))

    def find(self, index: int) -> int:
        while self._parents[index] != index:
            self._parents[index] = self._parents[self._parents[index]]
            index = self._parents[index]
        return index

    def join(self, one: int, other: int) -> None:
        self._parents[self.find(one)] = self.find(other)


def find_first(taken: Taken, is_text: Sequence[bool]) -> int | None:
    """Return the candidate that a step begins with: its first call, else its first text."""
    indices = [index for part in taken for index in part]
    calls = [index for index in indices if not is_text[index]]
    return min(calls or indices, default=None)


class _Problem:
    """The steps and candidates, and what follows from them before any search."""

    def __init__(
        self,
        steps: Sequence[AlignedStep],
        positions: Sequence[Position],
        accountable: Sequence[bool],
        is_text: Sequence[bool],
    ) -> None:
        self.steps = steps
        self.positions = positions
        self.accountable = accountable
        self.is_text = is_text
        by_key: dict[object, list[int]] = {}
        for number, step in enumerate(steps):
            by_key.setdefault(number if step.key is None else step.key, []).append(number)
        self.equal_steps = [numbers for numbers in by_key.values() if len(numbers) > 1]
        self.previous_equal = {
            later: earlier for numbers in self.equal_steps for earlier, later in pairwise(numbers)
        }
        self._ranked: dict[int, list[int]] = {}
        self._conditions: dict[int, frozenset[tuple[str, str]]] = {}
        self.potential = [self._find_potential(step) for step in steps]
        self.fewest_left_over = self._count_fewest_left_over()

    def _count_fewest_left_over(self) -> int:
        """Return how many actions no assignment can take, by what competing parts have room for."""
        groups = _Groups(len(self.accountable))
        rooms: dict[int, int] = {}
        for step in self.steps:
            for part in step.parts:
                first, *others = part.matches or (0,)
                for index in others:
                    groups.join(first, index)
        for step in self.steps:
            for part in step.parts:
                if part.matches:
                    group = groups.find(next(iter(part.matches)))
                    room = len(part.matches) if part.max is None else max(part.max, part.min)
                    rooms[group] = rooms.get(group, 0) + room
        actions = Counter(
            groups.find(index) for index, is_action in enumerate(self.accountable) if is_action
        )
        return sum(max(0, count - rooms.get(group, 0)) for group, count in actions.items())

    def _find_potential(self, step: AlignedStep) -> int:
        """Return the best grade that a step can have if no other step needs its candidates."""
        return _grade_parts(
            step, tuple(tuple(self.rank_matches(part)[: max(part.min, 1)]) for part in step.parts)
        )

    def rank_matches(self, part: Part) -> list[int]:
        """Return the candidates worth taking for a part, best match first, then in order."""
        ranked = self._ranked.get(id(part))
        if ranked is None:
            ranked = sorted(
                _list_useful(part), key=lambda index: (-_GRADES[part.matches[index].match], index)
            )
            self._ranked[id(part)] = ranked
        return ranked

    def can_share(self, index: int, part: Part, others: Sequence[Part]) -> bool:
        """Return whether a candidate can serve a part in addition to others.

        It must meet all of them, and each must have a condition that the other has not.
        """
        if not others:
            return True
        own = part.matches[index]
        for other in others:
            theirs = other.matches[index]
            if own.match is not Match.FULL or theirs.match is not Match.FULL:
                return False
            mine, their = self._get_conditions(own), self._get_conditions(theirs)
            if not (mine - their and their - mine):
                return False
        return True

    def _get_conditions(self, result: MatchResult) -> frozenset[tuple[str, str]]:
        """Return the conditions that hold; kept, since the search asks for them again and again."""
        found = self._conditions.get(id(result))
        if found is None:
            found = self._conditions[id(result)] = result.matched_conditions
        return found

    def evaluate(self, taken: Sequence[Taken]) -> Objective:
        """Return the value of an assignment."""
        grades = [grade_step(step, own) for step, own in zip(self.steps, taken, strict=True)]
        used = {index for own in taken for part in own for index in part}
        left_over = sum(
            is_action and index not in used for index, is_action in enumerate(self.accountable)
        )
        starts = [
            self.find_start(step, own, grade)
            for step, own, grade in zip(self.steps, taken, grades, strict=True)
        ]
        return Objective(
            full=grades.count(FULL),
            near=grades.count(NEAR),
            moves=-len(find_out_of_order(starts)),
            left_over=-left_over,
        )

    def find_start(self, step: AlignedStep, taken: Taken, grade: int) -> Position | None:
        """Return where a step began; None if it did not, or if its position is open."""
        if grade < NEAR or step.free_order:
            return None
        first = find_first(taken, self.is_text)
        return None if first is None else self.positions[first]

    def may_begin_later(self, step: AlignedStep, taken: Taken) -> bool:
        """Return whether a step that began with a text may begin with a call that is added."""
        first = find_first(taken, self.is_text)
        has_room = any(part.max != part.min for part in step.parts)
        return has_room and first is not None and self.is_text[first]

    def is_best(self, value: Objective) -> bool:
        """Return whether no assignment can be better, and all equally good ones agree."""
        return value == Objective(
            full=self.potential.count(FULL),
            near=self.potential.count(NEAR),
            moves=0,
            left_over=-self.fewest_left_over,
        )

    def complete(self, taken: Sequence[Taken]) -> tuple[Taken, ...]:
        """Give parts that are met in full, and take more, further full matches of their step.

        These come after the start of the step and before its end, which depends on the next step.
        """
        completed = list(taken)
        used = {index for own in taken for part in own for index in part}
        spans: list[tuple[int, int]] = []
        for number in range(len(self.steps) - 1, -1, -1):
            step, own = self.steps[number], taken[number]
            if any(own) and any(part.max != part.min for part in step.parts):
                start = min(index for part in own for index in part)
                end = inf if step.free_order else _find_end(start, spans)
                completed[number] = _add_further(step, own, start, end, used)
            calls = [i for part in completed[number] for i in part if not self.is_text[i]]
            if calls and not step.free_order:
                insort(spans, (min(calls), max(calls)))
        return tuple(completed)


def _add_further(step: AlignedStep, taken: Taken, start: int, end: float, used: set[int]) -> Taken:
    """Return what a step takes with the further full matches between its start and its end."""
    parts: list[tuple[int, ...]] = []
    for part, chosen in zip(step.parts, taken, strict=True):
        room = len(part.matches) if part.max is None else part.max - len(chosen)
        if not all(part.matches[index].match is Match.FULL for index in chosen):
            room = 0
        # A part that has a place in its step does not begin earlier by what is added.
        has_begun = step.ranks is not None and part.min and chosen
        begun = chosen[0] if has_begun else start
        further = [
            index
            for index, result in part.matches.items()
            if begun < index < end and index not in used and result.match is Match.FULL
        ][: max(room, 0)]
        used.update(further)
        parts.append(tuple(sorted((*chosen, *further))))
    return tuple(parts)


def _find_end(start: int, spans: Sequence[tuple[int, int]]) -> float:
    """Return where a step ends: at the last call of the step that begins next.

    So two steps may alternate, but a call after both belongs to neither, nor does one after the
    step that begins then. Text ends no step. `spans` are the first and last calls of the steps that
    come later in the plan, in order.
    """
    at = bisect_left(spans, (start + 1, 0))
    if at == len(spans):
        return inf
    end = spans[at][1]
    return end if at + 1 == len(spans) else min(end, spans[at + 1][0])


def _take_first_matches(problem: _Problem) -> list[Taken] | None:
    """Give each part its first full matches; None if there are too few, or two parts need one."""
    used: set[int] = set()
    assigned: list[Taken] = []
    for step in problem.steps:
        own: list[tuple[int, ...]] = []
        for part in step.parts:
            chosen = tuple(problem.rank_matches(part)[: part.min or 1])
            if len(chosen) < part.min or not used.isdisjoint(chosen):
                return None
            if any(part.matches[index].match is not Match.FULL for index in chosen):
                return None
            used.update(chosen)
            own.append(chosen)
        assigned.append(tuple(own))
    return assigned


def _align_in_plan_order(problem: _Problem) -> list[Taken]:
    """Return the best assignment whose steps begin in plan order, then fill in the other steps."""
    starts = _choose_starts(problem)
    used: dict[int, list[Part]] = {}
    taken: list[Taken] = [()] * len(problem.steps)
    # A step that can't be met in full must not take near matches that others need.
    order = sorted(
        range(len(problem.steps)),
        key=lambda step: (problem.potential[step] != FULL, starts[step] is None, step),
    )
    for number in order:
        step = problem.steps[number]
        taken[number] = _fill_step(problem, step, starts[number], used)
    for group in problem.equal_steps:
        filled = sorted((taken[number] for number in group), key=_get_start)
        for number, own in zip(group, filled, strict=True):
            taken[number] = own
    return taken


def _get_start(taken: Taken) -> float:
    """Return the first candidate of a step; infinity if it has none."""
    return min((index for part in taken for index in part), default=inf)


class _Chain(NamedTuple):
    """A sequence of steps that begin in plan order, by its last step."""

    before: _Chain | None
    step: int
    candidate: int


def _choose_starts(problem: _Problem) -> list[int | None]:
    """Choose the first candidate of each step so that most steps are met in plan order."""
    ends_of_turns = _find_ends_of_turns(problem.positions)
    # Staircase: the best value of a chain that ends at or before each candidate.
    ends: list[int] = []
    values: list[tuple[int, int]] = []
    chains: list[_Chain] = []
    for number, step in enumerate(problem.steps):
        if step.free_order:
            continue
        reached: list[tuple[int, tuple[int, int], _Chain]] = []
        for index, grade in _list_starts(problem, step):
            at = bisect_left(ends, ends_of_turns[index])
            value, chain = (values[at - 1], chains[at - 1]) if at else ((0, 0), None)
            gained = (value[0] + (grade == FULL), value[1] + (grade == NEAR))
            reached.append((index, gained, _Chain(chain, number, index)))
        for index, gained, chain in reached:
            _add_to_staircase(ends, values, chains, index, gained, chain)
    starts: list[int | None] = [None] * len(problem.steps)
    link = chains[-1] if chains else None
    while link is not None:
        starts[link.step] = link.candidate
        link = link.before
    return starts


def _find_ends_of_turns(positions: Sequence[Position]) -> list[int]:
    """Return for each candidate the index after the last one at which an earlier step may begin.

    Candidates of one turn have no order, and one candidate can serve two steps.
    """
    ends = list(range(1, len(positions) + 1))
    for index in range(len(positions) - 2, -1, -1):
        turn = positions[index].turn
        if turn and positions[index + 1].turn == turn:
            ends[index] = ends[index + 1]
    return ends


def _add_to_staircase(
    ends: list[int],
    values: list[tuple[int, int]],
    chains: list[_Chain],
    index: int,
    value: tuple[int, int],
    chain: _Chain,
) -> None:
    at = bisect_right(ends, index)
    if at and values[at - 1] >= value:
        return
    end = at
    while end < len(ends) and values[end] <= value:
        end += 1
    if at and ends[at - 1] == index:
        at -= 1
    ends[at:end], values[at:end], chains[at:end] = [index], [value], [chain]


def _list_starts(problem: _Problem, step: AlignedStep) -> Iterator[tuple[int, int]]:
    """Yield each candidate that a step can begin with, and the grade that it can reach then."""
    if len(step.parts) == 1 and step.parts[0].min <= 1:
        for index, result in step.parts[0].matches.items():
            yield index, _GRADES[result.match]
        return
    if len(step.parts) == 1:
        yield from _list_starts_of_part(step.parts[0])
        return
    is_text = problem.is_text
    indices = sorted({index for part in step.parts for index in part.matches})
    calls = [index for index in indices if not is_text[index]]
    for index in calls or indices:
        taken: list[tuple[int, ...]] = []
        for part in step.parts:
            # A step with calls begins at the first one, and its text may come before.
            later = [
                other
                for other in problem.rank_matches(part)
                if other > index or (calls and is_text[other])
            ]
            if index in part.matches and not any(index in chosen for chosen in taken):
                later.insert(0, index)
            taken.append(tuple(later[: part.min]))
        yield index, grade_step(step, tuple(taken))


def _list_starts_of_part(part: Part) -> list[tuple[int, int]]:
    """Return each candidate of a part that takes several, and the grade that it can reach then."""
    starts: list[tuple[int, int]] = []
    full = best = 0
    for index, result in reversed(part.matches.items()):
        grade = _GRADES[result.match]
        full += grade == FULL
        best = max(best, grade)
        is_met = grade == FULL and full >= part.min
        starts.append((index, FULL if is_met else min(NEAR, best)))
    return starts[::-1]


def _list_useful(part: Part) -> list[int]:
    """Return the candidates worth taking: a part that needs none takes only full matches."""
    if part.min:
        return list(part.matches)
    return [index for index, result in part.matches.items() if result.match is Match.FULL]


def _fill_step(
    problem: _Problem, step: AlignedStep, start: int | None, used: dict[int, list[Part]]
) -> Taken:
    """Take candidates for each part of a step: first its start, then the best free ones."""
    taken: list[tuple[int, ...]] = []
    for part in step.parts:
        chosen: list[int] = []
        ranked = problem.rank_matches(part)
        later = [index for index in ranked if start is None or index >= start]
        if start in ranked:
            # The start comes first among equally good matches.
            later.sort(
                key=lambda index: (-_GRADES[part.matches[index].match], index != start, index)
            )
        for index in (*later, *(i for i in ranked if start is not None and i < start)):
            if len(chosen) == (part.min or 1):
                break
            if problem.can_share(index, part, used.get(index, ())):
                chosen.append(index)
                used.setdefault(index, []).append(part)
        taken.append(tuple(sorted(chosen)))
    return tuple(taken)


class _Search:
    """Branch and bound over the candidates of each part, in plan order."""

    def __init__(
        self, problem: _Problem, best: tuple[Taken, ...], value: Objective, max_nodes: int
    ) -> None:
        self._problem = problem
        self._nodes_left = max_nodes
        self.best, self.value = best, value
        self.grades: list[set[int]] = [set() for _ in problem.steps]
        self._note_grades(best)
        self.is_exact = True
        potential = problem.potential
        # The most that the steps from each one on can add.
        self._full_ahead = [potential[i:].count(FULL) for i in range(len(potential) + 1)]
        self._near_ahead = [potential[i:].count(NEAR) for i in range(len(potential) + 1)]

    def run(self) -> None:
        """Search all assignments that can be at least as good as the best one known."""
        self._search(0, [], {}, 0, 0)

    def _search(
        self, number: int, taken: list[Taken], used: dict[int, list[Part]], full: int, near: int
    ) -> None:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            self.is_exact = False
            return
        if not self._can_reach(number, taken, full, near):
            return
        if number == len(self._problem.steps):
            # The whole assignment is evaluated, which takes longer for many candidates.
            self._nodes_left -= len(self._problem.positions) // _CANDIDATES_PER_NODE
            self._take(taken)
            return
        step = self._problem.steps[number]
        previous = self._problem.previous_equal.get(number)
        earliest = -1 if previous is None else _get_start(taken[previous])
        for own in self._list_choices(step, 0, used, ()):
            if previous is not None and any(own) and _get_start(own) <= earliest:
                continue
            grade = grade_step(step, own)
            taken.append(own)
            self._search(number + 1, taken, used, full + (grade == FULL), near + (grade == NEAR))
            taken.pop()
            if self._nodes_left < 0:
                return

    def _can_reach(self, number: int, taken: list[Taken], full: int, near: int) -> bool:
        """Return whether a partial assignment can still be as good as the best one."""
        most_full = full + self._full_ahead[number]
        if most_full != self.value.full:
            return most_full > self.value.full
        # All steps ahead that can be full must be, so only the others can be near.
        most_near = near + self._near_ahead[number]
        if most_near < self.value.near:
            return False
        if most_near > self.value.near:
            return True
        return -self._count_moves(taken) >= self.value.moves

    def _count_moves(self, taken: list[Taken]) -> int:
        """Return the fewest moves that these steps need, whatever completes them."""
        problem = self._problem
        starts = [
            None
            if problem.may_begin_later(step, own)
            else problem.find_start(step, own, grade_step(step, own))
            for step, own in zip(problem.steps, taken, strict=False)
        ]
        return len(find_out_of_order(starts))

    def _list_choices(
        self, step: AlignedStep, at: int, used: dict[int, list[Part]], own: Taken
    ) -> Iterator[Taken]:
        """Yield the ways to fill the parts of a step; `used` is kept up to date meanwhile."""
        if at == len(step.parts):
            yield own
            return
        part = step.parts[at]
        for chosen in self._list_candidates(part, part.min or 1, used, ()):
            yield from self._list_choices(step, at + 1, used, (*own, chosen))

    def _list_candidates(
        self, part: Part, room: int, used: dict[int, list[Part]], chosen: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        if room:
            for index in _list_useful(part):
                if chosen and index <= chosen[-1]:
                    continue
                others = used.get(index, [])
                if not self._problem.can_share(index, part, others):
                    continue
                used[index] = [*others, part]
                yield from self._list_candidates(part, room - 1, used, (*chosen, index))
                used[index] = others
        yield chosen

    def _take(self, taken: list[Taken]) -> None:
        completed = self._problem.complete(taken)
        value = self._problem.evaluate(completed)
        if value > self.value:
            self.best, self.value = completed, value
            for grades in self.grades:
                grades.clear()
        elif value < self.value:
            return
        elif _flatten(completed) < _flatten(self.best):
            self.best = completed
        self._note_grades(completed)

    def _note_grades(self, taken: Sequence[Taken]) -> None:
        problem = self._problem
        for grades, step, own in zip(self.grades, problem.steps, taken, strict=True):
            grades.add(grade_step(step, own))


def _flatten(taken: Sequence[Taken]) -> list[list[float]]:
    """Return the candidates of each step, for comparing which assignment is earlier."""
    return [sorted(index for part in own for index in part) or [inf] for own in taken]
