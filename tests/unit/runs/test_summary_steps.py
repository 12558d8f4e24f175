"""What became of the same step in many cases."""

from __future__ import annotations

from planproof.core.finding import Status
from planproof.runs.summary import StepCount, StepCounts


def test_steps_are_grouped_by_text_and_ranked_by_deviations() -> None:
    counts = StepCounts()
    for text, status in [
        ("Check the policy", Status.MISSING),
        ("Check  the\npolicy", Status.AMBIGUOUS),
        ("Check the policy", Status.EXECUTED),
        ("Refund", Status.OUT_OF_ORDER),
        ("Refund", Status.PARTIAL),
        ("Tell the customer", Status.PARTIAL),
        ("Read the order", Status.EXECUTED),
    ]:
        counts.add(text, status)
    missed = counts.find_most_missed(10)
    # Two deviations each: the step that was never executed comes first. Others are not listed.
    assert [(step.text, step.deviations, step.total) for step in missed] == [
        ("Refund", 2, 2),
        ("Check the policy", 2, 3),
        ("Tell the customer", 1, 1),
    ]
    assert missed[1] == StepCount(
        text="Check the policy", executed=1, partial=0, missing=1, ambiguous=1, out_of_order=0
    )
    assert counts.find_most_missed(1) == missed[:1]


def test_a_frequent_step_is_found_among_more_texts_than_are_kept() -> None:
    counts = StepCounts(max_texts=100)
    for number in range(5_000):
        counts.add(f"something else {number}", Status.MISSING)
        if number % 10 == 0:
            counts.add("Check the policy", Status.MISSING)
            counts.add("Read the order", Status.EXECUTED)
    missed = counts.find_most_missed(5)
    assert (missed[0].text, missed[0].missing) == ("Check the policy", 500)
    assert [step.deviations for step in missed[1:]] == [1, 1, 1, 1]


def test_a_long_text_is_cut() -> None:
    counts = StepCounts()
    counts.add("x" * 1_000_000, Status.MISSING)
    assert counts.find_most_missed(1)[0].text == "x" * 240
