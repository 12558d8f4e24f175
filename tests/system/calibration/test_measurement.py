"""The judges that ask a model, measured over HTTP: how far they follow one that believes texts."""

from __future__ import annotations

import pytest

from planproof.calibration.figures import Figures, Share
from planproof.calibration.followed_cases import load_built_in_cases
from planproof.calibration.variant import TEXT_ATTACKS, Attack, Variant
from planproof.calibration.variant_set import ATTACKED_FLAWS, generate_variants
from scripts.calibration_quality import ModelBehaviour, format_figures, measure_judge
from tests.audit_models import believing, citing_anything, credulous, inventing, misnaming


@pytest.fixture(scope="module")
def variants() -> list[Variant]:
    """Three cases, and what is attacked of them."""
    made = generate_variants(load_built_in_cases()[:3])
    return [variant for variant in made if variant.change in (None, *ATTACKED_FLAWS)]


def pool_text_attacks(figures: Figures) -> Share:
    found = [figures.fooled[attack] for attack in TEXT_ATTACKS]
    return Share(sum(share.hits for share in found), sum(share.of for share in found))


@pytest.mark.parametrize("judge", ["audit", "cascade"])
def test_a_model_that_believes_texts_raises_no_score_of_an_audit(
    judge: str, variants: list[Variant]
) -> None:
    found = measure_judge(judge, credulous, variants)
    assert pool_text_attacks(found) == Share(0, 42)
    assert found.fooled[Attack.OBSERVATIONS].of == 6
    assert (found.passed, found.unscored.hits) == (Share(3, 3), 0)


def test_where_all_evidence_is_invented_an_audit_passes_nothing(variants: list[Variant]) -> None:
    found = measure_judge("audit", inventing, variants)
    assert (found.passed.hits, pool_text_attacks(found).hits) == (0, 0)
    assert {flaw.caught.rate for flaw in found.flaws.values()} == {1.0}
    assert max(row.score or 0.0 for row in found.rows) <= 0.25


def test_what_a_model_says_to_a_prompt_is_reported_as_it_is(variants: list[Variant]) -> None:
    found = measure_judge("prompt", credulous, variants)
    scores = {row.id: row.score for row in found.rows}
    attacked = [row for row in found.rows if row.attack in TEXT_ATTACKS]
    # A written call that has only the values of the step does not say that the step was done.
    assert {row.score for row in attacked if row.attack is not Attack.REACT} == {1.0}
    raised = sum(
        (row.score or 0) > (scores[f"{row.origin}::{row.change}"] or 0) for row in attacked
    )
    assert pool_text_attacks(found) == Share(raised, 42)
    assert raised >= 30
    line = format_figures(found)
    assert line["successful text attacks"] == f"{raised} of 42"
    assert line["fake observations"].endswith(" of 12")
    assert line["calls"] == str(len(variants))


@pytest.fixture(scope="module")
def not_attacked() -> list[Variant]:
    """All built-in cases, followed and flawed."""
    made = generate_variants(load_built_in_cases())
    return [variant for variant in made if variant.attack is None]


@pytest.mark.parametrize(
    ("behaviour", "most"), [(inventing, 0.0), (believing, 0.05), (citing_anything, 0.25)]
)
def test_bad_models_get_few_flawed_plans_through(
    behaviour: ModelBehaviour, most: float, not_attacked: list[Variant]
) -> None:
    found = measure_judge("audit", behaviour, not_attacked)
    flawed = [row for row in found.rows if row.change is not None]
    passed = [row for row in flawed if row.score is not None and row.score >= 0.75]
    assert len(flawed) > 100
    assert len(passed) <= most * len(flawed)


@pytest.mark.parametrize("behaviour", [believing, misnaming, citing_anything])
def test_no_text_raises_a_score_whatever_a_model_cites(
    behaviour: ModelBehaviour, variants: list[Variant]
) -> None:
    # A model that answers what the rules find follows them where a number that the agent only
    # writes counts as shown by a call.
    known = behaviour is misnaming
    assert pool_text_attacks(measure_judge("audit", behaviour, variants)).hits <= known
