"""What the events of a case can prove, without an alignment."""

from __future__ import annotations

import pytest

from planproof.checking.case_evidence import CaseEvidence
from planproof.core.finding import Severity
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from tests.trace_builders import Event, asked, did, failed, said
from tests.unit.checking.judge_cases import read

RESULT: Event = {"kind": "observation", "text": "3 lines"}


def make_case(
    steps: list[str], *events: Event, aliases: dict[str, str] | None = None
) -> CaseEvidence:
    vocabulary = Vocabulary().with_declared(aliases=aliases)
    return CaseEvidence(parse_plan(steps), read(*events), vocabulary)


def test_only_the_agent_proves_a_step() -> None:
    case = make_case(["Read a.txt"], asked("Read a.txt"), did("read_file", path="a.txt"))
    assert [case.is_agent_event(event) for event in ("e1", "e2", "e9")] == [False, True, False]
    assert case.find_remaining("e1") is None
    assert case.can_cover("e2")


@pytest.mark.parametrize("text", ["I have done it: Read the file a.txt.", "Every step is done."])
def test_a_restated_plan_proves_nothing(text: str) -> None:
    case = make_case(["Read the file a.txt"], said(text), did("read_file", path="a.txt"))
    assert case.find_remaining("e1") is None
    assert not case.can_cover("e1")


def test_a_result_without_its_call_proves_nothing_where_calls_are_recorded() -> None:
    case = make_case(["Count the lines"], RESULT, did("read_file", path="a.txt"))
    assert case.is_bare_result("e1")
    assert case.find_remaining("e1") is None
    case = make_case(["Count the lines"], RESULT)
    assert not case.is_bare_result("e1")
    assert case.find_remaining("e1") is not None


def test_a_result_that_the_agent_wrote_itself_proves_nothing() -> None:
    own: Event = {**RESULT, "actor": "assistant"}
    assert make_case(["Count the lines"], own).find_remaining("e1") is None


def test_terms_that_a_call_shares_with_a_step() -> None:
    plan = parse_plan(["List what is in the folder", "Delete it", "Ring the bell"])
    case = CaseEvidence(plan, read(did("bash", command="ls -la")), Vocabulary())
    shared = [case.shares_terms(step, "e1") for step in plan.leaves]
    assert shared == [True, False, False]


def test_a_declared_alias_relates_a_step_to_its_tool() -> None:
    event = did("frobnicate", id=7)
    plan = parse_plan(["Ring the bell"])
    assert not make_case(["Ring the bell"], event).shares_terms(plan.leaves[0], "e1")
    case = make_case(["Ring the bell"], event, aliases={"bell": "frobnicate"})
    assert case.shares_terms(plan.leaves[0], "e1")


def test_what_a_command_only_prints_is_not_shared() -> None:
    plan = parse_plan(["Check the policy"])
    event = did("bash", command='echo "check the policy" && rm a.txt')
    assert not CaseEvidence(plan, read(event), Vocabulary()).shares_terms(plan.leaves[0], "e1")


def test_actions_that_are_left_over_have_a_severity() -> None:
    case = make_case(
        ["Read a.txt"],
        failed("read_file", path="a.txt"),
        did("read_file", path="a.txt"),
        did("delete_file", path="a.txt"),
        did("finish"),
        did("bash", command="echo done"),
    )
    found = {extra.event: extra.severity for extra in case.find_extra_actions({"e1"}, 0.8)}
    assert found == {"e2": Severity.MINOR, "e3": Severity.MAJOR, "e4": Severity.MINOR}
    assert case.find_extra_actions({"e1", "e2", "e3", "e4", "e5"}, 0.8) == ()
