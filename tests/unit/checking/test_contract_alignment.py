from planproof.checking.contract_alignment import AlignedStep, Part, Position, align_contract
from planproof.checking.contract_match import MatchResult
from planproof.core.contract import Match, Requirement


def _make_match(match: Match) -> MatchResult:
    return MatchResult(match, (), Requirement(), "e1")


def test_a_text_is_taken_together_with_the_call_that_begins_its_step() -> None:
    full, near = _make_match(Match.FULL), _make_match(Match.NEAR)
    twice = AlignedStep((Part({0: near, 1: full, 2: full}),), key="same")
    report = AlignedStep((Part({0: full, 1: full, 3: full}, 1, 2),))
    positions = [Position(index, 0) for index in range(4)]
    accountable = is_text = [True, False, False, False]
    found = align_contract([twice, twice, report], positions, accountable, is_text, max_nodes=1_000)
    assert found.taken == (((1,),), ((2,),), ((0, 3),))
    assert found.objective.moves == found.objective.left_over == 0
