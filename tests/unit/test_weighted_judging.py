"""Judge with other weights, as `make quality` does for held-out groups."""

from __future__ import annotations

from planproof.checking.similarity import FEATURE_SIGNS, Weights
from planproof.core.finding import Status
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts.weighted_judging import find_with_weights
from tests.small_cases import FOLLOWED


def test_other_weights_are_used() -> None:
    plan = parse_plan(FOLLOWED["agent_plan"])
    trace = read_trace(Source.from_value(FOLLOWED["execution_trace"]))
    hopeless = Weights((0.0,) * len(FEATURE_SIGNS), -10.0)
    statuses = {finding.status for finding in find_with_weights(hopeless, plan, trace).steps}
    assert Status.EXECUTED not in statuses
