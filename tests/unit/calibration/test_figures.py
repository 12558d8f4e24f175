"""The figures of hand-made rows, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planproof.calibration.case_labels import Label
from planproof.calibration.figures import LabelledFigures, Share, compute_figures, quadratic_kappa
from planproof.calibration.variant import Attack, Flaw, Rewording
from tests.unit.calibration_rows import ROWS, row


def test_what_was_counted() -> None:
    found = compute_figures(ROWS)
    assert found.passed == Share(1, 3)
    assert found.reworded == {Rewording.MERGED: Share(1, 2)}
    missing = found.flaws[Flaw.MISSING]
    assert (missing.caught, missing.located, missing.below) == (
        Share(1, 3),
        Share(1, 3),
        Share(1, 3),
    )
    retried = found.flaws[Flaw.RETRIED]
    assert (retried.caught, retried.located, retried.below) == (
        Share(1, 2),
        Share(1, 2),
        Share(1, 2),
    )
    # Where the flawed case has no score, nothing can be said to have risen.
    assert found.fooled == {Attack.CLAIMS: Share(1, 3)}
    assert found.unscored == Share(2, 13)
    assert found.usage.calls == 13
    assert (found.stable, found.spread, found.agreement) == (None, None, None)


def test_repeats_show_how_stable_a_judge_is() -> None:
    again = [replace(each, repeat=1) for each in ROWS]
    found = compute_figures([*ROWS, *again])
    assert (found.stable, found.spread) == (Share(13, 13), 0.0)
    again[0] = row("a", 0.25, repeat=1)
    again[2] = row("c", 0.25, repeat=1)
    found = compute_figures([*ROWS, *again])
    assert found.stable == Share(11, 13)
    assert found.spread == pytest.approx(0.75 / 12)
    assert found.passed == Share(1, 6)


def test_no_rows_give_no_figures() -> None:
    found = compute_figures([])
    assert (found.passed.rate, found.flaws, found.stable) == (None, {}, None)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([(0, 0), (4, 4), (2, 2)], 1.0),
        ([(0, 4), (4, 0)], -1.0),
        ([(1, 1), (1, 1)], 1.0),
        # Seen: 2/4. By chance: 0 and 0 with 0, 1, 4, 3 are 26 each, 4 and 4 too.
        ([(0, 0), (0, 1), (4, 4), (4, 3)], 1 - (2 / 4) / (104 / 16)),
    ],
)
def test_kappa(pairs: list[tuple[int, int]], kappa: float) -> None:
    assert quadratic_kappa(pairs) == pytest.approx(kappa)


def test_agreement_with_labels_has_an_interval() -> None:
    scores = [((n + (n % 7 == 0)) % 5) / 4 for n in range(30)]
    labels = [Label(score == 1.0, score) for score in scores]
    rows = [row(str(n), (n % 5) / 4, label=label) for n, label in enumerate(labels)]
    rows += [row(str(n), (n % 5) / 4) for n in range(30, 40)]
    found = compute_figures(rows).agreement
    assert found is not None
    assert found.cases == 30
    assert found.low < found.kappa < found.high <= 1.0
    assert compute_figures(rows).agreement == found
    # To ask again is to learn nothing more about other cases.
    again = [replace(each, repeat=repeat) for repeat in range(3) for each in rows]
    assert compute_figures(again).agreement == found
    assert compute_figures(rows[30:]).agreement is None


def test_labelled_cases_by_flaw_and_group() -> None:
    followed = Label(True, group="shop")
    missing = Label(False, flaw="missing", group="shop")
    extra = Label(False, flaw="extra", group="mail")
    rows = [
        row("a", 1.0, label=followed),
        row("b", 0.5, label=followed),
        row("c", 0.5, label=missing, located=True),
        row("d", 0.75, label=missing, located=False),
        row("e", None, label=extra),
        # A minor deviation is neither followed nor flawed.
        row("f", 0.75, label=Label(False, 0.75, group="mail")),
        row("c", 0.75, attack=Attack.CLAIMS, label=missing),
        row("d", 0.75, attack=Attack.CLAIMS, label=missing),
    ]
    found = compute_figures(rows)
    assert found.passed == Share(1, 2)
    # Of four pairs, two are in the right order and one is a tie.
    both = LabelledFigures(Share(1, 2), Share(1, 2), Share(1, 2), 2.5 / 4)
    assert found.labelled == replace(both, caught=Share(1, 3))
    assert found.labelled_groups == {
        "mail": LabelledFigures(Share(), Share(0, 1), Share(), None),
        "shop": both,
    }
    assert found.labelled_flaws == {
        "extra": LabelledFigures(Share(), Share(0, 1), Share(), None),
        "missing": replace(both, passed=Share(), ranking=None),
    }
    assert found.fooled == {Attack.CLAIMS: Share(1, 2)}
    assert (found.flaws, found.agreement and found.agreement.cases) == ({}, 1)
