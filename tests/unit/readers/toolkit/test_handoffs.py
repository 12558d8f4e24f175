from __future__ import annotations

import pytest

from planproof.core.content import Json
from planproof.core.trace import Kind
from planproof.readers.toolkit.handoffs import Handoffs, receiver_of
from planproof.readers.toolkit.trace_builder import Draft


def call(actor: str, name: str, arguments: Json = None) -> Draft:
    return Draft(Kind.ACTION, "", name, actor, arguments=arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "receiver"),
    [
        ("transfer_to_flight_agent", {}, "flight_agent"),
        ("transfer_to_agent", {"agent_name": "weather"}, "weather"),
        ("transfer_to_agent", {}, None),
        ("transfer_back_to_supervisor", None, "supervisor"),
        ("delegate_to_coder", None, "coder"),
        ("transfer_money", {"to": "Ana"}, None),
        ("book", None, None),
    ],
)
def test_who_is_handed_over_to(name: str, arguments: Json, receiver: str | None) -> None:
    assert receiver_of(call("a", name, arguments)) == receiver


def test_agents_have_the_call_that_started_them() -> None:
    handoffs = Handoffs()
    assert handoffs.parent_of("Root") is None
    first = call("Root", "transfer_to_flight_desk")
    assert handoffs.note(first)
    assert handoffs.parent_of("Flight desk") is first
    deeper = call("Flight desk", "transfer_to_seats")
    handoffs.note(deeper)
    assert handoffs.parent_of("seats") is deeper
    handoffs.note(call("seats", "transfer_back_to_flight_desk"))
    handoffs.note(call("seats", "transfer_back_to_root"))
    assert (handoffs.parent_of("flight_desk"), handoffs.parent_of("root")) == (first, None)
    again = call("Root", "transfer_to_flight_desk")
    handoffs.note(again)
    assert handoffs.parent_of("Flight desk") is again
    assert not handoffs.note(call("Root", "book"))
