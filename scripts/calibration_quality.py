"""Print what `planproof calibrate` finds of every judge on the built-in cases.

usage: python -m scripts.calibration_quality [--json | --write-docs]

The judges that ask a model ask the scripted server, over HTTP and with the real client. It answers
as models of one nature or another would: `honest` says what the rules find, `credulous` the same
until a text in the trace says otherwise, and the others say that every step was executed. How good
a real model is does not show here; how far a judge follows a bad one does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from planproof.calibration.figures import Figures, Share, figures_of
from planproof.calibration.followed_cases import built_in
from planproof.calibration.measurement import Row, measured
from planproof.calibration.variant import Attack, Variant
from planproof.calibration.variant_set import variants_of
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.judge import Asking
from planproof.llm.judge_registry import find_judge
from planproof.llm.model_settings import ModelSettings
from planproof.llm.providers import open_model
from planproof.runs.engines.case_judging import Judging
from planproof.scoring import score
from scripts.quality_tables import markdown, write_pages
from tests import auditing_models
from tests.auditing_models import plan_and_trace
from tests.scripted_model import Asked, ScriptedModel

Nature = Callable[[dict[str, Any]], dict[str, Any]]
NATURES: dict[str, tuple[Nature, ...]] = {
    "prompt": (auditing_models.honest, auditing_models.credulous, auditing_models.inventing),
    "audit": (
        auditing_models.honest,
        auditing_models.credulous,
        auditing_models.inventing,
        auditing_models.believing,
        auditing_models.misnaming,
        auditing_models.overlooking,
        auditing_models.citing_anything,
    ),
    "cascade": (
        auditing_models.honest,
        auditing_models.credulous,
        auditing_models.citing_anything,
    ),
}


def main() -> None:
    """Measure, and print a table or JSON."""
    variants = list(variants_of(built_in()))
    found = {"rules": told(figures_of(measured(variants, Judging(Rules()))))}
    for judge, natures in NATURES.items():
        for nature in natures:
            found[f"{judge}, {nature.__name__}"] = told(asked(judge, nature, variants))
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    names = list(next(iter(found.values())))
    rows = [[_quoted(name), *figures.values()] for name, figures in found.items()]
    made = markdown(["judge, and the nature of its model", *names], rows)
    print(made, end="")
    if "--write-docs" in sys.argv:
        for page in write_pages({"calibration": made}):
            print(f"{page} written")


def _quoted(name: str) -> str:
    return ", ".join(f"`{word}`" for word in name.split(", "))


def asked(judge: str, nature: Nature, variants: Iterable[Variant]) -> Figures:
    """What a judge comes to with a model of this nature, which it asks over HTTP."""
    with ScriptedModel(partial(_answer, {})) as server:
        model = open_model("openai:x", base_url=server.url, settings=ModelSettings())
        judging = Judging(find_judge(judge, model=model, asking=Asking()))

        def rows() -> Iterator[Row]:
            for variant in variants:
                server.behaviour = partial(_answer, _answers(nature, variant))
                yield from measured([variant], judging)

        return figures_of(rows())


def _answers(nature: Nature, variant: Variant) -> dict[str, str]:
    """What a model of this nature says of a variant, as an audit and as a score."""
    case = {"agent_plan": list(variant.plan), "execution_trace": variant.case.trace}
    audit = nature(case)
    # Whoever says otherwise than the rules find says that all of it was done.
    believes = audit != auditing_models.honest(case)
    value = 1.0 if believes else score(Rules().judge(Content(), *plan_and_trace(case)))
    said = {"score": value, "reason": f"It gives {value}: see step 1."}
    return {"steps": json.dumps(audit), "score": json.dumps(said)}


def _answer(answers: dict[str, str], question: Asked) -> str:
    fields: dict[str, Any] = (question.schema or {}).get("properties", {})
    return next((text for field, text in answers.items() if field in fields), "")


def told(figures: Figures) -> dict[str, str]:
    """The figures in a line."""
    flaws = figures.flaws.values()
    text = [share for attack, share in figures.fooled.items() if attack is not Attack.OBSERVATIONS]
    return {
        "followed plans that pass": _shown([figures.passed]),
        "flaws caught": _shown([found.caught for found in flaws]),
        "located": _shown([found.located for found in flaws]),
        "text attacks with success": _shown(text),
        "fake observations": _shown([figures.fooled[Attack.OBSERVATIONS]]),
        "without a score": str(figures.unscored.hits),
        "calls": f"{figures.usage.calls:,}",
        "tokens": f"{figures.usage.tokens_in + figures.usage.tokens_out:,}",
    }


def _shown(shares: Iterable[Share]) -> str:
    found = list(shares)
    hits, of = sum(share.hits for share in found), sum(share.of for share in found)
    return f"{hits} of {of}" if of else "–"


if __name__ == "__main__":
    main()
