"""Whether an output says the contrary of a condition."""

from __future__ import annotations

import pytest

from planproof.checking.step_status import find_contradiction
from tests.trace_builders import did, said
from tests.unit.checking.judge_cases import make_candidates


@pytest.mark.parametrize(
    ("condition", "output", "refuted"),
    [
        ("the build fails", "The build passed.", True),
        ("the build fails", "Build succeeded in 12 s", True),
        ("the build fails", "The build failed.", False),
        ("the build fails", "The build did not fail.", True),
        ("the build fails", "Nothing to report.", False),
        ("the build passes", "The build failed.", True),
        ("there are errors", "No errors found", True),
        ("there are errors", "3 errors found", False),
        ("no errors are found", "3 errors found", True),
        ("no errors are found", "no errors found", False),
        ("the build did not fail", "The build passed.", False),
        ("the service is unavailable", "The service is available again", True),
        ("the service is unavailable", "It is not true that the service is available", False),
        ("the account is premium", "The account is not premium", True),
        ("it is so", "It is not so.", False),
    ],
)
def test_only_the_contrary_refutes_a_condition(condition: str, output: str, refuted: bool) -> None:
    found = find_contradiction(condition, make_candidates(did("run_build", output)))
    assert (found is not None) is refuted


def test_the_sentence_that_refutes_is_quoted_from_the_output() -> None:
    found = find_contradiction(
        "the build fails",
        make_candidates(did("prepare"), did("run_build", "Log:\n The build passed. Bye.")),
    )
    assert found is not None
    assert (found.event, found.pointer, found.quote) == (
        "e2",
        "/events/1/output",
        "The build passed",
    )


def test_what_the_agent_says_refutes_nothing() -> None:
    assert (
        find_contradiction(
            "the build fails", make_candidates(said("The build passed."), did("tag", ""))
        )
        is None
    )
