"""Which event belongs to which step."""

from __future__ import annotations

from planproof.checking.segmentation import Segmentation, align_any_order, align_monotonic

YES, NO = 100, -100


def test_events_go_to_the_steps_that_they_fit() -> None:
    fits = [[YES, NO], [YES, NO], [NO, YES]]
    assert align_monotonic(fits, [0, 0, 0], 10, 2) == Segmentation([0, 0, 1], 300)


def test_an_event_that_fits_nothing_is_left_over() -> None:
    fits = [[YES, NO], [NO, NO], [NO, YES]]
    assert align_monotonic(fits, [30, 30, 30], 10, 2) == Segmentation([0, -1, 1], 170)


def test_leaving_an_event_over_may_cost_more_than_a_bad_fit() -> None:
    assert align_monotonic([[NO]], [300], 10, 1).step_by_event == [0]


def test_a_step_that_nothing_fits_is_skipped() -> None:
    fits = [[YES, NO, NO], [NO, NO, YES]]
    assert align_monotonic(fits, [50, 50], 40, 3) == Segmentation([0, 2], 160)


def test_steps_after_the_last_event_are_paid_for() -> None:
    assert align_monotonic([[YES, NO, NO]], [50], 40, 3) == Segmentation([0], 20)


def test_plan_order_is_kept_even_where_it_costs() -> None:
    fits = [[NO, YES], [YES, NO]]
    assert align_monotonic(fits, [0, 0], 10, 2).step_by_event in ([1, -1], [-1, 0])


def test_freely_follows_another_order_for_the_price_of_a_jump() -> None:
    fits = [[NO, YES], [YES, NO]]
    assert align_any_order(fits, [0, 0], 10, 2) == Segmentation([1, 0], 170)


def test_freely_goes_on_to_the_next_step_for_nothing() -> None:
    assert align_any_order([[YES, NO], [NO, YES]], [0, 0], 10, 2) == Segmentation([0, 1], 200)


def test_freely_leaves_over_what_fits_nothing() -> None:
    assert align_any_order([[YES], [NO]], [30, 30], 10, 1) == Segmentation([0, -1], 70)


def test_without_events_every_step_is_skipped() -> None:
    assert align_monotonic([], [], 40, 2) == Segmentation([], -80)
    assert align_any_order([], [], 40, 2) == Segmentation([], -40)


def test_without_steps_every_event_is_left_over() -> None:
    assert align_monotonic([[], []], [3, 4], 40, 0) == Segmentation([-1, -1], -7)
    assert align_any_order([[], []], [3, 4], 40, 0) == Segmentation([-1, -1], -7)
