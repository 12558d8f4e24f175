"""How sure a finding is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from planproof.checking.alignment import align
from planproof.checking.confidence import (
    CONFIDENCE_FEATURES,
    compute_extra_features,
    compute_step_features,
    estimate_confidence,
)
from planproof.checking.similarity import compute_similarity, load_shipped_weights
from tests.trace_builders import did, said
from tests.unit.checking.judge_cases import make_candidates, make_requirement

NOTHING = dict.fromkeys({name for names in CONFIDENCE_FEATURES.values() for name in names}, 0.0)


@pytest.mark.parametrize("sort", CONFIDENCE_FEATURES)
def test_it_is_a_share_with_two_digits(sort: str) -> None:
    for value in (-3.0, 0.0, 3.0):
        sure = estimate_confidence(sort, dict.fromkeys(NOTHING, value))
        assert 0 <= sure <= 1
        assert sure == round(sure, 2)


@pytest.mark.parametrize(
    ("sort", "sign", "rises"),
    [
        ("executed", "min_score", True),
        ("executed", "word_coverage", True),
        ("executed", "found_values", True),
        ("executed", "missing_values", False),
        ("executed", "word_count", False),
        ("missing", "missing_values", True),
        ("missing", "word_count", True),
        ("extra", "best_score", False),
    ],
)
def test_what_makes_a_finding_surer(sort: str, sign: str, *, rises: bool) -> None:
    sure = [estimate_confidence(sort, {**NOTHING, sign: value}) for value in (-1.0, 0.0, 1.0)]
    assert all((less < more) == rises for less, more in pairwise(sure))


def test_step_features_come_from_its_events() -> None:
    steps = [make_requirement("Read a-1.txt and b-2.txt"), make_requirement("Tell Ann")]
    found = make_candidates(did("read_file", path="a-1.txt"), said("It is read, Ann."))
    explanation = align(found, steps, compute_similarity(found, steps, load_shipped_weights()))

    read, told = (
        compute_step_features(k, step, explanation, found) for k, step in enumerate(steps)
    )

    assert (read["found_values"], read["missing_values"]) == (1, 1)
    assert 0 < read["word_coverage"] < 1
    assert read["min_score"] == explanation.scores[0][0] / 100
    assert told["min_score"] == explanation.best_score(1) / 100
    assert read["lexical_overlap"] == told["lexical_overlap"] == explanation.lexical_overlap


def test_an_extra_is_known_by_the_step_that_it_fits_best() -> None:
    assert compute_extra_features([-300, 50], 0.4) == {"best_score": 0.5, "lexical_overlap": 0.4}
    assert compute_extra_features([], 0.0)["best_score"] == 0
