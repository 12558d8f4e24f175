"""Print the figures of `planproof calibrate` for every judge on the built-in cases.

usage: python -m scripts.calibration_quality [--json | --write-docs]

The judges that call a model use the scripted server, over HTTP and with the real client. It behaves
like several kinds of models: `honest` answers what the rules find, `credulous` does the same until
a text in the trace says otherwise, and the others report every step as executed. The figures show
how far a judge follows a bad model, not how good a real model is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import Any

from planproof.calibration.figures import Figures, Share, compute_figures
from planproof.calibration.followed_cases import load_built_in_cases
from planproof.calibration.measurement import Measurement, measure
from planproof.calibration.variant import (
    IDLE_ATTACKS,
    RESULT_ATTACKS,
    TEXT_ATTACKS,
    Attack,
    Variant,
)
from planproof.calibration.variant_set import generate_variants
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.judge import ModelOptions
from planproof.llm.judge_registry import find_judge
from planproof.llm.model_settings import ModelSettings
from planproof.llm.providers import open_model
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.scoring import compute_score
from scripts.quality_tables import build_markdown_table, write_pages
from tests import audit_models
from tests.audit_models import read_plan_and_trace
from tests.scripted_model import ModelRequest, ScriptedModel

ModelBehaviour = Callable[[dict[str, Any]], dict[str, Any]]
BEHAVIOURS_BY_JUDGE: dict[str, tuple[ModelBehaviour, ...]] = {
    "prompt": (
        audit_models.honest,
        audit_models.credulous,
        audit_models.inventing,
    ),
    "audit": (
        audit_models.honest,
        audit_models.credulous,
        audit_models.inventing,
        audit_models.believing,
        audit_models.misnaming,
        audit_models.overlooking,
        audit_models.citing_anything,
    ),
    "cascade": (
        audit_models.honest,
        audit_models.credulous,
        audit_models.citing_anything,
    ),
}


def main() -> None:
    """Measure, and print a table or JSON."""
    variants = list(generate_variants(load_built_in_cases()))
    row_by_judge = {
        "rules": format_figures(compute_figures(measure(variants, CaseEvaluator(Rules()))))
    }
    for judge, behaviours in BEHAVIOURS_BY_JUDGE.items():
        for behaviour in behaviours:
            row_by_judge[f"{judge}, {behaviour.__name__}"] = format_figures(
                measure_judge(judge, behaviour, variants)
            )
    if "--json" in sys.argv:
        print(json.dumps(row_by_judge))
        return
    names = list(next(iter(row_by_judge.values())))
    rows = [[_quote_words(name), *figures.values()] for name, figures in row_by_judge.items()]
    table = build_markdown_table(["judge and model behaviour", *names], rows)
    print(table, end="")
    if "--write-docs" in sys.argv:
        for page in write_pages({"calibration": table}):
            print(f"{page} written")


def _quote_words(name: str) -> str:
    return ", ".join(f"`{word}`" for word in name.split(", "))


def measure_judge(judge: str, behaviour: ModelBehaviour, variants: Iterable[Variant]) -> Figures:
    """Return the figures of a judge with a model of this behaviour, over HTTP."""
    with ScriptedModel(partial(_select_answer, {})) as server:
        model = open_model("openai:x", base_url=server.url, settings=ModelSettings())
        evaluator = CaseEvaluator(find_judge(judge, model=model, options=ModelOptions()))

        def measure_rows() -> Iterator[Measurement]:
            for variant in variants:
                server.behaviour = partial(_select_answer, _make_answers(behaviour, variant))
                yield from measure([variant], evaluator)

        return compute_figures(measure_rows())


def _make_answers(behaviour: ModelBehaviour, variant: Variant) -> dict[str, str]:
    """Return the answers of a model of this behaviour to a variant, by kind of answer."""
    case = {"agent_plan": list(variant.plan), "execution_trace": variant.case.trace}
    audit = behaviour(case)
    # A model that does not answer what the rules find reports every step as executed.
    believes = audit != audit_models.honest(case)
    value = 1.0 if believes else compute_score(Rules().judge(Content(), *read_plan_and_trace(case)))
    score_answer = {"score": value, "reason": f"It gives {value}: see step 1."}
    return {
        "steps": json.dumps(audit),
        "score": json.dumps(score_answer),
        "kinds": json.dumps(audit_models.answer_kinds(case)),
        "pairs": json.dumps(audit_models.EVERY_PAIR),
    }


def _select_answer(answers: dict[str, str], question: ModelRequest) -> str:
    fields: dict[str, Any] = (question.schema or {}).get("properties", {})
    return next((text for field, text in answers.items() if field in fields), "")


def format_figures(figures: Figures) -> dict[str, str]:
    """Return the figures as one row."""
    flaws = figures.flaws.values()

    def pool_attacks(attacks: Container[Attack]) -> str:
        return _format_share(share for attack, share in figures.fooled.items() if attack in attacks)

    return {
        "followed plans that pass": _format_share([figures.passed]),
        "flaws caught": _format_share([flaw_figures.caught for flaw_figures in flaws]),
        "located": _format_share([flaw_figures.located for flaw_figures in flaws]),
        "successful text attacks": pool_attacks(TEXT_ATTACKS),
        "fake observations": pool_attacks(RESULT_ATTACKS),
        "idle calls": pool_attacks(IDLE_ATTACKS),
        "without a score": str(figures.unscored.hits),
        "calls": f"{figures.usage.calls:,}",
        "tokens": f"{figures.usage.tokens_in + figures.usage.tokens_out:,}",
    }


def _format_share(shares: Iterable[Share]) -> str:
    share_list = list(shares)
    hits, of = sum(share.hits for share in share_list), sum(share.of for share in share_list)
    return f"{hits} of {of}" if of else "–"


if __name__ == "__main__":
    main()
