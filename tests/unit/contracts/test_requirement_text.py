"""Requirements are described in words."""

from __future__ import annotations

import pytest

from planproof.contracts.requirement_text import describe_requirement, describe_step
from planproof.core.contract import (
    Condition,
    MessageCondition,
    Requirement,
    StepContract,
    Times,
    When,
)


@pytest.mark.parametrize(
    ("requirement", "text"),
    [
        (Requirement(call=("a", "b")), "call of a or b"),
        (
            Requirement(
                call=("bash",),
                is_={"command": Condition(program=("grep", "rg"))},
                where={
                    "*": Condition(any_of=("x",), all_of=(Condition(path="y.py"),)),
                    "n": Condition(min=3.0),
                },
                absent=("cc",),
            ),
            "call of bash that is command program grep or rg with x and y.py; n >= 3 without cc",
        ),
        (Requirement(call=("a",), times=Times(min=2, max=2)), "call of a, 2 times"),
        (Requirement(call=("a",), times=Times(min=1, max=3)), "call of a, 1 to 3 times"),
        (
            Requirement(call=("a",), each=("x", "y"), with_=("view",), by="Ann"),
            "call of a, for each of x, y, helped by view, by Ann",
        ),
        (
            Requirement(call=("a",), each_from="2"),
            "call of a, for each item that step 2 returned",
        ),
        (
            Requirement(
                message=MessageCondition(
                    to="Ann",
                    says=(("refund", "money"),),
                    values=(Condition(number=3.0),),
                    asks=True,
                )
            ),
            "message to Ann that asks that says refund or money and 3",
        ),
        (Requirement(reasoning=MessageCondition()), "reasoning of any kind"),
        (Requirement(is_={"*": Condition(any_of=("x",))}), "call that is x"),
    ],
)
def test_a_requirement(requirement: Requirement, text: str) -> None:
    assert describe_requirement(requirement) == text


def test_a_step() -> None:
    step = StepContract(
        number="1",
        text="x",
        when=When(step="1", result={"a": Condition(max=0.0)}, for_="if sold out"),
        else_of="2",
        optional="if you like",
        all_of=(Requirement(any_of=(Requirement(call=("a",)), Requirement(call=("b",)))),),
    )
    assert list(describe_step(step)) == [
        "only under the condition: if sold out",
        "only if the condition of step 2 is false",
        "optional: if you like",
        "call of a",
        "or call of b",
    ]
    unknown = StepContract(number="1", text="x", uncheckable="tone", when=When(for_="if y"))
    assert list(describe_step(unknown)) == [
        "only under the condition: if y (a program can't decide it)",
        "can't be checked: tone",
    ]
