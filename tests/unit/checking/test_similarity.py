"""How well events fit steps."""

from __future__ import annotations

import pytest

from planproof.checking.similarity import (
    FEATURE_SIGNS,
    Similarity,
    compute_features,
    compute_similarity,
    load_shipped_weights,
)
from planproof.core.trace import Event, Kind
from tests.replacement import replace
from tests.unit.checking.alignment_cases import (
    call,
    make_candidates,
    make_requirements,
    says,
    thinks,
)

STEPS = ("Read invoice A-17b", "Delete file draft.txt")


def features_by_name(
    *events: Event, steps: tuple[str, ...] = STEPS
) -> list[list[dict[str, float]]]:
    """For each event, for each step, the features by name."""
    return [
        [dict(zip(FEATURE_SIGNS, pair, strict=True)) for pair in row]
        for row in compute_features(make_candidates(*events), make_requirements(*steps))
    ]


def score_events(*events: Event, steps: tuple[str, ...] = STEPS) -> Similarity:
    return compute_similarity(
        make_candidates(*events), make_requirements(*steps), load_shipped_weights()
    )


def test_weights_never_let_less_evidence_look_better() -> None:
    weights = load_shipped_weights()
    assert len(weights.values) == len(FEATURE_SIGNS)
    assert all(
        weight * sign >= 0
        for weight, sign in zip(weights.values, FEATURE_SIGNS.values(), strict=True)
    )


def test_an_event_fits_the_step_that_it_carries_out_best() -> None:
    reads, deletes = score_events(
        call("read_invoice", id="A-17b"), call("delete_file", path="draft.txt")
    ).scores
    assert reads[0] > 0 > reads[1]
    assert deletes[1] > 0 > deletes[0]


def test_scores_are_weighted_sums_of_the_features() -> None:
    events = (call("read_invoice", id="A-17b", output="draft.txt"), says("I delete the file."))
    found = compute_features(make_candidates(*events), make_requirements(*STEPS))
    weights = load_shipped_weights()
    summed = [
        [
            100 * (weights.bias + sum(w * f for w, f in zip(weights.values, pair, strict=True)))
            for pair in row
        ]
        for row in found
    ]
    # Signatures, words and values are rounded separately.
    for row, expected in zip(score_events(*events).scores, summed, strict=True):
        assert row == pytest.approx(expected, abs=2.5)


def test_words_in_common_speak_for_a_pair() -> None:
    ((pair, other),) = features_by_name(call("zebra", invoice="some"))
    assert pair["share"] > other["share"] == 0
    assert pair["best_step"] == 1 > other["best_step"]


def test_an_event_with_few_words_scores_higher() -> None:
    short, long = features_by_name(
        call("zebra", invoice="x"), call("zebra", invoice="alpha beta gamma delta epsilon")
    )
    assert short[0]["best_event"] == pytest.approx(1)
    assert short[0]["best_event"] > long[0]["best_event"]


def test_a_concept_matches_a_word_with_less_weight() -> None:
    same, akin = features_by_name(call("delete"), call("erase"))
    assert same[1]["share"] > akin[1]["share"] > 0


def test_a_phrase_counts_where_all_of_it_occurs() -> None:
    steps = ("Give the final answer",)
    ((whole,),) = features_by_name(call("zebra", text="the answer is final"), steps=steps)
    ((part,),) = features_by_name(call("zebra", text="the end is final"), steps=steps)
    assert whole["share"] > part["share"]


def test_values_that_are_not_in_the_call_are_a_feature() -> None:
    holds, reports, neither = features_by_name(
        call("zebra", id="A-17b"), call("zebra", output="A-17b"), call("zebra")
    )
    assert [row[0]["values_elsewhere"] for row in (holds, reports, neither)] == [0, 1, 1]


def test_what_came_back_changes_nothing() -> None:
    called = call("zebra", invoice="x")
    assert features_by_name(replace(called, output="Read invoice A-17b")) == features_by_name(
        called
    )


def test_a_name_is_not_compared_as_a_value() -> None:
    ((pair,),) = features_by_name(call("zebra", who="Ann"), steps=("Tell the good Ann",))
    assert pair["values_elsewhere"] == 0


def test_a_step_that_names_a_tool_is_not_done_by_another() -> None:
    named, other = features_by_name(
        call("web_search"), call("zebra"), steps=("Use web_search for it",)
    )
    assert (named[0]["other_tool"], other[0]["other_tool"]) == (0, 1)


def test_a_piece_of_a_name_names_no_tool() -> None:
    ((pair,),) = features_by_name(call("search"), steps=("Use web_search for it",))
    assert pair["other_tool"] == 0


def test_a_step_may_name_who_does_it() -> None:
    coder, other = features_by_name(
        replace(call("zebra"), actor="Coder"),
        replace(call("zebra"), actor="Boss"),
        steps=("Let the Coder do it",),
    )
    assert (coder[0]["actor"], other[0]["actor"]) == (1, 0)


def test_the_action_type_counts() -> None:
    ((_, pair),) = features_by_name(call("erase"))
    assert pair["no_common_action_type"] == 0
    ((_, pair),) = features_by_name(thinks("so"))
    assert pair["no_common_action_type"] == 1


@pytest.mark.parametrize(
    ("event", "step", "feature"),
    [
        (says("x"), "Tell the user", "requested_message"),
        (says("x"), "Delete the file", "unrequested_message"),
        (call("x"), "Tell the user", "action_for_message"),
        (thinks("x"), "Decide on one", None),
        (thinks("x"), "Delete the file", "unrequested_reasoning"),
        (replace(call("x"), kind=Kind.BOOKKEEPING), "Delete the file", None),
        (replace(call("x"), kind=Kind.OBSERVATION), "Decide on one", None),
        (call("x"), "Delete the file", None),
    ],
)
def test_kinds_of_events_suit_kinds_of_steps(event: Event, step: str, feature: str | None) -> None:
    ((pair,),) = features_by_name(event, steps=(step,))
    of_kind = list(FEATURE_SIGNS)[-4:]
    assert {name for name in of_kind if pair[name]} == ({feature} if feature else set())


def test_lexical_overlap_is_the_share_of_words_in_the_best_events() -> None:
    near = score_events(call("read_invoice", id="A-17b"), call("delete_file", path="draft.txt"))
    far = score_events(call("zebra"))
    assert near.lexical_overlap > far.lexical_overlap == 0


def test_no_events_and_no_steps_give_no_fits() -> None:
    assert score_events() == Similarity([], 0.0)
    assert score_events(call("x"), steps=()) == Similarity([[]], 0.0)
    assert compute_features([], make_requirements(*STEPS)) == []
