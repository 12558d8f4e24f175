"""How sure findings are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planproof.judges.sureness import of_execution, of_extra, of_lapse

FITS = range(-900, 901, 50)


@pytest.mark.parametrize("sure", [of_execution, of_lapse, of_extra])
def test_sureness_is_a_share_with_two_digits(sure: Callable[[int], float]) -> None:
    found = [sure(fit) for fit in FITS]
    assert all(0.0 <= share <= 1.0 for share in found)
    assert all(round(share, 2) == share for share in found)


def test_what_fits_better_is_surely_executed_and_less_surely_a_lapse_or_an_extra() -> None:
    executed, lapses, extras = (
        [sure(f) for f in FITS] for sure in (of_execution, of_lapse, of_extra)
    )
    assert executed == sorted(executed)
    assert lapses == sorted(lapses, reverse=True)
    assert extras == sorted(extras, reverse=True)
