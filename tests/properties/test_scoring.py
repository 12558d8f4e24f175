"""The score is monotone, and the nearest better outcome is the nearest: against brute force."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from planproof.scoring import compute_score, find_nearest_better
from tests.unit.finding_builders import findings

STEPS = st.text(alphabet="EPLAO", min_size=1, max_size=8)
FEW = st.integers(0, 3)


def worse(statuses: str, place: int, letter: str) -> str:
    return statuses[:place] + letter + statuses[place + 1 :]


@given(st.data(), STEPS, FEW, FEW, st.sampled_from("PLAO"))
def test_making_an_executed_step_worse_never_raises_the_score(
    data: st.DataObject, statuses: str, major: int, minor: int, letter: str
) -> None:
    statuses += "E"
    executed = [place for place, found in enumerate(statuses) if found == "E"]
    place = data.draw(st.sampled_from(executed))

    assert compute_score(findings(worse(statuses, place, letter), major, minor)) <= compute_score(
        findings(statuses, major, minor)
    )


@given(STEPS, FEW, FEW)
def test_adding_an_extra_never_raises_the_score(statuses: str, major: int, minor: int) -> None:
    now = compute_score(findings(statuses, major, minor))

    assert compute_score(findings(statuses, major + 1, minor)) <= now
    assert compute_score(findings(statuses, major, minor + 1)) <= now


@given(STEPS, FEW, FEW)
def test_12_ambiguity_is_never_worth_more_than_absence(
    statuses: str, major: int, minor: int
) -> None:
    ambiguous = statuses.replace("L", "A")

    assert compute_score(findings(ambiguous, major, minor)) <= compute_score(
        findings(statuses, major, minor)
    )


@given(st.text(alphabet="EPLAO", min_size=1, max_size=6), FEW, st.integers(0, 2))
def test_nothing_smaller_reaches_a_better_score(statuses: str, major: int, minor: int) -> None:
    now = compute_score(findings(statuses, major, minor))
    # Every change there is: a step made executed, an extra dropped.
    changes = [place for place, found in enumerate(statuses) if found != "E"]
    changes += [-1] * major + [-2] * minor
    best: tuple[int, float] | None = None
    for size in range(1, len(changes) + 1):
        reached = 0.0
        for chosen in combinations(changes, size):
            changed = "".join(
                "E" if place in chosen else found for place, found in enumerate(statuses)
            )
            after = findings(changed, major - chosen.count(-1), minor - chosen.count(-2))
            reached = max(reached, compute_score(after))
        if reached > now:
            best = (size, reached)
            break

    better = find_nearest_better(findings(statuses, major, minor))

    assert (better.score if better else None) == (best[1] if best else None)
    assert (better is None) == (now == 1.0)
    if better and best:
        assert count_named(better.change) == best[0]


def count_named(change: str) -> int:
    """How many steps and extras a change names; at these sizes each is named."""
    clauses = change.removeprefix("if ").replace(", step", " and step").split(" had ")[:-1]
    subjects = [clause.split("step")[-1] if "extra" not in clause else clause for clause in clauses]
    return sum(_names(subject) for subject in subjects)


def _names(subject: str) -> int:
    if "extra" in subject:
        return subject.count("(")
    counted = subject.lstrip("s").replace(" and ", ", ").split(", ")
    return sum(
        int(name.split()[0]) if name.endswith(" more") else 1 for name in counted if name.strip()
    )
