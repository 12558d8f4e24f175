"""Check a run against a contract: exact requirements, or similarity for the built-in compiler."""

from __future__ import annotations

from collections.abc import Mapping

from planproof.checking.similarity_analysis import judge_by_similarity
from planproof.core.contract import Contract
from planproof.core.finding import Findings
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary


def check_run(
    contract: Contract,
    plan: Plan,
    trace: Trace,
    vocabulary: Vocabulary,
    variables: Mapping[str, str] | None = None,
) -> Findings:
    """Check a trace against a contract whose steps are those of the plan."""
    if contract.is_similarity:
        return judge_by_similarity(plan, trace, vocabulary)
    from planproof.checking.contract_judge import (  # noqa: PLC0415 - `rules` needs none of it
        check_exactly,
    )

    return check_exactly(contract, plan, trace, vocabulary, variables or {})
